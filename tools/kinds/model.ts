/** Collects kinds and the types of their properties from discovery and OpenAPI documents. */
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

/** A kind that the API server serves. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** Whether objects can only be created and are never stored, as those of TokenReview. */
  readonly isCreateOnly: boolean;
}

/** A type to generate. */
export interface Type {
  /** Its full name, such as `io.k8s.api.apps.v1.DeploymentSpec`. */
  readonly id: string;
  readonly schema: OpenApiSchema;
  readonly served: ServedKind | undefined;
}

/** The types to generate. */
export interface Model {
  readonly types: ReadonlyMap<string, Type>;
  /**
   * Ids of types that need a separate input type, because the server sets properties that a user
   * may omit.
   */
  readonly withInputType: ReadonlySet<string>;
}

/** A quantity. Users write a number or a string; the server always returns a string. */
export const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";

/** Returns the name of the schema that a schema refers to, or `undefined` if it is no reference. */
export function referenced(schema: OpenApiSchema): string | undefined {
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]!.$ref : undefined);
  return reference?.slice("#/components/schemas/".length);
}

/**
 * Returns the ids of the types that a schema refers to, in its properties, items and map values.
 */
export function partsOf(schema: OpenApiSchema): string[] {
  const nested = [schema.items, schema.additionalProperties, ...Object.values(schema.properties ?? {})];
  const own = referenced(schema);
  return [...(own ? [own] : []), ...nested.flatMap((part) => part ? partsOf(part) : [])];
}

/**
 * Collects the kinds that the server serves, and the types that they refer to.
 *
 * @param discoveries The discovery documents of `/api` and `/apis`.
 * @param documents The documents of `/openapi/v3`.
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
  return { types, withInputType: typesWithInput(types) };
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
          isCreateOnly: verbs.every((verb) => verb === "create"),
        });
      }
    }
  }
  return served;
}

/** Returns whether the server always sets a property that is omitted. */
export function isFilled(id: string, name: string, schema: OpenApiSchema): boolean {
  if (FILLED[id]?.includes(name)) return true;
  // The documents list Go's zero value as the default of every field that is no pointer, but
  // responses may omit such fields.
  return !["", 0, false, undefined].includes(schema.default as string) && !isEmptyObject(schema.default);
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/**
 * Returns whether a user must write a property. These are the required properties, and structs with
 * a default of `{}` that have a required property themselves: Go always sends such a struct, so the
 * server would reject it without that property.
 */
export function mustBeWritten(types: ReadonlyMap<string, Type>, id: string, name: string): boolean {
  const { required = [], properties = {} } = types.get(id)!.schema;
  if (required.includes(name)) return true;
  const property = properties[name]!;
  const struct = referenced(property);
  if (struct === undefined || !isEmptyObject(property.default) || !types.has(struct)) return false;
  const inner = Object.keys(types.get(struct)!.schema.properties ?? {});
  return struct !== id && inner.some((key) => mustBeWritten(types, struct, key));
}

function typesWithInput(types: ReadonlyMap<string, Type>): Set<string> {
  const withInputType = new Set<string>([QUANTITY]);
  for (const { id, schema: { properties = {}, required = [] }, served } of types.values()) {
    const filled = Object.entries(properties).some(([name, property]) =>
      !required.includes(name) && isFilled(id, name, property)
    );
    if (filled || served) withInputType.add(id);
  }
  for (let before = -1; before !== withInputType.size;) {
    before = withInputType.size;
    for (const { id, schema } of types.values()) {
      // A kind inside another type always has its input type, because the server adds nothing to
      // it.
      if (partsOf(schema).some((part) => withInputType.has(part) && !types.get(part)?.served)) withInputType.add(id);
    }
  }
  return withInputType;
}
