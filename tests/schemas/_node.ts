/** Schemas with generators of values: valid ones, and ones with a single change. */
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import type { Random } from "../fixtures/random.ts";

/** A schema and its values. */
export interface Node {
  readonly schema: JsonSchema;
  /** Returns a valid value. */
  valid(random: Random): unknown;
  /** Changes of a valid value that make it invalid. */
  readonly violations: readonly Change[];
  /** Changes of a valid value whose result only the real server knows. */
  readonly doubtful: readonly Change[];
  /** The child nodes. */
  readonly parts: readonly Part[];
}

/** A change of a value at one position. */
export interface Change {
  /** The keyword that it concerns, such as `maxLength` or `format: uri`. */
  readonly keyword: string;
  /** Returns the changed value. */
  make(random: Random, valid: unknown): unknown;
}

/** A child node. */
export interface Part {
  readonly kind: "property" | "item" | "value";
  readonly node: Node;
  /** Returns the value with one part changed. A missing part is created first. */
  change(random: Random, value: unknown, change: (part: unknown) => unknown): unknown;
}

/** A position below a node, and a change of it. */
export interface Target {
  readonly path: readonly Part[];
  readonly change: Change;
}

/** The options of a node. */
export interface NodeInit {
  readonly schema: JsonSchema;
  valid(random: Random): unknown;
  readonly violations?: readonly Change[];
  readonly doubtful?: readonly Change[];
  readonly parts?: readonly Part[];
}

/** Returns a node. Adds violations of its type. */
export function node({ schema, valid, violations = [], doubtful = [], parts = [] }: NodeInit): Node {
  return { schema, valid, violations: [...typeViolations(schema), ...violations], doubtful, parts };
}

const OF_TYPE: Readonly<Record<string, readonly unknown[]>> = {
  string: ["text", "", "1"],
  integer: [1, 0, -7],
  number: [1.5, -0.25],
  boolean: [true, false],
  array: [[], [1], ["a"]],
  object: [{}, { a: 1 }],
};

function typeViolations(schema: JsonSchema): Change[] {
  if (schema.type === undefined) return [];
  const allowed: string[] = [schema.type];
  if (schema.type === "number") allowed.push("integer");
  // The server also accepts lists for a string with a format.
  if (schema.type === "string" && schema.format !== undefined) allowed.push("array");
  const others = Object.entries(OF_TYPE).filter(([type]) => !allowed.includes(type));
  return [{ keyword: "type", make: (random) => random.pick(random.pick(others)[1]) }];
}

/** Returns all positions below a node with their changes. */
export function* targets(
  root: Node,
  of: "violations" | "doubtful",
  path: readonly Part[] = [],
): Generator<Target> {
  for (const change of root[of]) yield { path, change };
  for (const part of root.parts) yield* targets(part.node, of, [...path, part]);
}

/** Returns a valid value with one change. */
export function changed(random: Random, value: unknown, { path: [part, ...rest], change }: Target): unknown {
  if (part === undefined) return change.make(random, value);
  return part.change(random, value, (inner) => changed(random, inner, { path: rest, change }));
}

/** Returns the depth of a target, and whether it is below a list or map. */
export function isDeep({ path }: Target): boolean {
  return path.length >= 3 || path.some(({ kind }) => kind !== "property");
}
