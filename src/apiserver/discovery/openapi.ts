/**
 * OpenAPI v3: an index, and a document for each group and version (KEP-2896), generated from the
 * served kinds. The documents contain the parts that kubectl uses: schemas for `explain`, and
 * whether a path supports `fieldValidation` and server-side apply.
 */
import { Buffer } from "node:buffer";
import { brotliDecompressSync } from "node:zlib";
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { definitions, version } from "../../openapi/kubernetes.gen.ts";
import type { JsonSchema } from "../../schema/json_schema.ts";
import type { Core } from "../core/core.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { OBJECT_META } from "../objects/server_schema.ts";
import { digest } from "./hashes.ts";

const REFERENCE = "#/components/schemas/";

/** Returns the index `/openapi/v3`. */
export async function openApiIndex(core: Core): Promise<unknown> {
  const entries = openApiPaths(core).map(async (path) => {
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${await documentHash(core, path)}` }] as const;
  });
  return { paths: Object.fromEntries(await Promise.all(entries)) };
}

/** Returns the paths of the documents, relative to `/openapi/v3/`. */
export function openApiPaths(core: Core): string[] {
  return [...new Set(core.kinds.all.map(({ group, version }) => pathOf(group, version)))].sort();
}

/**
 * Returns the hash of a document. It covers the content, because clients cache documents by hash
 * even if another server runs at the same address.
 */
async function documentHash(core: Core, path: string): Promise<string> {
  const kinds = core.kinds.all.filter((kind) => pathOf(kind.group, kind.version) === path);
  const contents = kinds.map(({ plural, kind, isBuiltin, subresources, schema, selectableFields }) =>
    isBuiltin ? plural : [plural, kind, subresources, schema, [...selectableFields?.keys() ?? []]]
  );
  const hash = await digest("SHA-512", JSON.stringify([version, contents]));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("").toUpperCase();
}

function pathOf(group: string, version: string): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

/**
 * Returns the document `/openapi/v3/apis/GROUP/VERSION`.
 *
 * @param core The server.
 * @param path The path relative to `/openapi/v3/`.
 * @returns The document; `undefined` if no kind is served there.
 */
export async function openApiDocument(core: Core, path: string): Promise<unknown> {
  const kinds = core.kinds.all.filter((kind) => pathOf(kind.group, kind.version) === path);
  if (kinds.length === 0) return undefined;
  const { group = "", version: served = "" } = kinds[0] ?? {};
  const found: DocumentDraft = { schemas: new Map(), descriptions: await loadDescriptions(), group, version: served };
  const { schemas } = found;
  for (const kind of kinds) {
    for (const name of kind.isBuiltin ? definitionsOf(kind) : []) addDefinition(found, name);
    if (!kind.isBuiltin) addCustomKind(found, kind);
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version },
    paths: Object.fromEntries(kinds.flatMap(pathsOf)),
    components: { schemas: Object.fromEntries([...schemas].sort(([a], [b]) => a < b ? -1 : 1)) },
  };
}

/** Returns the name of a custom kind's schema, which starts with the reversed group. */
function schemaName({ group, version, kind }: ServedKind): string {
  return `${group.split(".").reverse().join(".")}.${version}.${kind}`;
}

function groupVersionKind({ group, version, kind }: Pick<ServedKind, "group" | "version" | "kind">): unknown {
  return { group, version, kind };
}

/** A document under construction. */
interface DocumentDraft {
  readonly schemas: Map<string, unknown>;
  readonly descriptions: Descriptions;
  readonly group: string;
  readonly version: string;
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/** Returns the definitions that the paths of a built-in kind accept and return. */
function definitionsOf({ schema: { definition = "" }, verbs, subresources }: ServedKind): string[] {
  const can = (verb: string) => verbs.includes(verb);
  return [
    definition,
    `${META}APIResourceList`,
    ...can("list") ? [`${definition}List`] : [],
    ...can("watch") ? [`${META}WatchEvent`] : [],
    ...can("patch") ? [`${META}Patch`] : [],
    ...can("delete") ? [`${META}DeleteOptions`, `${META}Status`] : [],
    ...subresources.map(({ group, version, kind }) => `io.k8s.api.${group.split(".")[0] || "core"}.${version}.${kind}`),
  ];
}

/** Adds a definition and all definitions that it refers to. */
function addDefinition(document: DocumentDraft, name: string): void {
  const { schemas, descriptions } = document;
  const text = definitions[name];
  if (text === undefined || schemas.has(name)) return;
  const { kinds, texts = {} } = descriptions[name] ?? {};
  const found: string[] = [];
  const schema = withReferences(withDescriptions(JSON.parse(text), texts), found) as Record<string, unknown>;
  const all = kinds && [...kinds, ...additionalKinds(document, name)];
  schemas.set(name, all === undefined ? schema : { ...schema, "x-kubernetes-group-version-kind": all });
  for (const each of found) addDefinition(document, each);
}

/** Returns the additional kind of a definition that exists in each group, such as DeleteOptions. */
function additionalKinds({ group, version }: DocumentDraft, name: string): unknown[] {
  const kind = ["DeleteOptions", "WatchEvent"].find((each) => name === `${META}${each}`);
  return kind === undefined || group === "" ? [] : [groupVersionKind({ group, version, kind })];
}

/** Adds descriptions to a definition and its fields. */
function withDescriptions(schema: JsonSchema, texts: Readonly<Record<string, string>>): JsonSchema {
  const text = (key: string) => own(texts, key) === undefined ? {} : { description: texts[key] };
  const properties = Object.entries(schema.properties ?? {}).map(([key, part]) => [key, { ...text(key), ...part }]);
  return {
    ...text(""),
    ...schema,
    ...schema.properties !== undefined && { properties: Object.fromEntries(properties) },
  } as JsonSchema;
}

/** Converts the references of a definition to the form of OpenAPI. */
function withReferences(value: unknown, found: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, found));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "$ref").map(([key, part]) => {
    if (key !== "properties" || !isObject(part)) return [key, key === "default" ? part : withReferences(part, found)];
    return [key, Object.fromEntries(Object.entries(part).map(([name, each]) => [name, withReferences(each, found)]))];
  });
  if (typeof value.$ref !== "string") return Object.fromEntries(entries);
  found.push(value.$ref);
  const reference = { $ref: `${REFERENCE}${value.$ref}` };
  return entries.length === 0 ? reference : { ...Object.fromEntries(entries), allOf: [reference] };
}

const CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

const API_VERSION = "APIVersion defines the versioned schema of this representation of an object. Servers should " +
  "convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: " +
  `${CONVENTIONS}#resources`;

const KIND = "Kind is a string value representing the REST resource this object represents. Servers may infer this " +
  "from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: " +
  `${CONVENTIONS}#types-kinds`;

const METADATA = `Standard object's metadata. More info: ${CONVENTIONS}#metadata`;

/**
 * Adds the schema of a custom kind and of its list, and the definitions that its paths accept and
 * return.
 */
function addCustomKind(document: DocumentDraft, kind: ServedKind): void {
  const { subresources, schema, plural, listKind, selectableFields } = kind;
  const parts = ["DeleteOptions", "ListMeta", "ObjectMeta", "Patch", "Status"].map((each) => `${META}${each}`);
  for (const name of parts) addDefinition(document, name);
  if (subresources.some(({ name }) => name === "scale")) addDefinition(document, "io.k8s.api.autoscaling.v1.Scale");
  const type = {
    apiVersion: { type: "string", description: API_VERSION },
    kind: { type: "string", description: KIND },
  };
  const paths = [...selectableFields?.keys() ?? []].map((path) => ({ fieldPath: path }));
  const selectable = paths.length > 0 && { "x-kubernetes-selectable-fields": paths };
  const { properties, ...rest } = withAlternatives(schema) as JsonSchema;
  document.schemas.set(schemaName(kind), {
    ...rest,
    properties: { ...properties, ...type, metadata: reference(OBJECT_META, METADATA) },
    "x-kubernetes-group-version-kind": [groupVersionKind(kind)],
    ...selectable,
  });
  const items = { type: "array", items: { $ref: `${REFERENCE}${schemaName(kind)}` } };
  document.schemas.set(schemaName({ ...kind, kind: listKind }), {
    type: "object",
    description: `${listKind} is a list of ${kind.kind}`,
    required: ["items"],
    properties: {
      ...type,
      items: { ...items, description: `List of ${plural}. More info: ${CONVENTIONS}` },
      metadata: reference(`${META}ListMeta`, `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`),
    },
    "x-kubernetes-group-version-kind": [groupVersionKind({ ...kind, kind: listKind })],
    ...selectable,
  });
}

function reference(definition: string, description: string): unknown {
  return { allOf: [{ $ref: `${REFERENCE}${definition}` }], description };
}

/** Adds `anyOf` to int-or-string schemas that omit it. */
function withAlternatives(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withAlternatives);
  if (!isObject(schema)) return schema;
  const isEither = schema["x-kubernetes-int-or-string"] === true && schema.anyOf === undefined;
  const entries = Object.entries(schema).map(([key, part]) => {
    if (key === "default" || key === "enum") return [key, part];
    if (key !== "properties" || !isObject(part)) return [key, withAlternatives(part)];
    return [key, Object.fromEntries(Object.entries(part).map(([name, each]) => [name, withAlternatives(each)]))];
  });
  return { ...Object.fromEntries(entries), ...isEither && { anyOf: [{ type: "integer" }, { type: "string" }] } };
}

const ACTIONS: Readonly<Record<string, string>> = {
  get: "get",
  list: "list",
  create: "post",
  update: "put",
  patch: "patch",
  delete: "delete",
  deletecollection: "deletecollection",
};

const METHODS: Readonly<Record<string, string>> = {
  get: "get",
  list: "get",
  create: "post",
  update: "put",
  patch: "patch",
  delete: "delete",
  deletecollection: "delete",
};

const COLLECTION_VERBS = ["list", "create", "deletecollection"];
const OBJECT_VERBS = ["get", "update", "patch", "delete"];

function pathsOf(kind: ServedKind): [string, unknown][] {
  const root = `/${pathOf(kind.group, kind.version)}`;
  const base = kind.namespaced ? `${root}/namespaces/{namespace}/${kind.plural}` : `${root}/${kind.plural}`;
  const paths: [string, unknown][] = [
    [base, operations(kind, COLLECTION_VERBS, kind.verbs, kind)],
    [`${base}/{name}`, operations(kind, OBJECT_VERBS, kind.verbs, kind)],
    ...kind.subresources.map((part): [string, unknown] => [
      `${base}/{name}/${part.name}`,
      operations(kind, ["get", "create", "update", "patch"], part.verbs, part),
    ]),
  ];
  if (kind.namespaced) paths.push([`${root}/${kind.plural}`, operations(kind, ["list"], kind.verbs, kind)]);
  return paths.filter(([, item]) => Object.keys(item as object).length > 0);
}

function operations(
  kind: ServedKind,
  verbs: readonly string[],
  served: readonly string[],
  response: Pick<ServedKind, "group" | "version" | "kind">,
): Record<string, unknown> {
  const schema = kind.isBuiltin ? kind.schema.definition : schemaName(kind);
  return Object.fromEntries(
    verbs.filter((verb) => served.includes(verb)).map((verb) => [METHODS[verb], {
      operationId: `${verb}${kind.group}${kind.version}${kind.kind}`,
      "x-kubernetes-action": ACTIONS[verb],
      "x-kubernetes-group-version-kind": groupVersionKind(response),
      ...(["create", "update", "patch"].includes(verb) && { parameters: WRITE_PARAMETERS }),
      ...(verb === "patch" &&
        { requestBody: { content: Object.fromEntries(patchTypes(kind).map((type) => [type, {}])) } }),
      responses: {
        200: { description: "OK", content: { "application/json": { schema: { $ref: `${REFERENCE}${schema}` } } } },
      },
    }]),
  );
}

/** Parameters by which kubectl recognizes that the server validates fields. */
const WRITE_PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
  name,
  in: "query",
  schema: { type: "string", uniqueItems: true },
}));

function patchTypes({ isBuiltin }: ServedKind): string[] {
  const types = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
  return isBuiltin ? [...types, "application/strategic-merge-patch+json"] : types;
}

/** The descriptions of a definition. */
interface Description {
  /** The kinds that the definition describes. */
  readonly kinds?: readonly unknown[];
  /** Descriptions by field. The key "" is the description of the definition itself. */
  readonly texts: Readonly<Record<string, string>>;
}

/** Descriptions by definition. */
type Descriptions = Readonly<Record<string, Description>>;

/** The loaded descriptions. They cannot become stale, since the generated data is constant. */
let loaded: Promise<Descriptions> | undefined;

/** Returns the descriptions of all built-in kinds. They are decompressed once. */
function loadDescriptions(): Promise<Descriptions> {
  return loaded ??= load();
}

async function load(): Promise<Descriptions> {
  const { packedDescriptions } = await import("../../openapi/descriptions.gen.ts");
  return JSON.parse(brotliDecompressSync(Buffer.from(packedDescriptions, "base64")).toString());
}
