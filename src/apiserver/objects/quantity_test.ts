import assert from "node:assert/strict";
import { canonicalQuantity } from "./quantity.ts";

const cases: readonly (readonly [given: string, expected: string])[] = [
  ["0", "0"],
  ["1000m", "1"],
  ["0.5", "500m"],
  ["1024Mi", "1Gi"],
  [" 1.5Gi\n", "1536Mi"],
];

for (const [given, expected] of cases) {
  Deno.test(`canonicalQuantity converts ${JSON.stringify(given)} to "${expected}"`, () => {
    assert.equal(canonicalQuantity(given), expected);
  });
}

Deno.test("canonicalQuantity throws a SyntaxError for strings that are not quantities", () => {
  for (const text of ["", "x", "1x", "1 Gi", "--1"]) assert.throws(() => canonicalQuantity(text), SyntaxError);
});
