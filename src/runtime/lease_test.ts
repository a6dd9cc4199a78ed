import assert from "node:assert/strict";
import {
  checkLeaseTimes,
  type LeaseSpec,
  type LeaseTimes,
  mayTake,
  mustDefer,
  mustYield,
  nextTry,
  releasedLease,
  renewedLease,
} from "./lease.ts";

const TIMES: LeaseTimes = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 };
const NOW = Date.UTC(2030, 0, 1);
const LATER = NOW + 4000;

const CANDIDATES: readonly { name: string; lease: LeaseSpec; unchanged: number; expected: boolean }[] = [
  { name: "a lease without a holder", lease: {}, unchanged: 0, expected: true },
  { name: "a released lease", lease: { holderIdentity: null }, unchanged: 0, expected: true },
  { name: "its own lease", lease: { holderIdentity: "me", leaseDurationSeconds: 15 }, unchanged: 0, expected: true },
  {
    name: "a lease that another process renews",
    lease: { holderIdentity: "b", leaseDurationSeconds: 15 },
    unchanged: 14_999,
    expected: false,
  },
  {
    name: "a lease that its holder did not renew in time",
    lease: { holderIdentity: "b", leaseDurationSeconds: 15 },
    unchanged: 15_000,
    expected: true,
  },
];

for (const { name, lease, unchanged, expected } of CANDIDATES) {
  Deno.test(`mayTake returns ${expected} for ${name}`, () => {
    assert.equal(mayTake(lease, unchanged, "me"), expected);
  });
}

const REQUESTS: readonly {
  name: string;
  request: { by: string; priority: number };
  unchanged?: number;
  defers: boolean;
  yields: boolean;
}[] = [
  { name: "a higher priority", request: { by: "b", priority: 100 }, defers: true, yields: true },
  { name: "the same priority", request: { by: "b", priority: 50 }, defers: false, yields: false },
  { name: "a lower priority", request: { by: "b", priority: 1 }, defers: false, yields: false },
  { name: "its own identity", request: { by: "me", priority: 100 }, defers: false, yields: false },
  {
    name: "a higher priority that was not renewed in time",
    request: { by: "b", priority: 100 },
    unchanged: 15_000,
    defers: false,
    yields: true,
  },
];

for (const { name, request, unchanged = 14_999, defers, yields } of REQUESTS) {
  Deno.test(`a candidate ${defers ? "defers" : "does not defer"} to a request with ${name}`, () => {
    const self = { identity: "me", priority: 50 };
    const asked = { ...request, renewed: "2030-01-01T00:00:00Z" };
    assert.equal(mustDefer(asked, unchanged, 15_000, self), defers);
    assert.equal(mustYield(asked, self), yields);
    assert.deepEqual([mustDefer(undefined, 0, 15_000, self), mustYield(undefined, self)], [false, false]);
  });
}

Deno.test("renewedLease keeps acquireTime for the same holder, and counts a transition to another holder", () => {
  const first = renewedLease(undefined, "a", TIMES.leaseDuration, NOW);
  assert.deepEqual(first, {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "2030-01-01T00:00:00.000000Z",
    renewTime: "2030-01-01T00:00:00.000000Z",
    leaseTransitions: 0,
  });
  const renewed = renewedLease(first, "a", TIMES.leaseDuration, LATER);
  assert.deepEqual(renewed, { ...first, renewTime: "2030-01-01T00:00:04.000000Z" });
  const acquired = renewedLease(renewed, "b", TIMES.leaseDuration, LATER);
  assert.deepEqual([acquired.holderIdentity, acquired.leaseTransitions, acquired.acquireTime], [
    "b",
    1,
    "2030-01-01T00:00:04.000000Z",
  ]);
});

Deno.test("releasedLease returns a lease that the next candidate may take at once", () => {
  const spec = { ...renewedLease(undefined, "a", TIMES.leaseDuration, NOW), ...releasedLease(LATER) };
  assert.equal(spec.leaseDurationSeconds, 1);
  assert(mayTake(spec, 0, "b"));
});

Deno.test("nextTry returns a delay of 1 to 2.2 periods", () => {
  assert.deepEqual([nextTry(2000, 0), nextTry(2000, 1)], [2000, 4400]);
});

const INVALID_TIMES: readonly { name: string; times: Partial<LeaseTimes>; message: RegExp }[] = [
  {
    name: "a deadline as long as the lease",
    times: { renewDeadline: 15_000 },
    message: /leaseDuration must exceed renewDeadline/,
  },
  {
    name: "a period without time for a second attempt",
    times: { retryPeriod: 9000 },
    message: /must exceed 1\.2 times retryPeriod/,
  },
  { name: "a lease duration of zero", times: { leaseDuration: 0 }, message: /leaseDuration must be at least 1 s/ },
  { name: "no delay between attempts", times: { retryPeriod: 0 }, message: /retryPeriod positive/ },
];

for (const { name, times, message } of INVALID_TIMES) {
  Deno.test(`checkLeaseTimes rejects ${name}`, () => {
    checkLeaseTimes(TIMES);
    assert.throws(() => checkLeaseTimes({ ...TIMES, ...times }), { name: "RangeError", message });
  });
}
