import assert from "node:assert/strict";
import { VirtualClock } from "../base/virtual_clock.ts";
import { LoopLag } from "./loop_lag.ts";

Deno.test("LoopLag is the delay of the last timer, and increases while the event loop is blocked", () => {
  const inner = new VirtualClock();
  let blocked = 0;
  // Simulates a blocked event loop: time passes, and timers fire late.
  const clock = {
    now: () => assert.fail("LoopLag must not read the time of day"),
    elapsed: () => inner.elapsed() + blocked,
    after: (delay: number, callback: () => void) => inner.after(delay, callback),
  };
  using lag = new LoopLag(clock);
  inner.step(inner.now() + 1000);
  assert.equal(lag.milliseconds, 0);

  blocked = 6000;
  assert.equal(lag.milliseconds, 5000, "the loop is still blocked: the timer was due after 1 s, and 6 s have passed");
  inner.step(inner.now() + 1000);
  assert.equal(lag.milliseconds, 6000);

  inner.step(inner.now() + 1000);
  assert.equal(lag.milliseconds, 0, "the next timer fires on time");
});
