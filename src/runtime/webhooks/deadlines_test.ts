import assert from "node:assert/strict";
import type { Clock } from "../../base/clock.ts";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { Deadlines, ReceiveDeadlines } from "./deadlines.ts";

function setUp(keepsTimer: boolean) {
  const clock = new VirtualClock(0);
  const deadlines = new Deadlines({ clock, keepsTimer });
  const late: string[] = [];
  const advance = (to: number): void => {
    while (clock.step(to));
  };
  return {
    clock,
    deadlines,
    late,
    advance,
    add: (delay: number, name: string) => deadlines.after(delay, () => late.push(name)),
  };
}

Deno.test("Deadlines calls back for each deadline that passes, in order", () => {
  const { add, deadlines, late, advance } = setUp(false);
  add(100, "a");
  add(50, "b");
  deadlines.cancel(add(200, "c"));
  advance(49);
  assert.deepEqual(late, []);
  advance(50);
  assert.deepEqual(late, ["b"]);
  advance(1000);
  assert.deepEqual(late, ["b", "a"]);
});

Deno.test("Deadlines calls back for a deadline that is added while the timer waits for a cancelled one", () => {
  const { add, deadlines, late, advance, clock } = setUp(true);
  deadlines.cancel(add(100, "a"));
  assert.equal(clock.nextDue, 100);
  advance(60);
  add(100, "b");
  advance(159);
  assert.deepEqual(late, []);
  advance(160);
  assert.deepEqual(late, ["b"]);
  assert.equal(clock.nextDue, undefined);
});

Deno.test("Deadlines keeps its timer without pending deadlines only if keepsTimer is set and it is not disposed of", () => {
  const withoutTimer = setUp(false);
  withoutTimer.deadlines.cancel(withoutTimer.add(100, "a"));
  assert.equal(withoutTimer.clock.nextDue, undefined);

  const { add, deadlines, clock, late, advance } = setUp(true);
  const last = add(100, "a");
  deadlines[Symbol.dispose]();
  assert.equal(clock.nextDue, 100);
  deadlines.cancel(last);
  assert.equal(clock.nextDue, undefined);
  advance(1000);
  assert.deepEqual(late, []);
});

Deno.test("ReceiveDeadlines calls back when a deadline has passed, unless it was cancelled", () => {
  const clock = new VirtualClock();
  const deadlines = new ReceiveDeadlines({ clock, time: 5000 });
  const late: string[] = [];
  deadlines.start(() => late.push("first"));
  const cancelled = deadlines.start(() => late.push("cancelled"));
  advance(clock, 2000);
  deadlines.start(() => late.push("second"));
  deadlines.cancel(cancelled);
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
  deadlines.cancel(deadlines.start(() => {}));
  assert.notEqual(clock.nextDue, undefined);
  advance(clock, 100);
  assert.equal(clock.nextDue, undefined);
  const last = deadlines.start(() => {});
  deadlines[Symbol.dispose]();
  deadlines.cancel(last);
  assert.equal(clock.nextDue, undefined);
});

function advance(clock: VirtualClock, milliseconds: number): void {
  const until = clock.now() + milliseconds;
  while (clock.step(until));
}
