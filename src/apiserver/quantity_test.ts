import assert from "node:assert/strict";
import { canonicalQuantity } from "./quantity.ts";

const cases: readonly (readonly [given: string, expected: string])[] = [
  ["0", "0"],
  ["1", "1"],
  ["1000m", "1"],
  ["1500m", "1500m"],
  ["0.5", "500m"],
  ["1000", "1k"],
  ["1024", "1024"],
  ["1024Mi", "1Gi"],
  ["1.5Gi", "1536Mi"],
  ["0.5Mi", "512Ki"],
  ["1e3", "1e3"],
  ["1E", "1E"],
  ["-2", "-2"],
  ["+3", "3"],
  ["100n", "100n"],
  ["2000000u", "2"],
  ["123456789012345678901", "123456789012345678901"],
];
for (const [given, expected] of cases) {
  Deno.test(`canonicalQuantity makes ${expected} of ${given}`, () => {
    assert.equal(canonicalQuantity(given), expected);
  });
}

Deno.test("canonicalQuantity refuses what is none", () => {
  for (const text of ["", "x", "1x", "1 Gi", "--1"]) assert.throws(() => canonicalQuantity(text), SyntaxError);
});
