import assert from "node:assert/strict";
import { quoted, strayByte } from "./quoted.ts";

const cases: readonly (readonly [given: string, expected: string])[] = [
  ["", '""'],
  ["plain", '"plain"'],
  ['a "b"', '"a \\"b\\""'],
  ["back\\slash", '"back\\\\slash"'],
  ["\x07\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'],
  ["\x00\x1f\x7f", '"\\x00\\x1f\\x7f"'],
  ["\u0080\u00a0\u2028\ufeff", '"\\u0080\\u00a0\\u2028\\ufeff"'],
  ["é ß 日本 😀 €", '"é ß 日本 😀 €"'],
  ["\u{e0001}", '"\\U000e0001"'],
  [strayByte(0xff), '"\\xff"'],
  [strayByte(0x80), '"\\x80"'],
];

for (const [given, expected] of cases) {
  Deno.test(`quoted returns ${expected}`, () => {
    assert.equal(quoted(given), expected);
  });
}
