/** Handlers over several terms as leader, and of objects that are being deleted. */
import assert from "node:assert/strict";
import { memo, on, operator, resource, s } from "@op/sdk";
import { Lease } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { startProcess } from "./_processes.ts";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({ replicas: s.integer({ default: 1 }) }),
  status: s.object({ url: s.optional(s.string()) }),
});

Deno.test("each term calls resume for the objects that exist, and memos end with the term", async () => {
  const calls: unknown[] = [];
  const counts = memo(() => ({ count: 0, [Symbol.dispose]: () => void calls.push("disposed") }));
  // The definition in the cluster has no field for the state.
  const website = on.for(Website, { storage: "annotation" });
  const op = operator({
    name: "shop",
    parts: {
      provision: website.create((_site, { memo }) => void calls.push(["create", ++memo(counts).count])),
      resume: website.resume((_site, { memo }) => void calls.push(["resume", ++memo(counts).count])),
    },
    health: false,
    leaderElection: true,
  });
  await using cluster = await memoryCluster({ kinds: [Website] });
  await cluster.create(Website, "web", { spec: {} });
  const process = startProcess(cluster, op, { host: "pod-0" });
  await cluster.advance("10s");
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.advance("10s");
  assert.deepEqual(calls.splice(0), [["create", 1]], "a new object is not resumed");

  // The leader cannot renew its Lease, and leads again afterwards.
  const fault = cluster.inject({ name: "no Lease", respond: () => new Response("", { status: 500 }) }, {
    kind: Lease,
    times: Infinity,
  });
  await cluster.advance("20s");
  assert.deepEqual(calls.splice(0), ["disposed"]);
  fault[Symbol.dispose]();
  await cluster.advance("1m");
  assert.deepEqual(calls.splice(0), [["resume", 1]]);
  const ended = process[Symbol.asyncDispose]();
  await cluster.advance("1m");
  await ended;
  assert.deepEqual(calls, ["disposed"]);
});

Deno.test("a call that the end of a term aborts does not repeat its steps, nor earlier calls, in the next term", async () => {
  const calls: string[] = [];
  const website = on.for(Website, { storage: "annotation" });
  const op = operator({
    name: "shop",
    parts: {
      first: website.create((_site, { status }) => {
        calls.push("first");
        status({ url: "https://web" });
      }),
      second: website.create(async (_site, { step, signal }) => {
        await step("database", () => void calls.push("database"));
        calls.push("second");
        if (calls.length > 3) return;
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      }),
    },
    health: false,
    leaderElection: true,
  });
  await using cluster = await memoryCluster({ kinds: [Website] });
  const process = startProcess(cluster, op, { host: "pod-0" });
  await cluster.advance("1s");
  await cluster.create(Website, "web", { spec: {} });
  await cluster.advance("10s");
  const fault = cluster.inject({ name: "no Lease", respond: () => new Response("", { status: 500 }) }, {
    kind: Lease,
    times: Infinity,
  });
  await cluster.advance("20s");
  assert.deepEqual(calls, ["first", "database", "second"]);
  fault[Symbol.dispose]();
  await cluster.advance("1m");
  assert.deepEqual(calls, ["first", "database", "second", "second"]);
  assert.equal((await cluster.get(Website, "web")).status?.url, "https://web");
  const ended = process[Symbol.asyncDispose]();
  await cluster.advance("1m");
  await ended;
});

for (const hasCreate of [true, false]) {
  const others = hasCreate ? "with" : "without";
  Deno.test(`resume is called for an object in deletion that has only foreign finalizers, ${others} a create handler`, async () => {
    const calls: unknown[] = [];
    await using cluster = await memoryCluster({
      parts: {
        resume: on.resume(Website, (site) => void calls.push(["resume", site.metadata.name]), { deleting: true }),
        other: on.resume(Website, () => void calls.push("other")),
        ...(hasCreate ? { provision: on.create(Website, () => void calls.push("create")) } : {}),
      },
    });
    await cluster.create(Website, "web", { metadata: { finalizers: ["example.com/foreign"] }, spec: {} });
    await cluster.settle();
    await cluster.delete(Website, "web");
    await cluster.settle();
    assert.deepEqual(calls.splice(0), hasCreate ? ["create"] : []);
    await cluster.restart();
    await cluster.settle();
    assert.deepEqual(calls, [["resume", "web"]]);
  });
}
