import assert from "node:assert/strict";
import fc from "fast-check";
import { diffJson } from "./json_diff.ts";
import { equal } from "./json.ts";
import { applyJsonPatch } from "./json_patch.ts";

for (
  const { name, before, after, expected } of [
    { name: "no operation for equal values", before: { a: [1] }, after: { a: [1] }, expected: [] },
    { name: "a removed key", before: { a: 1, b: 2 }, after: { b: 2 }, expected: [{ op: "remove", path: "/a" }] },
    {
      name: "undefined as a removed key",
      before: { a: 1 },
      after: { a: undefined },
      expected: [{ op: "remove", path: "/a" }],
    },
    {
      name: "keys with slashes and tildes",
      before: {},
      after: { "a/b~c": 1 },
      expected: [{ op: "add", path: "/a~1b~0c", value: 1 }],
    },
    {
      name: "an item put in the middle of a list",
      before: [1, 2],
      after: [1, 9, 2],
      expected: [{ op: "add", path: "/1", value: 9 }],
    },
    {
      name: "an item of a list changed in place",
      before: [{ n: "a", v: 1, big: 2 ** 60 }],
      after: [{ n: "a", v: 2, big: 2 ** 60 }],
      expected: [{ op: "replace", path: "/0/v", value: 2 }],
    },
    {
      name: "a value of another type",
      before: { a: [1] },
      after: { a: {} },
      expected: [{ op: "replace", path: "/a", value: {} }],
    },
  ]
) Deno.test(`diffJson returns ${name}`, () => assert.deepEqual(diffJson(before, after), expected));

Deno.test("diffJson converts any JSON value into any other", () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  const keyed = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "a/b", "~")),
    json,
    { noNullPrototype: true },
  );
  const value = fc.oneof(json, keyed, fc.array(keyed)).map((value) => JSON.parse(JSON.stringify(value)));
  fc.assert(fc.property(value, value, (before, after) => {
    assert(equal(applyJsonPatch(before, diffJson(before, after)), after));
  }));
});
