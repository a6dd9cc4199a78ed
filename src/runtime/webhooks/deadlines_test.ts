import assert from "node:assert/strict";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { Deadlines } from "./deadlines.ts";

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
  deadlines.forget(add(200, "c"));
  advance(49);
  assert.deepEqual(late, []);
  advance(50);
  assert.deepEqual(late, ["b"]);
  advance(1000);
  assert.deepEqual(late, ["b", "a"]);
});

Deno.test("Deadlines calls back for a deadline that is added while the timer waits for a cancelled one", () => {
  const { add, deadlines, late, advance, clock } = setUp(true);
  deadlines.forget(add(100, "a"));
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
  withoutTimer.deadlines.forget(withoutTimer.add(100, "a"));
  assert.equal(withoutTimer.clock.nextDue, undefined);

  const { add, deadlines, clock, late, advance } = setUp(true);
  const last = add(100, "a");
  deadlines[Symbol.dispose]();
  assert.equal(clock.nextDue, 100);
  deadlines.forget(last);
  assert.equal(clock.nextDue, undefined);
  advance(1000);
  assert.deepEqual(late, []);
});
