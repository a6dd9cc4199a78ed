import assert from "node:assert/strict";
import { numberSourcesIn, parseNumbers, withNumberSources } from "./number_sources.ts";

// deno-lint-ignore no-explicit-any -- parsed JSON
const parse = (text: string): any => parseNumbers(text);

Deno.test("parseNumbers records the source of numbers with a point or an exponent", () => {
  const value = parse('{"a":1e3,"b":[1,2.0,-0.5],"c":{"d":7},"e":"1.5"}');

  assert.deepEqual(value, { a: 1000, b: [1, 2, -0.5], c: { d: 7 }, e: "1.5" });
  assert.deepEqual([...numberSourcesIn(value) ?? []], [["a", "1e3"]]);
  assert.deepEqual([...numberSourcesIn(value.b) ?? []], [["1", "2.0"], ["2", "-0.5"]]);
  assert.equal(numberSourcesIn(value.c), undefined);
});

Deno.test("parseNumbers ignores numbers in strings", () => {
  const value = parse('{"image":"redis:7.2","list":["a, 1.5]"]}');

  assert.deepEqual(value, { image: "redis:7.2", list: ["a, 1.5]"] });
  assert.equal(numberSourcesIn(value), undefined);
  assert.equal(numberSourcesIn(value.list), undefined);
});

Deno.test("withNumberSources copies the sources of numbers", () => {
  const value = parse('{"a":1e3}');

  assert.equal(numberSourcesIn({ ...value }), undefined);
  assert.equal(numberSourcesIn(withNumberSources(value, { ...value }))?.get("a"), "1e3");
});
