import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { VirtualClock } from "../base/virtual_clock.ts";
import { ConfigMap, Namespace } from "../kinds/mod.ts";
import type { Connection } from "../kube/connection.ts";
import { controller } from "../parts/controller.ts";
import { operator } from "./operator.ts";
import { type Running, startOperator } from "./running.ts";

Deno.test("startOperator stops at once if its signal is already aborted, even without a cluster", async () => {
  const namespaces = controller(Namespace, { reconcile() {} });
  const op = operator({ name: "test", parts: { namespaces } });
  const running = startOperator(op, { connection: silent(), clock: new VirtualClock(), signal: AbortSignal.abort() });
  assert.equal(await endsSoon(running), true);
});

Deno.test("startOperator rejects an invalid selector or namespace before it sends a request", async () => {
  let sent = 0;
  const connection = { ...silent(), fetch: () => Promise.reject(new Error(`request ${++sent}`)) };
  const op = operator({ name: "test", parts: { maps: controller(ConfigMap, { reconcile() {} }) } });
  await assert.rejects(op.run({ connection, clock: new VirtualClock(), selector: "app in" }), {
    name: "SettingError",
    message:
      'Invalid setting "selector" in the options of run(): must be a label selector, such as app=web or tier in (front,back),!legacy, got "app in": ' +
      "unable to parse requirement: found '' expected: '('.",
  });
  await assert.rejects(op.run({ connection, clock: new VirtualClock(), namespaces: ["shop-*"] }), {
    message:
      /^Invalid setting "namespaces" in the options of run\(\): must be names of namespaces, got "shop-\*"\. Patterns are not supported/,
  });
  assert.equal(sent, 0);
});

Deno.test("startOperator stops when its signal is aborted during the first list request", async () => {
  const namespaces = controller(Namespace, { reconcile() {} });
  const op = operator({ name: "test", parts: { namespaces } });
  const stop = new AbortController();
  const running = startOperator(op, { connection: silent(), clock: new VirtualClock(), signal: stop.signal });
  assert.equal(await endsSoon(running), false);
  stop.abort();
  assert.equal(await endsSoon(running), true);
});

Deno.test("startOperator waits for running reconciles and aborts them at the deadline", async () => {
  let signal: AbortSignal | undefined;
  const namespaces = controller(Namespace, {
    reconcile: (_, context) => {
      signal = context.signal;
      return new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
    },
  });
  const { running, clock, stop } = start(
    operator({ name: "test", parts: { namespaces }, gracefulShutdownTimeout: "5s" }),
  );
  await turns();
  stop.abort();
  assert.equal(await endsSoon(running), false);
  assert.equal(signal?.aborted, false);

  clock.step(clock.now() + 4999);
  assert.equal(await endsSoon(running), false);
  clock.step(clock.now() + 1);
  assert.equal(await endsSoon(running), true);
  assert.equal(signal?.aborted, true);
});

Deno.test("startOperator does not wait forever for a reconciler that ignores its signal", async () => {
  const namespaces = controller(Namespace, { reconcile: () => new Promise(() => {}) });
  const { running, clock, stop } = start(
    operator({ name: "test", parts: { namespaces }, gracefulShutdownTimeout: "5s" }),
  );
  await turns();
  stop.abort();
  await turns();
  while (clock.step(clock.now() + 10_000)) await turns();
  assert.equal(await endsSoon(running), true);
});

Deno.test("startOperator sends no request before its services exist, and stops without them at the deadline", async () => {
  const services = Promise.withResolvers<AsyncDisposable>();
  const closed: string[] = [];
  const reconciled: string[] = [];
  const namespaces = controller(Namespace, { reconcile: ({ metadata }) => void reconciled.push(metadata.name) });
  const options = { parts: { namespaces }, gracefulShutdownTimeout: "5s", services: () => services.promise } as const;
  const { running, clock, stop, requests } = start(operator({ name: "test", ...options }), ["one"], {
    checkAccess: true,
  });
  await turns();
  assert.deepEqual(running.readiness(), [{ name: "operator", isReady: false, message: "creating services" }]);
  assert.deepEqual(running.busy, ["the operator's services are being created"]);

  stop.abort();
  assert.equal(await endsSoon(running), false);
  clock.step(clock.now() + 5000);
  assert.equal(await endsSoon(running), true);
  services.resolve({ [Symbol.asyncDispose]: () => Promise.resolve(void closed.push("closed")) });
  await turns();
  assert.deepEqual([reconciled, closed], [[], ["closed"]], "services that are created late are closed at once");
  assert.deepEqual(requests, []);
});

Deno.test("startOperator fills its caches and reconciles after its services exist", async () => {
  const services = Promise.withResolvers<string>();
  const reconciled: unknown[] = [];
  const namespaces = controller(Namespace, { reconcile: (_, { services }) => void reconciled.push(services) });
  const op = operator({ name: "test", parts: { namespaces }, services: () => services.promise });
  const { running, requests } = start(op);
  await turns();
  assert.deepEqual([requests, reconciled], [[], []]);

  services.resolve("database");
  await turns();
  assert.deepEqual([requests, reconciled], [["/api/v1/namespaces"], ["database"]]);
  assert(running.readiness().every(({ isReady }) => isReady));
  await running[Symbol.asyncDispose]();
});

Deno.test("startOperator opens its connection, creates its services, and closes the connection last", async () => {
  const opening = Promise.withResolvers<void>();
  const steps: string[] = [];
  const op = operator({
    name: "test",
    parts: { namespaces: controller(Namespace, { reconcile() {} }) },
    services: () => {
      steps.push("services created");
      return { [Symbol.dispose]: () => void steps.push("services closed") };
    },
  });
  const connect = async () => {
    await opening.promise;
    steps.push("connected");
    return { ...silent(), close: () => void steps.push("connection closed") };
  };
  const running = startOperator(op, { connection: connect, clock: new VirtualClock(), checkAccess: false });
  await turns();
  assert.deepEqual(running.readiness(), [{ name: "operator", isReady: false, message: "connecting" }]);
  assert.deepEqual([steps, running.isLeading, running.webhooks], [[], false, undefined]);
  assert.throws(() => running.connection, { message: /^Operator "test" is not connected yet\. Await "ready"/ });

  opening.resolve();
  await turns();
  assert.deepEqual(steps, ["connected", "services created"]);
  assert.equal(running.connection.url, "http://cluster");
  await running[Symbol.asyncDispose]();
  assert.deepEqual(steps, ["connected", "services created", "services closed", "connection closed"]);
});

for (
  const { name, isInPod, options, isElected } of [
    { name: "in a pod", isInPod: true, options: {}, isElected: true },
    { name: "outside a pod", isInPod: false, options: {}, isElected: false },
    {
      name: "in a pod with `leaderElection: false`",
      isInPod: true,
      options: { leaderElection: false },
      isElected: false,
    },
    { name: "in a pod without controllers", isInPod: true, options: { skipControllers: true }, isElected: false },
  ]
) {
  Deno.test(`startOperator ${isElected ? "elects a leader" : "elects no leader"} ${name}`, async () => {
    const op = operator({ name: "test", parts: { namespaces: controller(Namespace, { reconcile() {} }) } });
    const connection = { ...silent(), isInPod };
    const running = startOperator(op, { connection, clock: new VirtualClock(), checkAccess: false, ...options });
    await turns();
    assert.equal(running.readiness().some(({ name }) => name === "leadership"), isElected);
    assert.equal(running.isLeading, !isElected);
    await running.stop();
  });
}

Deno.test("startOperator that is stopped while it connects does not wait, and closes a late connection", async () => {
  const opening = Promise.withResolvers<Connection>();
  let closed = 0;
  const op = operator({ name: "test", parts: {}, services: () => assert.fail("services were created") });
  const running = startOperator(op, { connection: () => opening.promise, clock: new VirtualClock() });
  await running[Symbol.asyncDispose]();
  opening.resolve({ ...silent(), close: () => void closed++ });
  await turns();
  assert.equal(closed, 1);
});

Deno.test("startOperator fails if it cannot connect", async () => {
  const op = operator({ name: "test", parts: {} });
  const running = startOperator(op, { connection: () => Promise.reject(new Error("no cluster")) });
  await assert.rejects(running.ended, { message: "no cluster" });
});

Deno.test("startOperator fails if its services cannot be created, unless it was stopped before", async () => {
  const namespaces = controller(Namespace, { reconcile() {} });
  const failing = operator({ name: "test", parts: { namespaces }, services: () => Promise.reject(new Error("no")) });
  await assert.rejects(start(failing).running.ended, { message: "no" });

  const stopping = operator({
    name: "test",
    parts: { namespaces },
    services: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const { running, stop } = start(stopping);
  await turns();
  stop.abort();
  await running.ended;
});

Deno.test("startOperator does not wait forever for services that cannot be closed", async () => {
  const namespaces = controller(Namespace, { reconcile() {} });
  const services = () => ({ database: { [Symbol.asyncDispose]: () => new Promise<void>(() => {}) } });
  const op = operator({ name: "test", parts: { namespaces }, services, gracefulShutdownTimeout: "5s" });
  const { running, clock, stop } = start(op);
  await turns();
  stop.abort();
  assert.equal(await endsSoon(running), false);
  clock.step(clock.now() + 5000);
  assert.equal(await endsSoon(running), false, "services have two more seconds to close");
  clock.step(clock.now() + 2000);
  assert.equal(await endsSoon(running), true);
});

Deno.test("startOperator starts no reconcile after it was stopped", async () => {
  const reconciled: string[] = [];
  const first = Promise.withResolvers<void>();
  const namespaces = controller(Namespace, {
    concurrency: 1,
    reconcile({ metadata }) {
      reconciled.push(metadata.name);
      return first.promise;
    },
  });
  const { running, stop } = start(operator({ name: "test", parts: { namespaces } }), ["one", "two"]);
  await turns();
  stop.abort();
  first.resolve();
  assert.equal(await endsSoon(running), true);
  assert.deepEqual(reconciled, ["one"]);
});

Deno.test("readiness has a line for each watch and each controller, with the reason while it waits", async () => {
  const namespaces = controller(Namespace, { owns: [ConfigMap], reconcile() {} });
  const { running } = start(operator({ name: "test", parts: { namespaces } }), [], { forbidden: "configmaps" });
  await turns();
  assert.deepEqual(running.readiness(), [
    { name: "watch Namespace", isReady: true, message: "up to date, last event 0 s ago" },
    {
      name: "watch ConfigMap",
      isReady: false,
      message:
        'Cannot watch ConfigMap: the apiserver answered 403: no. Grant this user the verbs list and watch on "configmaps"',
    },
    { name: "controller namespaces", isReady: false, message: "waits for ConfigMap" },
  ]);
  await running[Symbol.asyncDispose]();
});

/** A cluster that never responds, as if packets were dropped. */
function silent(): Connection {
  const fetch = (request: Request) =>
    new Promise<Response>((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
  return { url: "http://cluster", fetch, close() {} };
}

/** Starts an operator on a cluster that only has namespaces and forbids watching one kind. */
function start(
  op: ReturnType<typeof operator>,
  names: string[] = ["one"],
  { forbidden = "", checkAccess = false }: { readonly forbidden?: string; readonly checkAccess?: boolean } = {},
) {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const requests: string[] = [];
  const fetch = (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    requests.push(pathname);
    const plural = pathname.split("/").at(-1);
    if (plural === forbidden) {
      return Promise.resolve(Response.json({ kind: "Status", message: "no" }, { status: 403 }));
    }
    const objects = plural === "namespaces" ? names : [];
    const lines = objects.map((name) => ({
      type: "ADDED",
      object: { apiVersion: "v1", kind: "Namespace", metadata: { name, uid: name, resourceVersion: "1" } },
    }));
    const mark = { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } };
    const text = [...lines, { type: "BOOKMARK", object: { metadata: mark } }].map((line) =>
      `${JSON.stringify(line)}\n`
    );
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text.join(""))),
    });
    return Promise.resolve(new Response(body));
  };
  const connection: Connection = { url: "http://cluster", fetch, close() {} };
  return {
    running: startOperator(op, { connection, clock, signal: stop.signal, random: () => 1, checkAccess }),
    clock,
    stop,
    requests,
  };
}

async function endsSoon(running: Running): Promise<boolean> {
  let hasEnded = false;
  running.ended.then(() => hasEnded = true);
  await turns();
  return hasEnded;
}

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
