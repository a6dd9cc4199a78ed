import assert from "node:assert/strict";
import { digest } from "./digest.ts";

Deno.test("digests do not depend on the order of keys, but on that of lists", () => {
  assert.equal(digest({ a: 1, b: [{ c: 2, d: 3 }] }), digest({ b: [{ d: 3, c: 2 }], a: 1 }));
  assert.notEqual(digest([1, 2]), digest([2, 1]));
  assert.equal(digest(undefined).length, 16);
});
