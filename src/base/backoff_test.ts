import assert from "node:assert/strict";
import { backoff } from "./backoff.ts";

Deno.test("backoff doubles from the first to the longest delay", () => {
  assert.deepEqual([1, 2, 3, 4].map((failures) => backoff(failures)), [5, 10, 20, 40]);
  assert.equal(backoff(18), 655_360);
  assert.equal(backoff(19), 1_000_000);
  assert.equal(backoff(5000), 1_000_000);
});

Deno.test("backoff applies jitter from three quarters of the delay to the whole delay", () => {
  const options = { first: 100, longest: 1000 };
  assert.deepEqual([0, 0.5, 1].map((spread) => backoff(1, { ...options, spread })), [75, 87.5, 100]);
  assert.equal(backoff(9, { ...options, spread: 0 }), 750);
});

Deno.test("backoff rejects an invalid number of failures", async (t) => {
  for (const failures of [0, -1, 1.5, NaN, Infinity]) {
    await t.step(String(failures), () => {
      assert.throws(() => backoff(failures), {
        name: "RangeError",
        message: `backoff(): failures must be a positive integer, got ${failures}.`,
      });
    });
  }
});
