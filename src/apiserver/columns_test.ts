import assert from "node:assert/strict";
import { humanDuration } from "./columns.ts";

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
const cases: readonly (readonly [given: number, expected: string])[] = [
  [-5 * second, "<invalid>"],
  [-1 * second, "0s"],
  [0, "0s"],
  [119 * second, "119s"],
  [2 * minute, "2m"],
  [2 * minute + 5 * second, "2m5s"],
  [10 * minute, "10m"],
  [179 * minute, "179m"],
  [3 * hour, "3h"],
  [3 * hour + 5 * minute, "3h5m"],
  [8 * hour, "8h"],
  [47 * hour, "47h"],
  [2 * day, "2d"],
  [2 * day + 3 * hour, "2d3h"],
  [8 * day, "8d"],
  [729 * day, "729d"],
  [730 * day, "2y"],
  [800 * day, "2y70d"],
  [3000 * day, "8y"],
  [NaN, "<unknown>"],
];
for (const [given, expected] of cases) {
  Deno.test(`humanDuration shows ${given} ms as ${expected}`, () => {
    assert.equal(humanDuration(given), expected);
  });
}
