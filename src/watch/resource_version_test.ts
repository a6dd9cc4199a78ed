import assert from "node:assert/strict";
import { isNewer } from "./resource_version.ts";

const CASES: readonly (readonly [string, string, boolean])[] = [
  ["100", "99", true],
  ["99", "100", false],
  ["7", "7", false],
  ["9007199254740993", "9007199254740992", true], // larger than a safe integer
  ["100000000000000000000000000000", "99999999999999999999999999999", true],
  ["0", "", false],
  ["abc", "1", false],
  ["2", "abc", false],
  ["-1", "-2", false],
  ["010", "9", false], // not a canonical integer, so it cannot be compared
];

Deno.test("isNewer compares integers of any length, and is false for all other versions", async (t) => {
  for (const [a, b, expected] of CASES) {
    await t.step(`"${a}" and "${b}"`, () => assert.equal(isNewer(a, b), expected));
  }
});
