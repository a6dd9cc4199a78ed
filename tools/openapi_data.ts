/**
 * Writes `src/openapi/kubernetes.gen.ts` from a live Kubernetes: which built-in kinds it serves, and their schemas without descriptions; those,
 * packed, go into `src/openapi/descriptions.gen.ts`.
 *
 * ```sh
 * kubectl proxy --port 8001 &
 * deno run --allow-net=127.0.0.1:8001 --allow-write=src/openapi tools/openapi_data.ts http://127.0.0.1:8001
 * ```
 *
 * The cluster must have no CustomResourceDefinition: what is served by one is no built-in kind.
 */

import { Buffer } from "node:buffer";
import { brotliCompressSync, constants } from "node:zlib";

/** A kind of `apidiscovery.k8s.io/v2`, as far as it is read here. */
interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind?: GroupVersionKind;
  readonly scope: "Namespaced" | "Cluster";
  readonly singularResource: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources?: readonly {
    readonly subresource: string;
    readonly responseKind?: GroupVersionKind;
    readonly verbs: readonly string[];
  }[];
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2`. */
export interface GroupDiscoveryList {
  readonly items: readonly {
    readonly metadata: { readonly name?: string | null };
    readonly versions: readonly { readonly version: string; readonly resources: readonly DiscoveredResource[] }[];
  }[];
}

/** One document of `/openapi/v3`. */
export interface OpenApiDocument {
  readonly paths?: { readonly [path: string]: { readonly delete?: Operation } };
  readonly components?: { readonly schemas?: { readonly [name: string]: unknown } };
}

/** An operation of a path, as far as it is read here. */
interface Operation {
  readonly "x-kubernetes-action"?: string;
  readonly responses?: {
    readonly [code: string]: {
      readonly content?: { readonly [type: string]: { readonly schema?: { readonly $ref?: string } } };
    };
  };
}

/** A column of a `meta.k8s.io/v1` Table. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

const REFERENCE = "#/components/schemas/";
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/**
 * The text of the generated module.
 *
 * @param version What the server says it is, such as `v1.36.3`.
 * @param discovery The lists of `/api` and `/apis`, in this order.
 * @param documents The OpenAPI v3 documents of all served groups.
 * @param tables The columns of each kind's table, by `group/plural`.
 * @returns A TypeScript module.
 */
export function openapiModule(
  version: string,
  discovery: readonly GroupDiscoveryList[],
  documents: readonly OpenApiDocument[],
  tables: ReadonlyMap<string, readonly TableColumn[]>,
): string {
  const schemas = new Map<string, unknown>();
  const schemaOf = new Map<string, string>();
  for (const document of documents) {
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      for (const gvk of groupVersionKinds(schema)) schemaOf.set(`${gvk.group}/${gvk.version}/${gvk.kind}`, name);
      schemas.set(name, compact(schema));
    }
  }
  const deleted = deletedDefinitions(documents);
  const resources = discovery.flatMap((list) =>
    list.items.flatMap(({ metadata, versions }) =>
      versions.flatMap(({ version, resources }) =>
        resources.map((resource) => served(metadata.name ?? "", version, resource, { schemaOf, deleted }))
      )
    )
  );
  const texts = [...new Set([...tables.values()].flatMap((columns) => columns.map(({ description }) => description)))];
  const definitions = [...schemas].sort(([a], [b]) => a < b ? -1 : 1);
  return [
    `// Kubernetes ${version}, as it describes itself. Made by tools/openapi_data.ts: do not edit.`,
    `/** The version of Kubernetes described here. */`,
    `export const version = ${JSON.stringify(version)};`,
    `/** A built-in kind as served: \`schema\` names a definition, each subresource has the kind that it returns, and a deletion returns the deleted object if \`returnsDeleted\` is set, else a Status. */`,
    `export interface BuiltinResource { readonly group: string; readonly version: string; readonly plural: string; readonly singular: string; readonly kind: string; readonly namespaced: boolean; readonly verbs: readonly string[]; readonly shortNames?: readonly string[]; readonly categories?: readonly string[]; readonly schema?: string; readonly returnsDeleted?: true; readonly subresources?: readonly { readonly name: string; readonly group: string; readonly version: string; readonly kind: string; readonly verbs: readonly string[] }[] }`,
    `/** In the order in which the server lists them. */`,
    `export const resources: readonly BuiltinResource[] = [`,
    ...resources.map((resource) => `  ${JSON.stringify(resource)},`),
    `];`,
    `/** Schemas by name, each as JSON text: few of them are looked at in one run. A "$ref" is the name of another. */`,
    `export const definitions: Readonly<Record<string, string>> = {`,
    ...definitions.map(([name, schema]) => `  ${JSON.stringify(name)}: ${quoted(JSON.stringify(schema))},`),
    `};`,
    `/** Columns of tables by \`group/plural\`: name, type, format, priority, and which of the texts describes it. */`,
    `export const columns: Readonly<Record<string, readonly (readonly [string, string, string, number, number])[]>> = {`,
    ...[...tables].map(([name, columns]) =>
      `  ${JSON.stringify(name)}: ${JSON.stringify(columns.map((each) => row(each, texts)))},`
    ),
    `};`,
    `/** Descriptions of columns. */`,
    `export const columnTexts: readonly string[] = [`,
    ...texts.map((text) => `  ${JSON.stringify(text)},`),
    `];`,
    ``,
  ].join("\n");
}

/**
 * The text of the generated module of descriptions. All are asked for rarely, and then at once: they are packed as one.
 *
 * @param version What the server says it is, such as `v1.36.3`.
 * @param documents The OpenAPI v3 documents of all served groups.
 * @returns A TypeScript module.
 */
export function descriptionsModule(version: string, documents: readonly OpenApiDocument[]): string {
  const described = new Map<string, unknown>();
  for (const document of documents) {
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      const { properties = {} } = schema as { properties?: Readonly<Record<string, unknown>> };
      const texts = [["", schema] as const, ...Object.entries(properties)].flatMap(([key, part]) => {
        const { description } = part as { description?: string };
        return description === undefined ? [] : [[key, description] as const];
      });
      // Some are of a kind of each group beside: those the server adds.
      const kinds = groupVersionKinds(schema).slice(0, 1);
      described.set(name, { ...kinds.length > 0 && { kinds }, texts: Object.fromEntries(texts) });
    }
  }
  const sorted = Object.fromEntries([...described].sort(([a], [b]) => a < b ? -1 : 1));
  const packed = brotliCompressSync(Buffer.from(JSON.stringify(sorted)), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
  });
  return [
    `// What Kubernetes ${version} says of its kinds and their fields. Made by tools/openapi_data.ts: do not edit.`,
    `/** By definition: of which kinds it is, and descriptions by field, its own by "". JSON, by Brotli, in base64. */`,
    `export const packedDescriptions = ${JSON.stringify(packed.toString("base64"))};`,
    ``,
  ].join("\n");
}

function row({ name, type, format, priority, description }: TableColumn, texts: readonly string[]): unknown {
  return [name, type, format, priority, texts.indexOf(description)];
}

function served(
  group: string,
  version: string,
  { resource, responseKind, scope, singularResource, shortNames, categories, verbs, subresources }: DiscoveredResource,
  { schemaOf, deleted }: { readonly schemaOf: ReadonlyMap<string, string>; readonly deleted: ReadonlySet<string> },
): unknown {
  // Group and version are empty where they are those of the list.
  const own = (kind?: GroupVersionKind) => ({
    group: kind?.group || group,
    version: kind?.version || version,
    kind: kind?.kind ?? "",
  });
  const { kind } = own(responseKind);
  const schema = schemaOf.get(`${group}/${version}/${kind}`);
  return {
    group,
    version,
    plural: resource,
    singular: singularResource,
    kind,
    namespaced: scope === "Namespaced",
    verbs,
    shortNames,
    categories,
    schema,
    ...(deleted.has(schema ?? "") && { returnsDeleted: true }),
    subresources: subresources?.map((part) => ({
      name: part.subresource,
      // A subresource of the resource's own kind says no group: scale and the like say theirs.
      ...own(part.responseKind),
      verbs: part.verbs,
    })),
  };
}

/** Returns the definitions that the deletion of an object returns. The deletion of most kinds returns a Status. */
function deletedDefinitions(documents: readonly OpenApiDocument[]): ReadonlySet<string> {
  const operations = documents.flatMap(({ paths = {} }) => Object.values(paths).flatMap((path) => path.delete ?? []));
  const names = operations.filter((each) => each["x-kubernetes-action"] === "delete")
    .map(({ responses }) => responses?.["200"]?.content?.["application/json"]?.schema?.$ref?.slice(REFERENCE.length));
  return new Set(names.filter((name) => name !== undefined));
}

function groupVersionKinds(schema: unknown): readonly GroupVersionKind[] {
  return (schema as { "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[] })[
    "x-kubernetes-group-version-kind"
  ] ?? [];
}

/** Drops descriptions and folds a reference wrapped in `allOf`, as OpenAPI wants it beside a default, into one object. */
function compact(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(compact);
  if (typeof schema !== "object" || schema === null) return schema;
  const result: [string, unknown][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (key === "description" && typeof value === "string") continue;
    if (key === "x-kubernetes-group-version-kind") continue;
    if (key === "properties") {
      result.push([key, Object.fromEntries(Object.entries(value as object).map(([k, v]) => [k, compact(v)]))]);
    } else if (key === "$ref") result.push([key, String(value).slice(REFERENCE.length)]);
    else if (key === "allOf" && Array.isArray(value) && value.length === 1 && "$ref" in value[0]) {
      result.push(["$ref", String(value[0].$ref).slice(REFERENCE.length)]);
    } else result.push([key, compact(value)]);
  }
  return Object.fromEntries(result);
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

async function get(server: string, path: string, accept = "application/json"): Promise<unknown> {
  const response = await fetch(new URL(path, server), { headers: { accept } });
  if (!response.ok) throw new Error(`Cannot read "${path}" from "${server}": it answered ${response.status}`);
  return await response.json();
}

async function main(server: string): Promise<void> {
  const { gitVersion } = await get(server, "/version") as { gitVersion: string };
  const lists = [await get(server, "/api", AGGREGATED), await get(server, "/apis", AGGREGATED)] as GroupDiscoveryList[];
  const index = await get(server, "/openapi/v3") as { paths: Record<string, { serverRelativeURL: string }> };
  const documents: OpenApiDocument[] = [];
  for (const { serverRelativeURL } of Object.values(index.paths)) {
    documents.push(await get(server, serverRelativeURL) as OpenApiDocument);
  }
  const tables = new Map<string, readonly TableColumn[]>();
  for (const { metadata, versions } of lists.flatMap(({ items }) => items)) {
    for (const { version, resources } of versions) {
      for (const { resource, verbs } of resources) {
        if (!verbs.includes("list")) continue;
        const group = metadata.name ?? "";
        const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
        const table = await get(server, `${path}/${resource}?limit=1`, TABLE) as { columnDefinitions: TableColumn[] };
        tables.set(`${group}/${resource}`, table.columnDefinitions);
      }
    }
  }
  const write = (name: string, text: string) =>
    Deno.writeTextFile(new URL(`../src/openapi/${name}.gen.ts`, import.meta.url), text);
  await write("kubernetes", openapiModule(gitVersion, lists, documents, tables));
  await write("descriptions", descriptionsModule(gitVersion, documents));
}

if (import.meta.main) {
  const [server] = Deno.args;
  if (server === undefined) {
    console.error("Cannot read an API server: say its URL, such as http://127.0.0.1:8001 of kubectl proxy");
    Deno.exit(2);
  }
  await main(server);
}
