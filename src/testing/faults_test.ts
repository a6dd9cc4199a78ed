import assert from "node:assert/strict";
import { ConfigMap, Secret } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { type Fault, type FaultFilter, faults } from "./faults.ts";
import { type MemoryCluster, memoryCluster, type MemoryClusterOptions } from "./memory_cluster.ts";

const Note = resource({
  group: "test.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
  status: s.object({ copied: s.optional(s.string()) }),
});

const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile(note, { apply, status }) {
    await apply(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: note.spec.text } });
    status({ copied: note.spec.text });
  },
});

/** Returns an idle cluster in which the operator has copied a note into a ConfigMap. */
async function clusterWithCopy(options: MemoryClusterOptions = {}): Promise<MemoryCluster> {
  const cluster = await memoryCluster({ parts: { notes }, ...options });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  return cluster;
}

async function copyOf(cluster: MemoryCluster): Promise<unknown> {
  return (await cluster.get(ConfigMap, "a")).data?.text;
}

const PATCH: FaultFilter = { verb: "patch", kind: ConfigMap };

/** Faults, with the number of patches that the operator sends until the copy is up to date. */
const CASES: readonly { name: string; fault: Fault; filter: FaultFilter; patches: number }[] = [
  { name: "a conflict", fault: faults.conflict(), filter: PATCH, patches: 2 },
  { name: "three failures", fault: faults.status(500), filter: { ...PATCH, times: 3 }, patches: 4 },
  { name: "too many requests", fault: faults.tooManyRequests("5s"), filter: PATCH, patches: 2 },
  { name: "a refused connection", fault: faults.refused(), filter: PATCH, patches: 2 },
  // The watch reports the write, so it is not repeated.
  { name: "a lost response", fault: faults.responseLost(), filter: PATCH, patches: 1 },
  { name: "a slow server", fault: faults.delay("20s"), filter: PATCH, patches: 1 },
  { name: "a broken watch", fault: faults.watchCut(), filter: { kind: Note }, patches: 1 },
  { name: "an expired watch", fault: faults.gone(), filter: { verb: "watch", kind: Note }, patches: 1 },
];

for (const { name, fault, filter, patches } of CASES) {
  Deno.test(`the operator converges after ${name}`, async () => {
    await using cluster = await clusterWithCopy();
    const before = cluster.sent(PATCH).length;
    const injected = cluster.inject(fault, { client: "test", ...filter });

    await cluster.patch(Note, "a", { spec: { text: "two" } });
    await cluster.advance("2m");

    assert.equal(await copyOf(cluster), "two");
    assert.equal((await cluster.get(Note, "a")).status?.copied, "two");
    assert.equal(injected.remaining, 0);
    assert.equal(injected.hits.length, filter.times ?? 1);
    assert(injected.hits.every(({ faults }) => faults.includes(fault.name)));
    assert.equal(cluster.sent(PATCH).length - before, patches);
  });
}

Deno.test("faults.responseLost lets the server store a write, but the client receives no response", async () => {
  await using cluster = await memoryCluster();
  cluster.inject(faults.responseLost(), { verb: "create", kind: ConfigMap, name: "a" });

  await assert.rejects(cluster.create(ConfigMap, "a", {}), /connection reset by peer/);

  assert.equal(await cluster.exists(ConfigMap, "a"), true);
  assert.equal(cluster.sent({ verb: "create", kind: ConfigMap })[0]?.status, undefined);
});

Deno.test("faults.delay delays a request by the cluster's clock, and settle suggests advance()", async () => {
  await using cluster = await clusterWithCopy();
  cluster.inject(faults.delay("20s"), PATCH);
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await assert.rejects(cluster.settle(), {
    code: "StillBusy",
    message: /1 of its requests or sleeps waits for the clock to move/,
  });

  await cluster.advance("19s");
  assert.equal(await copyOf(cluster), "one");
  await cluster.advance("1s");
  assert.equal(await copyOf(cluster), "two");
});

Deno.test("a request is retried no earlier than the Retry-After of faults.tooManyRequests", async () => {
  await using cluster = await clusterWithCopy();
  const from = cluster.clock.now();
  cluster.inject(faults.tooManyRequests("5s"), PATCH);
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.advance("1m");

  const times = cluster.sent(PATCH).map(({ time, status }) => [time - from, status]).slice(1);
  assert.deepEqual(times, [[0, 429], [5000, 200]]);
});

Deno.test("faults.watchSilent stops the events and bookmarks of an open watch", async () => {
  await using cluster = await memoryCluster();
  const stop = new AbortController();
  const seen: string[] = [];
  const watchEnded = (async () => {
    for await (const events of cluster.client.watch(ConfigMap, { namespace: "default", signal: stop.signal })) {
      seen.push(...events.map(({ type }) => type));
    }
  })().catch(() => {});
  await cluster.create(ConfigMap, "a", {});
  await cluster.settle();
  const injected = cluster.inject(faults.watchSilent(), { kind: ConfigMap });
  assert.deepEqual([injected.hits.length, injected.remaining], [1, 0]);

  await cluster.create(ConfigMap, "b", {});
  await cluster.advance("10m");

  assert.deepEqual(seen, ["ADDED"]);
  stop.abort();
  await watchEnded;
});

Deno.test("a fault affects only requests that match its filter, and none after it is disposed of", async () => {
  await using cluster = await memoryCluster();
  const nonMatching: FaultFilter[] = [
    { verb: "get" },
    { kind: Secret },
    { name: "b" },
    { namespace: "other" },
    { client: "test" },
    { subresource: "status" },
    { where: ({ body }) => (body as { data?: unknown }).data !== undefined },
  ];
  for (const filter of nonMatching) cluster.inject(faults.status(500), filter);
  {
    using _removed = cluster.inject(faults.status(500), { verb: "create" });
  }
  await cluster.create(ConfigMap, "a", {});

  cluster.inject(faults.status(503), { verb: "create", kind: ConfigMap, after: 1 });
  await cluster.create(ConfigMap, "c", {});
  await assert.rejects(cluster.create(ConfigMap, "d", {}), /503 ServiceUnavailable/);
});

Deno.test("the operator recovers from restartServer with a long downtime and without history", async () => {
  await using cluster = await clusterWithCopy();
  cluster.restartServer({ compact: true, downFor: "5m" });
  await assert.rejects(cluster.get(Note, "a"), /connection refused/);

  await cluster.advance("5m");
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.advance("1m");

  assert.equal(await copyOf(cluster), "two");
});

Deno.test("memoryCluster.requests records verb, resource, name, body, time and status", async () => {
  await using cluster = await memoryCluster();
  await cluster.create(ConfigMap, "a", { data: { x: "1" } });
  await assert.rejects(cluster.get(ConfigMap, "b"));

  const [created, read] = cluster.sent({ kind: ConfigMap });
  assert.deepEqual(created, {
    method: "POST",
    path: "/api/v1/namespaces/default/configmaps",
    userAgent: "test-client",
    verb: "create",
    group: "",
    resource: "configmaps",
    namespace: "default",
    name: "a",
    time: cluster.clock.now(),
    body: { metadata: { name: "a" }, data: { x: "1" }, apiVersion: "v1", kind: "ConfigMap" },
    faults: [],
    status: 201,
  });
  assert.deepEqual([read?.verb, read?.name, read?.status], ["get", "b", 404]);
});

Deno.test("the operator of memoryCluster has only the RBAC permissions in the option rbac", async () => {
  const rules = [
    { verbs: ["list", "watch"], apiGroups: ["test.example.com"], resources: ["notes"] },
    { verbs: ["patch"], apiGroups: ["test.example.com"], resources: ["notes/status"] },
    { verbs: ["list", "watch", "create", "patch"], apiGroups: [""], resources: ["configmaps"] },
  ];
  {
    await using cluster = await clusterWithCopy({ rbac: rules });
    assert.equal(await copyOf(cluster), "one");
    assert.deepEqual(cluster.requests.filter(({ status }) => status === 403), []);
  }
  const reducedRules = rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== "create") }));
  await using cluster = await clusterWithCopy({ rbac: reducedRules, forbiddenRequests: "allow" });
  assert.equal(await cluster.exists(ConfigMap, "a"), false);
  assert.deepEqual(
    new Set(cluster.sent({ client: "test", verb: "patch" }).map(({ status }) => status)),
    new Set([403, 200]),
  );
});

Deno.test("memoryCluster.as sends requests as another user", async () => {
  await using cluster = await memoryCluster({ rbac: [] });
  await assert.rejects(
    cluster.as("jane").get(ConfigMap, "a", { namespace: "default" }),
    /User "jane" cannot get resource "configmaps"/,
  );
  await assert.rejects(
    cluster.as("jane", { groups: ["system:masters"] }).get(ConfigMap, "a", { namespace: "default" }),
    /404 NotFound/,
  );
});
