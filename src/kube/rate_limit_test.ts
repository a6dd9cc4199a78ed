import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { VirtualClock } from "../base/virtual_clock.ts";
import { ConfigMap, Lease, SelfSubjectAccessReview } from "../kinds/mod.ts";
import { Client } from "./client.ts";
import { RateLimit } from "./rate_limit.ts";

const PODS = "/api/v1/pods";

Deno.test("RateLimit allows a burst at once, and then one request per interval, in order", async () => {
  const { take, passed, advance } = bucket({ qps: 5, burst: 3 });
  for (let i = 0; i < 6; i++) take(`${i}`);
  await advance(0);
  assert.deepEqual(passed, ["0", "1", "2"]);
  await advance(199);
  assert.equal(passed.length, 3);
  await advance(1);
  assert.deepEqual(passed.slice(3), ["3"]);
  await advance(400);
  assert.deepEqual(passed.slice(4), ["4", "5"]);
});

Deno.test("RateLimit never sends more than the burst and the rate allow, however requests arrive", async () => {
  const { take, passed, advance } = bucket({ qps: 10, burst: 5 });
  for (let tick = 0; tick < 100; tick++) {
    for (let i = 0; i < tick % 4; i++) take(`${tick}.${i}`);
    await advance(50);
    assert(passed.length <= 5 + 10 * (tick + 1) * 0.05, `${passed.length} after ${(tick + 1) * 50} ms`);
  }
  assert(passed.length >= 50, `${passed.length} in 5 s`);
});

Deno.test("RateLimit refills to the burst after a pause, but not beyond", async () => {
  const { take, passed, advance } = bucket({ qps: 1, burst: 2 });
  for (let i = 0; i < 2; i++) take("first");
  await advance(3_600_000);
  for (let i = 0; i < 5; i++) take("second");
  await advance(0);
  assert.deepEqual(passed, ["first", "first", "second", "second"]);
});

Deno.test("RateLimit defaults to a burst of twice the rate, and of at least one", async () => {
  for (const [qps, burst] of [[5, 10], [0.1, 1]] as const) {
    const { take, passed, advance } = bucket({ qps });
    for (let i = 0; i < 20; i++) take("one");
    await advance(0);
    assert.equal(passed.length, burst);
  }
});

Deno.test("RateLimit does not delay Leases and access reviews, and does not count them", async () => {
  const { take, passed, advance } = bucket({ qps: 1, burst: 1 });
  take("first");
  take("second");
  for (const group of ["coordination", "authorization", "authentication"]) {
    for (let i = 0; i < 10; i++) take(group, `/apis/${group}.k8s.io/v1/any`);
  }
  await advance(0);
  assert.equal(passed.length, 31);
  assert(!passed.includes("second"));
  await advance(1000);
  assert.equal(passed.at(-1), "second");
});

Deno.test("RateLimit gives back the token of a request that is aborted while it waits", async () => {
  const clock = new VirtualClock();
  const limit = new RateLimit({ qps: 1, burst: 1, clock });
  await limit.take(PODS);
  const abort = new AbortController();
  const waiting = limit.take(PODS, abort.signal);
  abort.abort(new Error("enough"));
  await assert.rejects(waiting, { message: "enough" });
  assert.equal(clock.nextDue, undefined);
  clock.step(clock.now() + 1000);
  await limit.take(PODS);
  await assert.rejects(limit.take(PODS, AbortSignal.abort(new Error("before"))), { message: "before" });
});

Deno.test("RateLimit reports each delay", async () => {
  const delays: number[] = [];
  const { take, advance } = bucket({ qps: 4, burst: 1, onDelay: (delay) => delays.push(delay) });
  for (let i = 0; i < 4; i++) take("one");
  await advance(0);
  assert.deepEqual(delays, [250, 500, 750]);
});

for (
  const { name, given } of [
    { name: "a rate of zero", given: { qps: 0 } },
    { name: "a negative rate", given: { qps: -1 } },
    { name: "a rate of NaN", given: { qps: NaN } },
    { name: "an infinite rate", given: { qps: Infinity } },
    { name: "a burst of zero", given: { qps: 1, burst: 0 } },
    { name: "a fractional burst", given: { qps: 1, burst: 1.5 } },
  ]
) {
  Deno.test(`RateLimit rejects ${name}`, () => {
    assert.throws(() => new RateLimit({ ...given, clock: new VirtualClock() }), RangeError);
  });
}

Deno.test("Client delays all requests except those for Leases and access reviews", async () => {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const fetch = (request: Request): Promise<Response> => {
    sent.push(new URL(request.url).pathname.split("/").at(-1)!);
    return Promise.resolve(Response.json({ metadata: {}, items: [] }));
  };
  let isLeading = true;
  const client = new Client({ url: "http://cluster", fetch, close() {} }, {
    clock,
    rateLimit: new RateLimit({ qps: 1, burst: 1, clock }),
    fence: () => assert(isLeading, "not leading"),
  });
  const place = { namespace: "shop" };
  await client.list(ConfigMap);
  const watching = client.watch(ConfigMap).next();
  const writing = client.patch(ConfigMap, "late", {}, place);
  writing.catch(() => undefined);
  await client.get(Lease, "lease", place);
  await client.create(SelfSubjectAccessReview, { spec: {} });
  await turns();
  assert.deepEqual(sent, ["configmaps", "lease", "selfsubjectaccessreviews"]);
  assert.equal(client.waiting, 2);

  clock.step(clock.now() + 1000);
  await watching;
  assert.deepEqual(sent.slice(3), ["configmaps"]);

  isLeading = false;
  clock.step(clock.now() + 1000);
  await assert.rejects(writing, { message: "not leading" });
  assert.equal(sent.length, 4, "a delayed write passed its fence");
  assert.equal(client.waiting, 0);
});

/** Returns a rate limit with its own clock, and the requests that it allowed. */
function bucket(options: Omit<ConstructorParameters<typeof RateLimit>[0], "clock">) {
  const clock = new VirtualClock();
  const limit = new RateLimit({ ...options, clock });
  const passed: string[] = [];
  return {
    passed,
    take: (name: string, path = PODS) => void limit.take(path).then(() => passed.push(name)),
    async advance(milliseconds: number) {
      const end = clock.now() + milliseconds;
      do await turns(); while (clock.step(end));
      await turns();
    },
  };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
