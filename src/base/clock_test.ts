import assert from "node:assert/strict";
import { sleep, systemClock } from "./clock.ts";
import { VirtualClock } from "./virtual_clock.ts";

Deno.test("sleep resolves after the delay and not before", async () => {
  const clock = new VirtualClock();
  let isOver = false;
  const slept = sleep(clock, 100).then(() => isOver = true);

  clock.step(clock.now() + 99);
  await Promise.resolve();
  assert.equal(isOver, false);

  clock.step(clock.now() + 1);
  await slept;
  assert.equal(isOver, true);
});

Deno.test("sleep rejects with the signal's reason and cancels its timer", async () => {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const slept = sleep(clock, 100, abort.signal);
  abort.abort(new Error("stop"));
  await assert.rejects(slept, { message: "stop" });
  assert.equal(clock.nextDue, undefined);
});

Deno.test("sleep rejects at once if the signal is already aborted", async () => {
  const clock = new VirtualClock();
  await assert.rejects(sleep(clock, 100, AbortSignal.abort(new Error("stopped before"))), {
    message: "stopped before",
  });
  assert.equal(clock.nextDue, undefined);
});

Deno.test("systemClock does not fire early for a delay longer than 32 bits", async () => {
  let calls = 0;
  {
    using _timer = systemClock.after(2 ** 31 + 1000, () => calls++);
    // With an overflow, setTimeout would fire at once, before this later timer.
    await new Promise<void>((resolve) => systemClock.after(0, resolve));
    await new Promise<void>((resolve) => systemClock.after(1, resolve));
  }
  assert.equal(calls, 0);
});

Deno.test("systemClock keeps waiting for a month when the time of day is set forward by a year", () => {
  const [realNow, realTimeout] = [Date.now, globalThis.setTimeout];
  const delays: number[] = [];
  const callbacks: (() => void)[] = [];
  let calls = 0;
  try {
    globalThis.setTimeout = ((callback: () => void, delay: number) => {
      delays.push(delay);
      return callbacks.push(callback);
    }) as unknown as typeof setTimeout;
    const timer = systemClock.after(2 ** 31 + 60_000, () => calls++);
    Date.now = () => realNow() + 365 * 86_400_000;
    callbacks[0]!();
    assert.deepEqual([calls, delays[0]], [0, 2 ** 31 - 1]);
    assert(delays[1]! > 2 ** 31 - 60_000, "no time has passed");
    timer[Symbol.dispose]();
  } finally {
    [Date.now, globalThis.setTimeout] = [realNow, realTimeout];
  }
});

Deno.test("systemClock cancels a disposed timer, and disposing twice has no effect", async () => {
  let calls = 0;
  const timer = systemClock.after(0, () => calls++);
  timer[Symbol.dispose]();
  timer[Symbol.dispose]();
  await new Promise<void>((resolve) => systemClock.after(1, resolve));
  assert.equal(calls, 0);
});
