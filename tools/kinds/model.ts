/** Kinds and the types they are made of, out of discovery and OpenAPI documents. */
import { FILLED } from "./filled.ts";

/** A schema in an OpenAPI v3 document of an API server. */
export interface OpenApiSchema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly items?: OpenApiSchema;
  readonly properties?: { readonly [name: string]: OpenApiSchema };
  readonly additionalProperties?: OpenApiSchema;
  readonly required?: readonly string[];
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-group-version-kind"?: readonly { group: string; version: string; kind: string }[];
}

/** A document of /openapi/v3. */
export interface OpenApiDocument {
  readonly components?: { readonly schemas?: { readonly [name: string]: OpenApiSchema } };
}

/** An APIGroupDiscoveryList. */
export interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind: string };
        readonly scope: string;
        readonly singularResource: string;
        readonly shortNames?: readonly string[];
        readonly verbs: readonly string[];
      }[];
    }[];
  }[];
}

/** A kind that is served. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** Whether it is only ever asked, never stored: a review. */
  readonly asked: boolean;
}

/** A type of one file. */
export interface Type {
  /** Its full name, such as `io.k8s.api.apps.v1.DeploymentSpec`. */
  readonly id: string;
  readonly schema: OpenApiSchema;
  readonly served: ServedKind | undefined;
}

/** All that is to be written. */
export interface Model {
  readonly types: ReadonlyMap<string, Type>;
  /** Types that are not the same as written and as read: something in them is filled by the server. */
  readonly twofold: ReadonlySet<string>;
}

/** An amount: written as a number or a string, always answered as a string. */
export const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";

/** The name a reference points to. */
export function referenced(schema: OpenApiSchema): string | undefined {
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]!.$ref : undefined);
  return reference?.slice("#/components/schemas/".length);
}

/** Names of types that a schema is made of: its properties', items', values'. */
export function partsOf(schema: OpenApiSchema): string[] {
  const below = [schema.items, schema.additionalProperties, ...Object.values(schema.properties ?? {})];
  const own = referenced(schema);
  return [...(own ? [own] : []), ...below.flatMap((part) => part ? partsOf(part) : [])];
}

/**
 * Kinds that are served, and the types that they are made of.
 *
 * @param discoveries /api and /apis.
 * @param documents The documents of /openapi/v3.
 */
export function collectKinds(discoveries: readonly Discovery[], documents: readonly OpenApiDocument[]): Model {
  const schemas = new Map(documents.flatMap((document) => Object.entries(document.components?.schemas ?? {})));
  const served = servedKinds(discoveries);
  const types = new Map<string, Type>();
  const waiting: string[] = [];
  for (const [id, schema] of schemas) {
    const kind = schema["x-kubernetes-group-version-kind"]
      ?.map(({ group, version, kind }) => served.get(`${group}/${version}/${kind}`))
      .find((found) => found !== undefined);
    if (kind === undefined || !schema.properties?.metadata) continue;
    types.set(id, { id, schema, served: kind });
    waiting.push(...partsOf(schema));
  }
  for (const id of waiting) {
    const schema = schemas.get(id);
    if (types.has(id) || schema === undefined) continue;
    types.set(id, { id, schema, served: undefined });
    waiting.push(...partsOf(schema));
  }
  return { types, twofold: twofoldTypes(types) };
}

function servedKinds(discoveries: readonly Discovery[]): Map<string, ServedKind> {
  const served = new Map<string, ServedKind>();
  for (const { metadata: { name: group = "" }, versions } of discoveries.flatMap(({ items }) => items)) {
    for (const { version, resources = [] } of versions) {
      for (const { resource, responseKind, scope, singularResource, shortNames = [], verbs } of resources) {
        if (responseKind === undefined) continue;
        served.set(`${group}/${version}/${responseKind.kind}`, {
          group,
          version,
          kind: responseKind.kind,
          plural: resource,
          singular: singularResource,
          shortNames,
          namespaced: scope === "Namespaced",
          asked: verbs.every((verb) => verb === "create"),
        });
      }
    }
  }
  return served;
}

/** Whether the server fills a property in whenever it is left out. */
export function isFilled(id: string, name: string, schema: OpenApiSchema): boolean {
  if (FILLED[id]?.includes(name)) return true;
  // Go's zero values stand in the documents as defaults of everything that is no pointer; they may well be left out when answered.
  return !["", 0, false, undefined].includes(schema.default as string) && !isEmptyObject(schema.default);
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/**
 * Whether a property has to be written. Beside those that are said to be required: a struct that Go always sends (its default is `{}`) and
 * that has a required property itself would be refused when left out.
 */
export function mustBeWritten(types: ReadonlyMap<string, Type>, id: string, name: string): boolean {
  const { required = [], properties = {} } = types.get(id)!.schema;
  if (required.includes(name)) return true;
  const property = properties[name]!;
  const below = referenced(property);
  if (below === undefined || !isEmptyObject(property.default) || !types.has(below)) return false;
  const inner = Object.keys(types.get(below)!.schema.properties ?? {});
  return below !== id && inner.some((key) => mustBeWritten(types, below, key));
}

function twofoldTypes(types: ReadonlyMap<string, Type>): Set<string> {
  const twofold = new Set<string>([QUANTITY]);
  for (const { id, schema: { properties = {}, required = [] }, served } of types.values()) {
    const filled = Object.entries(properties).some(([name, property]) =>
      !required.includes(name) && isFilled(id, name, property)
    );
    if (filled || served) twofold.add(id);
  }
  for (let before = -1; before !== twofold.size;) {
    before = twofold.size;
    for (const { id, schema } of types.values()) {
      // A kind inside another type is always taken as written: it lacks what a server adds.
      if (partsOf(schema).some((part) => twofold.has(part) && !types.get(part)?.served)) twofold.add(id);
    }
  }
  return twofold;
}
