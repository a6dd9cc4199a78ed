import assert from "node:assert/strict";
import { median, pairedRatio } from "./_figures.ts";

Deno.test("median returns the middle figure, or the mean of the middle two", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
});

Deno.test("pairedRatio's interval is the full range for seven pairs, and omits the smallest and the largest ratio of nine", () => {
  const ones = (count: number) => Array.from({ length: count }, () => 1);
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
  assert.deepEqual(pairedRatio(upTo(7), ones(7)), { median: 4, low: 1, high: 7 });
  assert.deepEqual(pairedRatio(upTo(9), ones(9)), { median: 5, low: 2, high: 8 });
});
