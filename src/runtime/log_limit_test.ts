import assert from "node:assert/strict";
import { VirtualClock } from "../base/virtual_clock.ts";
import { LogLimit } from "./log_limit.ts";

Deno.test("LogLimit allows a number of lines per kind and period, and the next line has the number of suppressed ones", () => {
  const clock = new VirtualClock();
  const limit = new LogLimit({ clock, lines: 2, period: 1000 });
  const next = (kind: string) => limit.next(kind);
  assert.deepEqual([next("a"), next("a"), next("a"), next("a"), next("b")], [{}, {}, undefined, undefined, {}]);
  while (clock.step(clock.now() + 1000));
  assert.deepEqual([next("a"), next("a"), next("a")], [{ suppressed: 2 }, {}, undefined]);
});
