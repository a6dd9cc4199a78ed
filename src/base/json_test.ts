import assert from "node:assert/strict";
import fc from "../../tests/fixtures/property.ts";
import { equal, isObject } from "./json.ts";

const CASES: readonly { name: string; a: unknown; b: unknown; same: boolean }[] = [
  { name: "keys in another order", a: { a: 1, b: [2] }, b: { b: [2], a: 1 }, same: true },
  { name: "items in another order", a: [1, 2], b: [2, 1], same: false },
  { name: "a shorter list", a: [1], b: [1, 2], same: false },
  { name: "a list and an object with its indexes", a: ["x"], b: { 0: "x" }, same: false },
  { name: "an empty object and an empty list", a: {}, b: [], same: false },
  { name: "null and an absent key", a: { a: null }, b: {}, same: false },
  { name: "an undefined and an absent key", a: { a: undefined }, b: {}, same: true },
  { name: "an absent and an undefined key", a: {}, b: { a: undefined }, same: true },
  { name: "zero and minus zero", a: 0, b: -0, same: true },
  { name: "zero and false", a: 0, b: false, same: false },
  { name: "a number and its string", a: 1, b: "1", same: false },
  { name: "null and an object", a: null, b: {}, same: false },
  { name: "a nested difference", a: { a: { b: [{ c: 1 }] } }, b: { a: { b: [{ c: 2 }] } }, same: false },
  { name: "a key that objects inherit", a: {}, b: { constructor: "x" }, same: false },
  { name: "a key that is the prototype's name", a: {}, b: JSON.parse('{"__proto__": {}}'), same: false },
];

for (const { name, a, b, same } of CASES) {
  Deno.test(`equal returns ${same} for ${name}`, () => {
    assert.equal(equal(a, b), same);
    assert.equal(equal(b, a), same, "with swapped arguments");
  });
}

Deno.test("equal agrees with a comparison of sorted JSON for random values", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (a, b) => {
    assert.equal(equal(a, structuredClone(a)), true);
    assert.equal(equal(a, b), sortedText(a) === sortedText(b));
  }));
});

Deno.test("isObject accepts objects, and neither null nor lists nor scalars", () => {
  assert.deepEqual([{}, null, [], "a", 1, undefined].map(isObject), [true, false, false, false, false, false]);
});

function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${sortedText(inner)}`).join()}}`;
}
