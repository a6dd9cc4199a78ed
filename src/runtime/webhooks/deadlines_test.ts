import assert from "node:assert/strict";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { Deadlines } from "./deadlines.ts";

function desk(lingers: boolean) {
  const clock = new VirtualClock(0);
  const deadlines = new Deadlines({ clock, lingers });
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

Deno.test("Deadlines tells each that is late, in time, by one timer", () => {
  const { add, deadlines, late, advance } = desk(false);
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

Deno.test("Deadlines tells of those that come while its timer waits for one that was answered", () => {
  const { add, deadlines, late, advance, clock } = desk(true);
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

Deno.test("Deadlines leaves no timer when there is nothing to wait for, unless it lingers, and none when it is over", () => {
  const brief = desk(false);
  brief.deadlines.forget(brief.add(100, "a"));
  assert.equal(brief.clock.nextDue, undefined);

  const { add, deadlines, clock, late, advance } = desk(true);
  const last = add(100, "a");
  deadlines[Symbol.dispose]();
  assert.equal(clock.nextDue, 100);
  deadlines.forget(last);
  assert.equal(clock.nextDue, undefined);
  advance(1000);
  assert.deepEqual(late, []);
});
