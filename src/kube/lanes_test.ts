import assert from "node:assert/strict";
import { Lanes } from "./lanes.ts";

Deno.test("Lanes assigns sixty watches to each connection, and reuses the slots of ended watches", () => {
  const lanes = new Lanes();
  const taken = Array.from({ length: 130 }, () => lanes.take());
  assert.deepEqual([0, 59, 60, 119, 120, 129].map((i) => taken[i]!.lane), [0, 0, 1, 1, 2, 2]);
  taken[3]![Symbol.dispose]();
  assert.deepEqual([lanes.take().lane, lanes.take().lane], [0, 2]);
});
