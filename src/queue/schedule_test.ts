import assert from "node:assert/strict";
import type { Clock } from "../base/clock.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { Schedule } from "./schedule.ts";

Deno.test("a schedule calls callbacks in the order of their due times", () => {
  const clock = new VirtualClock();
  const schedule = new Schedule(clock);
  const called: string[] = [];
  for (const [delay, name] of [[30, "c"], [10, "a"], [30, "d"], [20, "b"]] as const) {
    schedule.after(delay, () => called.push(`${name} at ${clock.elapsed()}`));
  }

  while (clock.step(clock.now() + 100));

  assert.deepEqual(called, ["a at 10", "b at 20", "c at 30", "d at 30"]);
});

Deno.test("a schedule uses one timer for 10,000 callbacks, and none without callbacks", () => {
  const timers = new CountedTimers();
  const schedule = new Schedule(timers);

  const handles = Array.from({ length: 10_000 }, (_, i) => schedule.after(10_000 - i, () => {}));
  assert.equal(timers.pending, 1);

  for (const handle of handles) handle[Symbol.dispose]();
  assert.equal(timers.pending, 0);
});

Deno.test("a callback is not called if another callback with the same due time cancels it", () => {
  const clock = new VirtualClock();
  const schedule = new Schedule(clock);
  let isCalled = false;
  schedule.after(10, () => canceled[Symbol.dispose]());
  const canceled = schedule.after(10, () => isCalled = true);

  clock.step(clock.now() + 10);

  assert.equal(isCalled, false);
});

Deno.test("a callback that adds itself again without a delay lets other timers of the clock run", () => {
  const clock = new VirtualClock();
  const schedule = new Schedule(clock);
  let isOtherCalled = false;
  const again = () => void schedule.after(0, again);
  schedule.after(0, again);
  clock.after(0, () => isOtherCalled = true);

  for (let i = 0; i < 3; i++) clock.step(clock.now());

  assert(isOtherCalled);
});

Deno.test("a disposed schedule calls no callback", () => {
  const clock = new VirtualClock();
  {
    using schedule = new Schedule(clock);
    schedule.after(10, () => assert.fail("called after disposal"));
  }

  assert.equal(clock.nextDue, undefined);
});

Deno.test("a schedule that a callback disposes calls no other callback", () => {
  const clock = new VirtualClock();
  const schedule = new Schedule(clock);
  schedule.after(10, () => schedule[Symbol.dispose]());
  schedule.after(10, () => assert.fail("called after disposal"));

  clock.step(clock.now() + 10);
});

/** A clock whose time never advances, and which counts its timers. */
class CountedTimers implements Clock {
  pending = 0;

  now(): number {
    return 0;
  }

  elapsed(): number {
    return 0;
  }

  after(): Disposable {
    this.pending++;
    return { [Symbol.dispose]: () => void this.pending-- };
  }
}
