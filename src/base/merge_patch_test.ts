import assert from "node:assert/strict";
import fc from "../../tests/fixtures/property.ts";
import { equal } from "./json.ts";
import { applyMergePatch, mergePatch } from "./merge_patch.ts";

/** The test cases of RFC 7396, appendix A: target, patch, result. */
const APPENDIX: readonly (readonly [string, string, string])[] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', "{}"],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', "null", "null"],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ["[1,2]", '{"a":"b","c":null}', '{"a":"b"}'],
  ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

Deno.test("applyMergePatch passes the cases of RFC 7396", async (t) => {
  for (const [target, patch, expected] of APPENDIX) {
    await t.step(`${target} with ${patch}`, () => {
      assert.deepEqual(applyMergePatch(JSON.parse(target), JSON.parse(patch)), JSON.parse(expected));
    });
  }
});

Deno.test("applyMergePatch does not modify its arguments", () => {
  const target = { a: { b: 1 }, list: [{ c: 1 }] };
  const patch = { a: { b: null, d: 2 } };
  applyMergePatch(target, patch);
  assert.deepEqual({ target, patch }, { target: { a: { b: 1 }, list: [{ c: 1 }] }, patch: { a: { b: null, d: 2 } } });
});

Deno.test("applyMergePatch treats __proto__ as an ordinary key", () => {
  const patched = applyMergePatch({}, JSON.parse('{"__proto__": {"admin": true}}')) as Record<string, unknown>;
  assert.deepEqual(Object.keys(patched), ["__proto__"]);
  assert.equal(patched.admin, undefined);
});

const PATCHES: readonly { name: string; from: unknown; to: unknown; expected: unknown }[] = [
  { name: "no patch for equal values", from: { a: [1, { b: 2 }] }, to: { a: [1, { b: 2 }] }, expected: undefined },
  {
    name: "only the differences",
    from: { a: { b: 1, c: 2 }, d: 3 },
    to: { a: { b: 1, c: 4 }, d: 3 },
    expected: { a: { c: 4 } },
  },
  { name: "null for removed keys", from: { a: 1, b: { c: 1 } }, to: { b: {} }, expected: { a: null, b: { c: null } } },
  { name: "null for a key that became undefined", from: { a: 1 }, to: { a: undefined }, expected: { a: null } },
  { name: "a list as a whole", from: { a: [1, 2] }, to: { a: [1, 3] }, expected: { a: [1, 3] } },
  {
    name: "null for a removed key that objects inherit",
    from: { constructor: "x" },
    to: {},
    expected: { constructor: null },
  },
  { name: "a new key that objects inherit", from: {}, to: { toString: "x" }, expected: { toString: "x" } },
];

for (const { name, from, to, expected } of PATCHES) {
  Deno.test(`mergePatch returns ${name}`, () => assert.deepEqual(mergePatch(from, to), expected));
}

Deno.test("mergePatch returns a patch that converts one value into the other", () => {
  // A merge patch cannot set null, so the values contain none.
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer(),
      fc.string(),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "constructor", "__proto__"), tie("value"), { maxKeys: 3 }),
    ),
  })).value.map((value) => JSON.parse(JSON.stringify(value)));
  fc.assert(fc.property(value, value, (from, to) => {
    const patch = mergePatch(from, to);
    const patched = patch === undefined ? from : applyMergePatch(from, JSON.parse(JSON.stringify(patch)));
    // Deno 2.4's deepEqual fails on equal objects with a key "__proto__".
    assert(equal(patched, to), `${JSON.stringify(patched)} instead of ${JSON.stringify(to)}`);
  }));
});
