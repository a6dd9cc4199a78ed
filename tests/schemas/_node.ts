/** Schemas that know values: right ones, and ways to go wrong in one place. */
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import type { Random } from "./_random.ts";

/** A schema and what it takes. */
export interface Node {
  readonly schema: JsonSchema;
  /** A value that the schema takes. */
  right(random: Random): unknown;
  /** How a right value is made wrong at this very place. */
  readonly faults: readonly Change[];
  /** Changes at this very place of which only the real server knows the verdict. */
  readonly edges: readonly Change[];
  /** What stands under it. */
  readonly parts: readonly Part[];
}

/** A change of a value in one place. */
export interface Change {
  /** The keyword that it is about, such as `maxLength` or `format: uri`. */
  readonly keyword: string;
  /** The value that stands there afterwards. */
  make(random: Random, right: unknown): unknown;
}

/** A node under another. */
export interface Part {
  readonly kind: "property" | "item" | "value";
  readonly node: Node;
  /** The value with a part of it changed; a part that is not there is made first. */
  change(random: Random, value: unknown, change: (part: unknown) => unknown): unknown;
}

/** A place under a node, and something to change there. */
export interface Target {
  readonly path: readonly Part[];
  readonly change: Change;
}

/** What a node is made from. */
export interface NodeInit {
  readonly schema: JsonSchema;
  right(random: Random): unknown;
  readonly faults?: readonly Change[];
  readonly edges?: readonly Change[];
  readonly parts?: readonly Part[];
}

/** A node, with the faults that any typed value can have. */
export function node({ schema, right, faults = [], edges = [], parts = [] }: NodeInit): Node {
  return { schema, right, faults: [...typeFaults(schema), ...faults], edges, parts };
}

const OF_TYPE: Readonly<Record<string, readonly unknown[]>> = {
  string: ["text", "", "1"],
  integer: [1, 0, -7],
  number: [1.5, -0.25],
  boolean: [true, false],
  array: [[], [1], ["a"]],
  object: [{}, { a: 1 }],
};

function typeFaults(schema: JsonSchema): Change[] {
  if (schema.type === undefined) return [];
  const allowed: string[] = [schema.type];
  if (schema.type === "number") allowed.push("integer");
  // Where a string has a format, the server takes lists too.
  if (schema.type === "string" && schema.format !== undefined) allowed.push("array");
  const others = Object.entries(OF_TYPE).filter(([type]) => !allowed.includes(type));
  return [{ keyword: "type", make: (random) => random.pick(random.pick(others)[1]) }];
}

/** Every place under a node where something can be changed. */
export function* targets(
  root: Node,
  of: "faults" | "edges",
  path: readonly Part[] = [],
): Generator<Target> {
  for (const change of root[of]) yield { path, change };
  for (const part of root.parts) yield* targets(part.node, of, [...path, part]);
}

/** A value that is right but for one place. */
export function changed(random: Random, value: unknown, { path: [part, ...rest], change }: Target): unknown {
  if (part === undefined) return change.make(random, value);
  return part.change(random, value, (inner) => changed(random, inner, { path: rest, change }));
}

/** How far down a target is, and whether a list or a map stands above it. */
export function isDeep({ path }: Target): boolean {
  return path.length >= 3 || path.some(({ kind }) => kind !== "property");
}
