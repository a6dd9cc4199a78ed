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

Deno.test("Deadlines calls back for each late request with one timer", () => {
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

Deno.test("Deadlines calls back for deadlines that are added while its timer waits for a cancelled one", () => {
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

Deno.test("Deadlines keeps a timer without deadlines only if it lingers, and none after its disposal", () => {
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
