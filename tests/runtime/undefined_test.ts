/** Optional properties that are `undefined` are absent, wherever a user writes an object. */
import assert from "node:assert/strict";
import { controller, conversion, resource, s, webhook } from "@op/sdk";
import { Job } from "@op/sdk/kinds";
import { memoryCluster, roundTrips } from "@op/sdk/testing";

// Their types are those of optional properties, as for users who compute a value.
const absent = undefined as string | undefined;
const labels = undefined as Record<string, string> | undefined;

const names = { group: "demo.example.com", kind: "Card" } as const;
const spec = s.object({ text: s.string(), author: s.optional(s.string()) });
const status = s.object({ job: s.optional(s.string()), note: s.optional(s.string()) });
const CardV1 = resource({ ...names, version: "v1", spec, status });
const Card = resource({ ...names, version: "v2", spec, status, versions: [CardV1] });

const parts = {
  cards: controller(Card, {
    owns: [Job],
    async reconcile({ metadata: { name } }, { apply, status }) {
      const containers = [{ name: "a", image: "a", workingDir: absent }];
      await apply(Job, {
        metadata: { name, labels },
        spec: {
          template: {
            metadata: { labels, annotations: { a: "b" } },
            spec: { restartPolicy: "Never", nodeName: absent, containers },
          },
        },
      });
      status({ job: name, note: absent });
    },
  }),
  defaults: webhook(Card, {
    mutate: ({ spec }) => ({
      metadata: { labels: { seen: "yes" }, annotations: labels },
      spec: { ...spec, author: absent },
    }),
  }),
  versions: conversion(CardV1, Card, {
    up: ({ metadata: { labels }, spec: { text, author }, status }) => ({
      metadata: { labels },
      spec: { text, author },
      status: status && { ...status, note: status.note },
    }),
    down: ({ spec: { text, author }, status }) => ({ spec: { text, author }, status }),
  }),
};

Deno.test("an optional property that is undefined is absent in applied objects, patches of webhooks, conversions and status", async () => {
  await using cluster = await memoryCluster({ parts });
  await cluster.create(Card, "a", { metadata: { labels }, spec: { text: "hello", author: absent } });
  await cluster.settle();

  const [applied] = cluster.sent({ verb: "patch", kind: Job });
  assert.deepEqual(Object.keys((applied!.body as { metadata: object }).metadata).sort(), [
    "name",
    "namespace",
    "ownerReferences",
  ]);
  const old = await cluster.get(CardV1, "a");
  assert.deepEqual(old.spec, { text: "hello" });
  assert.deepEqual(old.metadata.labels, { seen: "yes" });
  assert.equal(old.status?.job, "a");

  // The next reconcile has no change to write.
  await cluster.patch(Card, "a", { metadata: { annotations: { again: "yes" } } });
  await cluster.settle();
  assert.equal(cluster.sent({ verb: "patch", kind: Job }).length, 1);
});

Deno.test("roundTrips treats a property that a conversion returns as undefined as absent", async () => {
  await roundTrips(parts.versions, { seed: 1 });
});
