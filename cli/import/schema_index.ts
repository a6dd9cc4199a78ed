/** Finds equal parts of schemas, so that each is written once. */
import type { JsonSchema } from "@op/sdk/resource";
import { SchemaIdentities } from "./schema_identities.ts";

/**
 * Names from the kind down to a schema, such as `["Website", "spec", "hosts", "*"]`. A `*` means
 * the items of a list or the values of a map.
 */
export type SchemaPath = readonly string[];

/** A schema and its location. */
export interface SchemaUse {
  readonly schema: JsonSchema;
  readonly path: SchemaPath;
}

/** Schemas that are equal except for keywords that each use may set, such as `description`. */
export interface SchemaGroup {
  readonly id: string;
  /**
   * The uses, in the order in which they were visited. A use inside a repeated schema is listed
   * once.
   */
  readonly uses: SchemaUse[];
  /**
   * How often the schema would be written if objects were written once and only lists and maps were
   * written at each of their uses.
   */
  readonly count: number;
  /** The position in the order in which schemas were visited. */
  readonly order: number;
}

interface Group extends SchemaGroup {
  count: number;
  /** For each use, the group of the list or map that directly contains it, if there is one. */
  readonly containers: (Group | undefined)[];
}

/** An index of the schemas in some kinds, which groups equal ones. */
export class SchemaIndex {
  readonly #identities: SchemaIdentities;
  readonly #groups = new Map<string, Group>();

  /**
   * @param roots The schemas of the kinds, with their paths.
   * @param identities Decides which schemas are equal.
   */
  constructor(roots: readonly SchemaUse[], identities: SchemaIdentities = new SchemaIdentities()) {
    this.#identities = identities;
    for (const { schema, path } of roots) this.#visit(schema, path, undefined);
    for (const group of this.#groups.values()) group.count = countUses(group);
  }

  /** Returns the group of a schema, or `undefined` if it is not part of a kind. */
  groupOf(schema: JsonSchema): SchemaGroup | undefined {
    return this.#groups.get(this.coreOf(schema));
  }

  /** Returns an ID that equal schemas share. */
  wholeOf(schema: JsonSchema): string {
    return this.#identities.of(schema).whole;
  }

  /** Returns an ID that the schemas of a group share. */
  coreOf(schema: JsonSchema): string {
    return this.#identities.of(schema).core;
  }

  #visit(schema: JsonSchema, path: SchemaPath, container: Group | undefined): void {
    const id = this.coreOf(schema);
    const existing = this.#groups.get(id);
    const group: Group = existing ?? { id, uses: [], containers: [], count: 0, order: this.#groups.size };
    group.uses.push({ schema, path });
    group.containers.push(container);
    if (existing !== undefined) return;
    this.#groups.set(id, group);
    for (const [name, child] of children(schema)) {
      this.#visit(child, [...path, name], schema.properties === undefined ? group : undefined);
    }
  }
}

/**
 * Returns the schemas directly in a schema, except those in `allOf` and the like.
 *
 * @param schema The schema.
 * @returns Each with the name of its property, or `*` for items of a list and values of a map.
 */
export function children(schema: JsonSchema): (readonly [name: string, child: JsonSchema])[] {
  const { properties = {}, items, additionalProperties } = schema;
  return [
    ...Object.entries(properties),
    ...(items === undefined ? [] : [["*", items] as const]),
    ...(typeof additionalProperties === "object" ? [["*", additionalProperties] as const] : []),
  ];
}

/**
 * Returns a copy of a schema in which the schemas directly in it are replaced, except those in
 * `allOf` and the like.
 *
 * @param schema The schema, which is not changed.
 * @param change Returns the replacement of a schema.
 */
export function mapped(schema: JsonSchema, change: (child: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, change(child)] as const)),
    }),
    ...(items && { items: change(items) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: change(additionalProperties) }),
  };
}

function countUses(group: Group): number {
  return group.containers.reduce((sum, container) => sum + (container === undefined ? 1 : countUses(container)), 0);
}
