import assert from "node:assert/strict";
import { own, setOwn, withKeys } from "./own.ts";

Deno.test("own returns own values and no inherited ones", () => {
  const object: Record<string, unknown> = JSON.parse('{"a": 1, "__proto__": 2}');
  assert.deepEqual(["a", "__proto__", "constructor", "b"].map((key) => own(object, key)), [1, 2, undefined, undefined]);
  assert.equal(own(undefined, "a"), undefined);
});

Deno.test("withKeys sets and removes keys on a copy, even __proto__", () => {
  const object = { a: 1, b: 2 };
  const changed = withKeys<unknown>(object, [["a", undefined], ["__proto__", 3]]);
  assert.deepEqual(Object.entries(changed), [["b", 2], ["__proto__", 3]]);
  assert.equal(Object.getPrototypeOf(changed), Object.prototype);
  assert.deepEqual(object, { a: 1, b: 2 });
  assert.deepEqual(Object.entries(withKeys<unknown>(changed, [["__proto__", undefined]])), [["b", 2]]);
});

Deno.test("setOwn sets __proto__ as data", () => {
  const object: Record<string, unknown> = {};
  setOwn(object, "__proto__", { admin: true });
  assert.equal(object.admin, undefined);
  assert.equal(JSON.stringify(object), '{"__proto__":{"admin":true}}');
});
