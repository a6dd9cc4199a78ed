import assert from "node:assert/strict";
import type { Clock } from "../../base/clock.ts";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { ReceiveDeadlines } from "./receive_deadlines.ts";

function advance(clock: VirtualClock, milliseconds: number): void {
  const until = clock.now() + milliseconds;
  while (clock.step(until));
}

Deno.test("ReceiveDeadlines calls back when a deadline has passed, unless it was canceled", () => {
  const clock = new VirtualClock();
  const deadlines = new ReceiveDeadlines({ clock, time: 5000 });
  const late: string[] = [];
  deadlines.start(() => late.push("first"));
  const canceled = deadlines.start(() => late.push("canceled"));
  advance(clock, 2000);
  deadlines.start(() => late.push("second"));
  deadlines.forget(canceled);
  advance(clock, 2999);
  assert.deepEqual(late, []);
  advance(clock, 1);
  assert.deepEqual(late, ["first"]);
  advance(clock, 2000);
  assert.deepEqual(late, ["first", "second"]);
  assert.equal(clock.nextDue, undefined);
});

Deno.test("ReceiveDeadlines counts a blocked event loop as one tick", () => {
  let tick = (): void => {};
  let now = 0;
  const clock: Clock = {
    now: () => now,
    elapsed: () => now,
    after: (_, callback) => {
      tick = callback;
      return { [Symbol.dispose]() {} };
    },
  };
  const deadlines = new ReceiveDeadlines({ clock, time: 5000 });
  let isLate = false;
  deadlines.start(() => isLate = true);
  for (let i = 1; i < 50; i++) {
    // The timer is due after 100 ms, but the event loop is blocked for 10 s.
    now += 10_000;
    tick();
  }
  assert.equal(isLate, false);
  tick();
  assert.equal(isLate, true);
});

Deno.test("ReceiveDeadlines with keepsTimer keeps its timer for one tick, but not after it is disposed of", () => {
  const clock = new VirtualClock();
  const deadlines = new ReceiveDeadlines({ clock, time: 5000, keepsTimer: true });
  deadlines.forget(deadlines.start(() => {}));
  assert.notEqual(clock.nextDue, undefined);
  advance(clock, 100);
  assert.equal(clock.nextDue, undefined);
  const last = deadlines.start(() => {});
  deadlines[Symbol.dispose]();
  deadlines.forget(last);
  assert.equal(clock.nextDue, undefined);
});
