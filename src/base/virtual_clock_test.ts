import assert from "node:assert/strict";
import { VirtualClock } from "./virtual_clock.ts";

Deno.test("VirtualClock runs timers at their due times, in order of creation if these are equal", () => {
  const clock = new VirtualClock(1000);
  const ran: [string, number][] = [];
  for (const [name, delay] of [["late", 30], ["first", 10], ["second", 10], ["past", -5]] as const) {
    clock.after(delay, () => ran.push([name, clock.now()]));
  }
  while (clock.step(1100));
  assert.deepEqual(ran, [["past", 1000], ["first", 1010], ["second", 1010], ["late", 1030]]);
  assert.equal(clock.now(), 1100);
});

Deno.test("VirtualClock runs timers that other timers create in the same pass", () => {
  const clock = new VirtualClock(0);
  const ran: number[] = [];
  clock.after(10, () => {
    ran.push(clock.now());
    clock.after(5, () => ran.push(clock.now()));
    clock.after(50, () => ran.push(clock.now()));
  });
  while (clock.step(20));
  assert.deepEqual(ran, [10, 15]);
  assert.equal(clock.nextDue, 60);
});

Deno.test("VirtualClock does not move backwards", () => {
  const clock = new VirtualClock(1000);
  assert.equal(clock.step(500), false);
  assert.equal(clock.now(), 1000);
});

Deno.test("VirtualClock cancels a disposed timer", () => {
  const clock = new VirtualClock(0);
  const timer = clock.after(10, () => assert.fail("it ran"));
  timer[Symbol.dispose]();
  timer[Symbol.dispose]();
  assert.equal(clock.nextDue, undefined);
  assert.equal(clock.step(20), false);
});
