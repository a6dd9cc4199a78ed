import assert from "node:assert/strict";
import fc from "fast-check";
import { cronSchedule } from "./cron.ts";
import { dueTimer, timerInterval, type TimerSchedule, type TimerState } from "./timer_schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOON = Date.UTC(2030, 0, 1, 12);

const everyHour: TimerSchedule = { recurrence: { interval: HOUR, fixedRate: false } };
const atFixedRate: TimerSchedule = { recurrence: { interval: HOUR, fixedRate: true } };
const nightly: TimerSchedule = { recurrence: { cron: cronSchedule("0 3 * * *") } };

const newObject: TimerState = {
  uid: "0a1b2c3d",
  createdAt: NOON,
  startedAt: NOON,
  isFoundAtStart: false,
  changedAt: NOON,
};
const oldObject: TimerState = { ...newObject, createdAt: NOON - 100 * HOUR, isFoundAtStart: true };

const cases: { name: string; schedule: TimerSchedule; state: TimerState; due: [dueAt: number, missed?: number] }[] = [
  { name: "a new object is due at once", schedule: everyHour, state: newObject, due: [NOON] },
  {
    name: "a new object is due after its initial delay",
    schedule: everyHour,
    state: { ...newObject, initialDelay: MINUTE },
    due: [NOON + MINUTE],
  },
  {
    name: "an interval counts from the end of a call",
    schedule: everyHour,
    state: { ...newObject, last: { tick: NOON, endedAt: NOON + 5 * MINUTE } },
    due: [NOON + HOUR + 5 * MINUTE],
  },
  {
    name: "a fixed rate counts from the time at which a call was due",
    schedule: atFixedRate,
    state: { ...newObject, last: { tick: NOON, endedAt: NOON + 5 * MINUTE } },
    due: [NOON + HOUR, 0],
  },
  {
    name: "a fixed rate skips and counts the times that pass during a call",
    schedule: atFixedRate,
    state: { ...newObject, last: { tick: NOON, endedAt: NOON + 2 * HOUR + 1 } },
    due: [NOON + 3 * HOUR, 2],
  },
  {
    name: "a fixed rate skips no time that begins when a call ends",
    schedule: atFixedRate,
    state: { ...newObject, last: { tick: NOON, endedAt: NOON + 2 * HOUR } },
    due: [NOON + 2 * HOUR, 1],
  },
  {
    name: "an idle time delays a call that is due",
    schedule: { ...everyHour, idle: 10_000 },
    state: { ...newObject, changedAt: NOON - 1000 },
    due: [NOON + 9_000],
  },
  {
    name: "an idle time that has passed delays no call",
    schedule: { ...everyHour, idle: 10_000 },
    state: { ...newObject, changedAt: NOON - HOUR, last: { tick: NOON, endedAt: NOON } },
    due: [NOON + HOUR],
  },
  { name: "cron is due at its next time", schedule: nightly, state: newObject, due: [NOON + 15 * HOUR] },
  {
    name: "cron is due at its next time after the initial delay",
    schedule: nightly,
    state: { ...newObject, initialDelay: 15 * HOUR + 1 },
    due: [NOON + 39 * HOUR],
  },
  {
    name: "cron is not due again in the same minute",
    schedule: nightly,
    state: { ...newObject, last: { tick: NOON + 15 * HOUR, endedAt: NOON + 15 * HOUR } },
    due: [NOON + 39 * HOUR],
  },
  {
    name: "cron skips and counts the times that pass during a call",
    schedule: nightly,
    state: { ...newObject, last: { tick: NOON + 15 * HOUR, endedAt: NOON + 64 * HOUR } },
    due: [NOON + 87 * HOUR, 2],
  },
  {
    name: "cron continues in step if an idle time delayed a call",
    schedule: { ...nightly, idle: MINUTE },
    state: {
      ...newObject,
      changedAt: NOON + 15 * HOUR,
      last: { tick: NOON + 15 * HOUR, endedAt: NOON + 15 * HOUR + 2 * MINUTE },
    },
    due: [NOON + 39 * HOUR],
  },
  {
    name: "cron skips a time while no process ran",
    schedule: nightly,
    state: { ...oldObject, lastRenewedAt: NOON - 10 * HOUR },
    due: [NOON + 15 * HOUR],
  },
  {
    name: "cron runs a time while no process ran once",
    schedule: { ...nightly, missedRuns: "runOnce" },
    state: { ...oldObject, lastRenewedAt: NOON - 40 * HOUR },
    due: [NOON],
  },
  {
    name: "cron runs no missed time if the process was down between two times",
    schedule: { ...nightly, missedRuns: "runOnce" },
    state: { ...oldObject, lastRenewedAt: NOON - 8 * HOUR },
    due: [NOON + 15 * HOUR],
  },
  {
    name: "a new object has no missed time",
    schedule: { ...nightly, missedRuns: "runOnce" },
    state: { ...newObject, lastRenewedAt: NOON - 40 * HOUR },
    due: [NOON + 15 * HOUR],
  },
  {
    name: "an interval that passed while no process ran is due at the start",
    schedule: { ...everyHour, missedRuns: "runOnce" },
    state: { ...oldObject, lastRenewedAt: NOON - 2 * HOUR },
    due: [NOON],
  },
  {
    name: "a failed call is retried before the next time",
    schedule: nightly,
    state: {
      ...newObject,
      last: { tick: NOON + 15 * HOUR, endedAt: NOON + 16 * HOUR, retryAt: NOON + 16 * HOUR + 5 },
    },
    due: [NOON + 16 * HOUR + 5],
  },
  {
    name: "the schedule continues if a retry would be later",
    schedule: everyHour,
    state: { ...newObject, last: { tick: NOON, endedAt: NOON, retryAt: NOON + 2 * HOUR } },
    due: [NOON + HOUR],
  },
];

for (const { name, schedule, state, due: [dueAt, missed = 0] } of cases) {
  Deno.test(`timer: ${name}`, () => {
    const due = dueTimer(schedule, state);

    assert.deepEqual([new Date(due.dueAt), due.missed], [new Date(dueAt), missed]);
  });
}

Deno.test("timer: a retry keeps the regular time of the failed call", () => {
  const last = { tick: NOON, endedAt: NOON + MINUTE, retryAt: NOON + 2 * MINUTE };

  assert.equal(dueTimer(atFixedRate, { ...newObject, last }).tick, NOON);
});

Deno.test("timer: an object that was created shortly before a restart keeps its initial delay", () => {
  const state = { ...newObject, createdAt: NOON - MINUTE, isFoundAtStart: true, initialDelay: 5 * HOUR };

  const { dueAt } = dueTimer(everyHour, state);

  assert(dueAt >= NOON - MINUTE + 5 * HOUR && dueAt < NOON - MINUTE + 6 * HOUR, new Date(dueAt).toISOString());
});

Deno.test("timer: the calls for many objects are spread over the interval after a restart", () => {
  const perMinute = new Array<number>(60).fill(0);
  for (let i = 0; i < 6000; i++) {
    const { dueAt } = dueTimer(everyHour, { ...oldObject, uid: crypto.randomUUID() });
    assert(dueAt >= NOON && dueAt < NOON + HOUR);
    perMinute[Math.floor((dueAt - NOON) / MINUTE)]!++;
  }

  // 100 are expected in each minute; 160 are six standard deviations.
  assert(Math.max(...perMinute) < 160, `${perMinute}`);
});

Deno.test("timer: frequent restarts neither delay nor repeat the call for an object", () => {
  fc.assert(
    fc.property(
      fc.uuid(),
      fc.array(fc.integer({ min: 1, max: 3 * HOUR }), { minLength: 1, maxLength: 30 }),
      (uid, terms) => {
        const calls: number[] = [];
        let startedAt = NOON;
        for (const length of terms) {
          const { dueAt } = dueTimer(everyHour, { ...oldObject, uid, startedAt });
          if (dueAt < startedAt + length) calls.push(dueAt);
          startedAt += length;
        }
        const place = dueTimer(everyHour, { ...oldObject, uid }).dueAt;
        for (const call of calls) assert.equal((call - place) % HOUR, 0);
        assert.equal(new Set(calls).size, calls.length);
        // A term of an hour or more has a call.
        assert(calls.length >= terms.filter((length) => length >= HOUR).length);
      },
    ),
  );
});

Deno.test("timer: calls never overlap, and regular times are called or counted as missed", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 * HOUR }), { minLength: 1 }), (durations) => {
      let state = newObject;
      let [end, missed] = [NOON, 0];
      for (const duration of durations) {
        const due = dueTimer(atFixedRate, state);
        assert(due.dueAt >= end);
        end = Math.max(end, due.dueAt) + duration;
        missed += due.missed;
        state = { ...newObject, last: { tick: due.tick, endedAt: end } };
      }
      const last = dueTimer(atFixedRate, state);
      assert.equal((last.tick - NOON) / HOUR, durations.length + missed + last.missed);
    }),
  );
});

Deno.test("timer: an interval of zero is rejected", () => {
  assert.throws(() => timerInterval("0s"), { name: "RangeError" });
  assert.throws(() => timerInterval("soon" as "1s"), { name: "SyntaxError" });
  assert.equal(timerInterval("1m"), MINUTE);
});
