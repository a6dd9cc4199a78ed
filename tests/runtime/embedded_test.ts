/**
 * Operators that a program starts: when they are ready, how they stop, and several in one process.
 */
import assert from "node:assert/strict";
import { configure, type LogRecord, reset } from "@logtape/logtape";
import { controller, type Operator, operator } from "@op/sdk";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@op/sdk/kinds";
import type { ClusterAccess } from "@op/sdk/operator";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { startOperator } from "../../src/operator/running.ts";
import { applyText, Note, recording } from "../fixtures/notes.ts";

function start(cluster: MemoryCluster, op: Operator) {
  const connection = { url: "http://memory.cluster", fetch: cluster.fetch, close() {} };
  return startOperator(op, { connection, clock: cluster.clock, random: () => 0.5, checkAccess: false });
}

Deno.test("two operators in one process have separate logs and metrics, and stop independently", async () => {
  const records: LogRecord[] = [];
  await configure({
    sinks: { all: (record) => void records.push(record) },
    loggers: [
      { category: "op", lowestLevel: "debug", sinks: ["all"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["all"] },
    ],
  });
  try {
    await using one = await memoryCluster({ kinds: [Note] });
    await using other = await memoryCluster({ kinds: [Note] });
    const parts = (reconcile: Parameters<typeof recording>[0]) => ({ notes: recording(reconcile).notes });
    const fails = parts(() => {
      throw new Error("boom");
    });
    const alpha = start(one, operator({ name: "alpha", parts: fails, health: false }));
    const beta = start(other, operator({ name: "beta", parts: parts(applyText), health: false }));
    for (const cluster of [one, other]) {
      await cluster.create(Note, "a", { spec: { text: "one" } });
      await cluster.advance("10s");
    }

    const recordsOf = (name: string) => records.filter(({ category }) => category[1] === name);
    const failures = (name: string) =>
      recordsOf(name).filter(({ rawMessage }) => rawMessage === "Reconcile failed").length;
    assert(failures("alpha") > 5);
    assert.equal(failures("beta"), 0);
    assert(
      recordsOf("beta").some(({ rawMessage, properties }) =>
        rawMessage === "Reconcile started" && properties.name === "a" && properties.controller === "notes"
      ),
    );
    // Excludes the operators of the memory clusters themselves, which are named "test".
    const ours = records.filter(({ category }) => category[1] !== "test");
    const ids = new Set(ours.map(({ category, properties }) => `${category[1]} ${properties.operatorID}`));
    assert.deepEqual([...ids].map((id) => id.replace(/_[0-9a-f-]{36}$/, "")).sort(), ["alpha alpha", "beta beta"]);
    const counted = async (running: typeof alpha, result: string): Promise<number> => {
      const line = new RegExp(
        `^controller_runtime_reconcile_total\\{controller="notes",result="${result}"\\} (\\d+)$`,
        "m",
      );
      return Number(line.exec(await running.metrics.text())?.[1]);
    };
    assert.deepEqual([await counted(alpha, "success"), await counted(beta, "error")], [0, 0]);
    assert.equal(await counted(alpha, "error"), failures("alpha"));
    assert(await counted(beta, "success") >= 1);

    const stopped = alpha[Symbol.asyncDispose]();
    await one.advance("1m");
    await stopped;
    await other.patch(Note, "a", { spec: { text: "two" } });
    await other.advance("1s");
    assert.equal((await other.get(ConfigMap, "a")).data?.text, "two");
    const ended = beta[Symbol.asyncDispose]();
    await other.advance("1m");
    await ended;
  } finally {
    await reset();
  }
});

/** Starts an operator on a cluster, with the cluster's clock. */
function startOn({ connection, clock }: MemoryCluster, op: Operator, services?: unknown) {
  return op.start({ connection, clock, checkAccess: false, ...services === undefined ? {} : { services } });
}

/** Stops an operator, which may wait for the cluster's clock. */
async function stop(cluster: MemoryCluster, running: { stop(): Promise<void> }): Promise<void> {
  const stopped = running.stop();
  await cluster.advance("1m");
  await stopped;
}

Deno.test("two operators in one program reconcile the same objects, and stop independently", async () => {
  await using cluster = await memoryCluster({ kinds: [Note] });
  const [one, other] = [recording(), recording(applyText)];
  const first = startOn(cluster, operator({ name: "first", parts: { notes: one.notes } }));
  const second = startOn(cluster, operator({ name: "second", parts: { notes: other.notes } }));
  await Promise.all([first.ready, second.ready]);
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.equal(one.reconciles[0], "a hello: changed");
  assert.equal(other.reconciles[0], "a hello: changed");

  const { length } = one.reconciles;
  await stop(cluster, first);
  await first.ended;
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.settle();
  assert.equal(one.reconciles.length, length, "a stopped operator reconciled");
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "two");
  await stop(cluster, second);
});

Deno.test("two operators in one program run on different clusters", async () => {
  await using one = await memoryCluster({ kinds: [Note] });
  await using other = await memoryCluster({ kinds: [Note] });
  const op = operator({ name: "notes", parts: { notes: recording(applyText).notes } });
  // The same operator can be started several times.
  const running = [startOn(one, op), startOn(other, op)];
  for (const { ready } of running) await ready;
  await one.create(Note, "a", { spec: { text: "one" } });
  await other.create(Note, "a", { spec: { text: "other" } });
  for (const [cluster, text] of [[one, "one"], [other, "other"]] as const) {
    await cluster.settle();
    assert.equal((await cluster.get(ConfigMap, "a")).data?.text, text);
  }
  await stop(one, running[0]!);
  await stop(other, running[1]!);
});

Deno.test("an operator is ready when its services exist and its caches are filled", async () => {
  await using cluster = await memoryCluster({ kinds: [Note] });
  const creating = Promise.withResolvers<void>();
  const seen: string[] = [];
  const op = operator({
    name: "notes",
    parts: { notes: recording().notes },
    async services() {
      await creating.promise;
      seen.push("services");
    },
  });
  const running = startOn(cluster, op);
  const ready = running.ready.then(() => seen.push("ready"));
  await cluster.settle();
  assert.deepEqual(seen, []);
  creating.resolve();
  await ready;
  assert.deepEqual(seen, ["services", "ready"]);
  await stop(cluster, running);
});

Deno.test("an operator of a missing kind is ready when the API server serves the kind", async () => {
  await using cluster = await memoryCluster();
  const running = startOn(cluster, operator({ name: "notes", parts: { notes: recording().notes } }));
  let isReady = false;
  running.ready.then(() => isReady = true);
  await cluster.advance("1m");
  assert.equal(isReady, false);
  await cluster.client.create(CustomResourceDefinition, Note.crd as never);
  await cluster.advance("1m");
  assert.equal(isReady, true);
  await stop(cluster, running);
});

Deno.test("ready and ended reject with the error of an operator that cannot start, and stop resolves", async () => {
  await using cluster = await memoryCluster();
  const op = operator({ name: "failing", parts: {}, services: () => Promise.reject(new Error("no database")) });
  const running = startOn(cluster, op);
  await assert.rejects(running.ready, { message: "no database" });
  await running.stop();
  await assert.rejects(running.ended, { message: "no database" });
});

Deno.test("an operator that failed to start ends a program's block with that error alone", async () => {
  await using cluster = await memoryCluster();
  const op = operator({ name: "failing", parts: {}, services: () => Promise.reject(new Error("no database")) });
  const use = async () => {
    await using running = startOn(cluster, op);
    await running.ready;
  };
  await assert.rejects(use(), { name: "Error", message: "no database" });
});

Deno.test("ready rejects when the operator is stopped before it is ready", async () => {
  await using cluster = await memoryCluster();
  const running = startOn(cluster, operator({ name: "notes", parts: { notes: recording().notes } }));
  const { ready } = running;
  await stop(cluster, running);
  await assert.rejects(ready, { name: "AbortError" });
  await running.ended;
});

Deno.test("the connection of an operator is available to its services, and to the program when it is ready", async () => {
  await using cluster = await memoryCluster({ namespaces: ["team"] });
  let inServices: ClusterAccess | undefined;
  const op = operator({ name: "one", parts: {}, services: ({ connection }) => void (inServices = connection) });
  const running = op.start({ connection: cluster.connection, clock: cluster.clock });
  await running.ready;
  assert.equal(running.connection, inServices);
  const response = await running.connection.fetch("/api/v1/namespaces/team");
  assert.equal((await response.json() as { metadata: { name: string } }).metadata.name, "team");
  await stop(cluster, running);
});

Deno.test("the option services of start replaces those of the operator, and they are not disposed of", async () => {
  await using cluster = await memoryCluster();
  let disposed = 0;
  const seen = new Set<unknown>();
  const services = { name: "fake", [Symbol.dispose]: () => void disposed++ };
  const namespaces = controller.with<{ readonly name: string }>()(Namespace, {
    reconcile: (_namespace, { services }) => void seen.add(services.name),
  });
  const op = operator({ name: "names", parts: { namespaces }, services: () => assert.fail("services were created") });
  const running = startOn(cluster, op, services);
  await running.ready;
  await cluster.settle();
  await stop(cluster, running);
  assert.deepEqual([[...seen], disposed], [["fake"], 0]);
});
