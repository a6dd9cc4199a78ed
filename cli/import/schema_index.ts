/** Which parts of schemas are the same, so that each is written once. */
import type { JsonSchema } from "@op/sdk/resource";
import { SchemaIdentities } from "./schema_identities.ts";

/**
 * Names from the kind down to a schema: `["Website", "spec", "hosts", "*"]`; `*` stands for the
 * items of a list and the values of a map.
 */
export type SchemaPath = readonly string[];

/** A schema, wherever it stands. */
export interface SchemaUse {
  readonly schema: JsonSchema;
  readonly path: SchemaPath;
}

/** Schemas that are the same but for what a use says for itself. */
export interface SchemaGroup {
  readonly id: string;
  /**
   * Where they stand, in the order of the document; within schemas that are themselves the same,
   * once.
   */
  readonly uses: SchemaUse[];
  /**
   * How often it would be written if nothing but lists and maps around it were written more than
   * once.
   */
  readonly count: number;
  /** Its place in the order in which schemas were met. */
  readonly order: number;
}

interface Group extends SchemaGroup {
  count: number;
  /** Groups of lists and maps that this one is in, one an entry. */
  readonly around: (Group | undefined)[];
}

/** Knows of every schema in some kinds which others are the same. */
export class SchemaIndex {
  readonly #identities: SchemaIdentities;
  readonly #groups = new Map<string, Group>();

  /**
   * @param roots The schemas that kinds are made of, and where they stand.
   * @param identities What schemas are.
   */
  constructor(roots: readonly SchemaUse[], identities: SchemaIdentities = new SchemaIdentities()) {
    this.#identities = identities;
    for (const { schema, path } of roots) this.#visit(schema, path, undefined);
    for (const group of this.#groups.values()) group.count = counted(group);
  }

  /** The group of a schema; nothing if it is none of those that kinds are made of. */
  groupOf(schema: JsonSchema): SchemaGroup | undefined {
    return this.#groups.get(this.coreOf(schema));
  }

  /** What is the same of two schemas that are the same. */
  wholeOf(schema: JsonSchema): string {
    return this.#identities.of(schema).whole;
  }

  /** What is the same of two schemas that are the same but for what a use says for itself. */
  coreOf(schema: JsonSchema): string {
    return this.#identities.of(schema).core;
  }

  #visit(schema: JsonSchema, path: SchemaPath, around: Group | undefined): void {
    const id = this.coreOf(schema);
    const known = this.#groups.get(id);
    const group: Group = known ?? { id, uses: [], around: [], count: 0, order: this.#groups.size };
    group.uses.push({ schema, path });
    group.around.push(around);
    if (known !== undefined) return;
    this.#groups.set(id, group);
    for (const [name, child] of children(schema)) {
      this.#visit(child, [...path, name], schema.properties === undefined ? group : undefined);
    }
  }
}

/**
 * The schemas that stand in a schema, save those of `allOf` and the like.
 *
 * @param schema The schema.
 * @returns Each with the name that leads to it; `*` to items of a list and values of a map.
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
 * A schema with others in the place of those that stand in it, save those of `allOf` and the like.
 *
 * @param schema The schema. It stays as it is.
 * @param change What takes the place of each.
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

function counted(group: Group): number {
  return group.around.reduce((sum, around) => sum + (around === undefined ? 1 : counted(around)), 0);
}
