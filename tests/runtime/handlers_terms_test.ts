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
  const op = operator({
    name: "shop",
    parts: {
      provision: on.create(Website, (_site, { memo }) => void calls.push(["create", ++memo(counts).count])),
      resume: on.resume(Website, (_site, { memo }) => void calls.push(["resume", ++memo(counts).count])),
    },
    health: false,
    leaderElection: true,
  });
  await using cluster = await memoryCluster({ kinds: [Website] });
  const process = startProcess(cluster, op, { host: "pod-0" });
  await cluster.advance("1s");
  await cluster.create(Website, "web", { spec: {} });
  await cluster.advance("10s");
  assert.deepEqual(calls.splice(0), [["create", 1]]);

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
