import assert from "node:assert/strict";
import fc from "../../tests/fixtures/property.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { BURST, type Effect, effectOf, LONGEST_PAUSE, LONGEST_PAUSE_OF_PROGRESS, LoopLimit } from "./loop_limit.ts";

Deno.test("LoopLimit imposes no delay before the burst, then a tenth of the loop's duration, up to the longest pause", () => {
  const { reconcile } = setUp();
  const pauses = Array.from({ length: 300 }, () => reconcile("repeat"));
  assert.deepEqual(pauses.slice(0, BURST - 1).filter((pause) => pause > 0), []);
  const delays = pauses.slice(BURST - 1);
  assert.deepEqual(delays.slice(0, 10), Array(10).fill(100));
  assert(delays.every((delay, i) => i === 0 || delay >= delays[i - 1]!), "a delay is shorter than the one before");
  let before = 0;
  for (const delay of delays) {
    assert(delay <= Math.max(100, before / 10) && delay <= LONGEST_PAUSE, `${delay} ms after ${before} ms`);
    before += delay;
  }
  assert.equal(delays.at(-1), LONGEST_PAUSE);
});

Deno.test("LoopLimit delays reconciles that write something new by at most a second", () => {
  const { reconcile } = setUp();
  const pauses = Array.from({ length: 300 }, () => reconcile("progress"));
  assert.equal(Math.max(...pauses), LONGEST_PAUSE_OF_PROGRESS);
});

Deno.test("LoopLimit does not count reconciles without an effect", () => {
  const { limit, reconcile } = setUp();
  for (let i = 0; i < 1000; i++) assert.equal(reconcile("none"), 0);
  assert.equal(limit.size, 0);
});

Deno.test("LoopLimit never delays an object that is reconciled once a second", () => {
  const { clock, reconcile } = setUp();
  for (let i = 0; i < 10_000; i++) {
    assert.equal(reconcile("repeat"), 0);
    clock.step(clock.now() + 1000);
  }
});

Deno.test("LoopLimit stops delaying an object that was not reconciled for ten seconds", () => {
  const { clock, limit, reconcile } = setUp();
  for (let i = 0; i < 300; i++) reconcile("repeat");
  limit.ended("a", "repeat");
  assert.equal(limit.pauseFor("a"), LONGEST_PAUSE);
  clock.step(clock.now() + LONGEST_PAUSE + 11_000);
  assert.equal(limit.pauseFor("a"), 0);
});

Deno.test("LoopLimit does not leak during an imposed delay", () => {
  const { limit, reconcile } = setUp();
  for (let i = 0; i < 300; i++) reconcile("repeat");
  // Each reconcile was requested immediately and delayed by 30 s, so the loop continues.
  limit.ended("a", "repeat");
  assert.equal(limit.pauseFor("a"), LONGEST_PAUSE);
});

Deno.test("LoopLimit does not shorten a longer delay of the reconciler", () => {
  const { limit, reconcile } = setUp();
  for (let i = 0; i < 300; i++) reconcile("repeat");
  limit.ended("a", "repeat");
  assert.equal(limit.pauseFor("a", 60_000), 0);
  assert.equal(limit.pauseFor("a", 1), LONGEST_PAUSE);
});

Deno.test("LoopLimit starts over after a spec change, unless the spec itself changes repeatedly", () => {
  const { limit, reconcile } = setUp();
  for (let i = 0; i < 300; i++) reconcile("repeat");
  assert(limit.reset("a"));
  assert.equal(limit.pauseFor("a"), 0);
  const pauses = Array.from({ length: BURST - 1 }, () => reconcile("repeat"));
  assert.deepEqual(pauses.filter((pause) => pause > 0), []);

  const resets = Array.from({ length: 200 }, () => {
    reconcile("repeat");
    return limit.reset("a");
  });
  assert(resets.slice(0, 20).every((isReset) => isReset), "20 spec changes in a row");
  assert.equal(resets.at(-1), false);
  assert(reconcile("repeat") > 0);
});

Deno.test("LoopLimit traces only objects that are about to be delayed", () => {
  const { limit, reconcile } = setUp();
  limit.ended("quiet", "repeat");
  for (let i = 0; i < BURST / 2; i++) {
    assert.equal(limit.traceOf("a"), undefined);
    reconcile("repeat");
  }
  const trace = limit.traceOf("a");
  assert.notEqual(trace, undefined);
  reconcile("repeat");
  assert.equal(limit.traceOf("a"), trace);
  assert.equal(limit.traceOf("quiet"), undefined);
});

Deno.test("LoopLimit stores only objects that were reconciled recently", () => {
  const { clock, limit } = setUp();
  let most = 0;
  for (let i = 0; i < 20_000; i++) {
    limit.ended(`n-${i}`, "progress");
    if (i % 500 === 0) limit.ended("busy", "progress");
    most = Math.max(most, limit.size);
    clock.step(clock.now() + 2);
  }
  // 500 objects per second, each of which leaks within a second.
  assert(most < 1200, `${most} of 20,000`);
});

Deno.test("LoopLimit removes an object that was deleted", () => {
  const { limit, reconcile } = setUp();
  for (let i = 0; i < 300; i++) reconcile("repeat");
  limit.forget("a");
  assert.equal(limit.pauseFor("a"), 0);
  assert.equal(limit.size, 0);
});

Deno.test("LoopLimit allows the burst and then at most eleven reconciles a second, for any intervals between reconciles", () => {
  fc.assert(fc.property(fc.array(fc.nat(900), { minLength: 100, maxLength: 400 }), (gaps) => {
    const { clock, limit } = setUp();
    for (const [i, gap] of gaps.entries()) {
      limit.ended("a", "repeat");
      clock.step(clock.now() + gap);
      const wait = limit.pauseFor("a");
      assert(wait <= LONGEST_PAUSE);
      clock.step(clock.now() + wait);
      // One leaks per second, and no pause is shorter than 100 ms.
      assert(i <= BURST + 11 * clock.now() / 1000);
    }
  }));
});

const EFFECTS: readonly (readonly [Parameters<typeof effectOf>[0], Effect])[] = [
  [{ wrote: false, repeated: false, after: undefined }, "none"],
  [{ wrote: false, repeated: false, after: 1000 }, "none"],
  [{ wrote: false, repeated: false, after: 999 }, "progress"],
  [{ wrote: false, repeated: false, after: 0 }, "repeat"],
  [{ wrote: true, repeated: false, after: undefined }, "progress"],
  [{ wrote: true, repeated: false, after: 600_000 }, "progress"],
  [{ wrote: true, repeated: true, after: undefined }, "repeat"],
];

for (const [reconciled, effect] of EFFECTS) {
  Deno.test(`effectOf returns ${effect} for ${JSON.stringify(reconciled)}`, () => {
    assert.equal(effectOf(reconciled), effect);
  });
}

function setUp() {
  const clock = new VirtualClock(0);
  const limit = new LoopLimit<object>({ clock, trace: () => ({}), onPause: () => {} });
  return {
    clock,
    limit,
    /** Ends a reconcile, requests another one immediately, and waits for the imposed delay. */
    reconcile(effect: Effect): number {
      limit.ended("a", effect);
      const pause = limit.pauseFor("a");
      clock.step(clock.now() + pause);
      return pause;
    },
  };
}
