import assert from "node:assert/strict";
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from "./json_patch.ts";

const applied: readonly { name: string; given: unknown; patch: JsonPatchOperation[]; expected: unknown }[] = [
  { name: "adds a key", given: { a: 1 }, patch: [{ op: "add", path: "/b", value: 2 }], expected: { a: 1, b: 2 } },
  { name: "adds into a list", given: [1, 3], patch: [{ op: "add", path: "/1", value: 2 }], expected: [1, 2, 3] },
  { name: "adds to the end of a list", given: [1], patch: [{ op: "add", path: "/-", value: 2 }], expected: [1, 2] },
  { name: "replaces the whole document", given: { a: 1 }, patch: [{ op: "add", path: "", value: 2 }], expected: 2 },
  { name: "removes a list item", given: { a: [1, 2] }, patch: [{ op: "remove", path: "/a/0" }], expected: { a: [2] } },
  {
    name: "replaces a value",
    given: { a: 1 },
    patch: [{ op: "replace", path: "/a", value: null }],
    expected: { a: null },
  },
  { name: "moves a value", given: { a: 1 }, patch: [{ op: "move", from: "/a", path: "/b" }], expected: { b: 1 } },
  {
    name: "copies a value",
    given: { a: { x: 1 } },
    patch: [{ op: "copy", from: "/a", path: "/b" }],
    expected: { a: { x: 1 }, b: { x: 1 } },
  },
  {
    name: "accepts a test of an equal value",
    given: { a: { x: 1, y: 2 } },
    patch: [{ op: "test", path: "/a", value: { y: 2, x: 1 } }],
    expected: { a: { x: 1, y: 2 } },
  },
  {
    name: "decodes escapes in paths",
    given: { "a/b": 1, "m~n": 2 },
    patch: [{ op: "remove", path: "/a~1b" }, { op: "remove", path: "/m~0n" }],
    expected: {},
  },
];
for (const { name, given, patch, expected } of applied) {
  Deno.test(`applyJsonPatch ${name}`, () => {
    const before = structuredClone(given);

    assert.deepEqual(applyJsonPatch(given, patch), expected);
    assert.deepEqual(given, before);
  });
}

const rejected: readonly { name: string; given: unknown; patch: unknown }[] = [
  { name: "removing a key that does not exist", given: {}, patch: { op: "remove", path: "/a" } },
  { name: "replacing a key that does not exist", given: {}, patch: { op: "replace", path: "/a", value: 1 } },
  { name: "adding below a key that does not exist", given: {}, patch: { op: "add", path: "/a/b", value: 1 } },
  { name: "an index past the end", given: [1], patch: { op: "add", path: "/2", value: 1 } },
  { name: "an index with a leading zero", given: [1, 2], patch: { op: "remove", path: "/01" } },
  { name: "a failed test", given: { a: 1 }, patch: { op: "test", path: "/a", value: 2 } },
  { name: "an unknown operation", given: {}, patch: { op: "leap", path: "/a" } },
  { name: "a path without a slash", given: {}, patch: { op: "add", path: "a", value: 1 } },
  { name: "a key that is only inherited", given: {}, patch: { op: "remove", path: "/constructor" } },
];
for (const { name, given, patch } of rejected) {
  Deno.test(`applyJsonPatch rejects ${name}`, () => {
    assert.throws(() => applyJsonPatch(given, [patch as JsonPatchOperation]), JsonPatchError);
  });
}

Deno.test("applyJsonPatch treats __proto__ as an ordinary key", () => {
  const patched = applyJsonPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: 1 } }]);

  assert.deepEqual(Object.keys(patched as object), ["__proto__"]);
  assert.equal((patched as { polluted?: number }).polluted, undefined);
});
