/** Wide random schemas: every keyword at every depth. Each becomes a kind. */
import { listNode, mapNode, objectNode, type Property } from "./_containers.ts";
import type { Node } from "./_node.ts";
import { Random } from "../fixtures/random.ts";
import { integer, type Maker, SCALARS, text } from "./_scalars.ts";
import { defaulted, STRUCTURES } from "./_structures.ts";

/** Each kind contains one schema of each maker. */
const MAKERS: readonly Maker[] = [...SCALARS, ...STRUCTURES];

/** Names of properties, most of them common ones. */
const NAMES = [
  "name",
  "size",
  "host-name",
  "a.b",
  "items",
  "type",
  "spec",
  "x/y",
  "\u00e9t\u00e9",
  "$ref",
  "0",
  "constructor",
];

/**
 * Returns the `spec` of a kind: an object with a property for each keyword, below a random number
 * of objects, lists and maps.
 *
 * @param seed The seed.
 */
export function wideSchema(seed: number): Node {
  const random = new Random(seed);
  const properties: Record<string, Property> = {};
  for (const [i, make] of MAKERS.entries()) {
    properties[`f${i}`] = { node: wrapped(random, make(random), random.pick([0, 1, 1, 2, 2, 3])) };
  }
  return objectNode(properties, { density: 0.03 });
}

/** Wraps a node in objects, lists and maps. */
export function wrapped(random: Random, inner: Node, times: number): Node {
  if (times === 0) return inner;
  return random.pick([
    () => wrapped(random, inObject(random, inner), times - 1),
    () => wrapped(random, listNode(inner), times - 1),
    () => wrapped(random, mapNode(inner), times - 1),
  ])();
}

function inObject(random: Random, inner: Node): Node {
  const [first, second] = [random.pick(NAMES), random.pick(NAMES)];
  return objectNode({
    [`${second}2`]: { node: random.pick([text, integer, defaulted])(random) },
    [first]: { node: inner, required: random.chance(0.5) },
  });
}
