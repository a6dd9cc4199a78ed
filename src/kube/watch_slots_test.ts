import assert from "node:assert/strict";
import { WatchSlots } from "./watch_slots.ts";

Deno.test("WatchSlots assigns 60 watches to each connection, and reuses the slots of ended watches", () => {
  const watchSlots = new WatchSlots();
  const slots = Array.from({ length: 130 }, () => watchSlots.take());
  assert.deepEqual([0, 59, 60, 119, 120, 129].map((i) => slots[i]!.connectionIndex), [0, 0, 1, 1, 2, 2]);
  slots[3]![Symbol.dispose]();
  assert.deepEqual([watchSlots.take().connectionIndex, watchSlots.take().connectionIndex], [0, 2]);
});
