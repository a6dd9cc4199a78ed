import assert from "node:assert/strict";
import { parseNumbers, writtenAs, writtenIn } from "./written_numbers.ts";

// deno-lint-ignore no-explicit-any -- parsed JSON
const parse = (text: string): any => parseNumbers(text);

Deno.test("parseNumbers records the source of numbers with a point or an exponent", () => {
  const value = parse('{"a":1e3,"b":[1,2.0,-0.5],"c":{"d":7},"e":"1.5"}');

  assert.deepEqual(value, { a: 1000, b: [1, 2, -0.5], c: { d: 7 }, e: "1.5" });
  assert.deepEqual([...writtenIn(value) ?? []], [["a", "1e3"]]);
  assert.deepEqual([...writtenIn(value.b) ?? []], [["1", "2.0"], ["2", "-0.5"]]);
  assert.equal(writtenIn(value.c), undefined);
});

Deno.test("parseNumbers ignores numbers in strings", () => {
  const value = parse('{"image":"redis:7.2","list":["a, 1.5]"]}');

  assert.deepEqual(value, { image: "redis:7.2", list: ["a, 1.5]"] });
  assert.equal(writtenIn(value), undefined);
  assert.equal(writtenIn(value.list), undefined);
});

Deno.test("writtenAs copies the sources of numbers", () => {
  const value = parse('{"a":1e3}');

  assert.equal(writtenIn({ ...value }), undefined);
  assert.equal(writtenIn(writtenAs(value, { ...value }))?.get("a"), "1e3");
});
