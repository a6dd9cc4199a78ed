/** Objects that a real API server stored under an earlier schema, and that are invalid now. */
import assert from "node:assert/strict";
import { type Condition, controller, operator, resource, s } from "@op/sdk";
import { CustomResourceDefinition, Event } from "../../src/kinds/mod.ts";
import { startOperator } from "../../src/operator/running.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { install } from "../fixtures/install.ts";

const names = { group: "demo.example.com", version: "v1", kind: "Site" } as const;
const OldSite = resource({ ...names, spec: s.object({ host: s.optional(s.string()) }), status: s.object({}) });
const Site = resource({ ...names, spec: s.object({ hostname: s.string() }), status: s.object({}) });
const IN_DEFAULT = { namespace: "default" };

Deno.test("an object that is invalid under the current schema is reported and cleaned up, and reconciled once it is fixed", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  const calls: string[] = [];
  const sites = controller(Site, {
    reconcile: ({ metadata, spec }) => void calls.push(`${metadata.name} ${spec.hostname.length}`),
    cleanup: ({ metadata }) => void calls.push(`${metadata.name} cleaned up`),
  });
  await install(client, operator({ name: "old", parts: { sites: controller(OldSite, { reconcile() {} }) } }));
  const finalizers = ["demo.example.com/test.sites"];
  for (const name of ["fixed", "deleted"]) {
    await client.create(OldSite, { metadata: { name, finalizers }, spec: { host: "a" } }, IN_DEFAULT);
  }
  await client.patch(CustomResourceDefinition, Site.crd.metadata.name, { spec: Site.crd.spec });

  await using all = await watched(client, Site);
  await using events = await watched(client, Event);
  const connection = { url: cluster.url, fetch: (request: Request) => cluster.fetch(request), close() {} };
  const op = operator({ name: "test", parts: { sites }, health: false });
  await using _ = startOperator(op, { connection, checkAccess: false });

  const conditionsOf = (name: string): readonly string[] => {
    const { status } = all.values().find(({ metadata }) => metadata.name === name) ?? {};
    const { conditions = [] } = status as { conditions?: readonly Condition[] } | undefined ?? {};
    return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`).sort();
  };
  const invalid = ["Ready=False InvalidObject", "Stalled=True InvalidObject"];
  await all.until(() => ["fixed", "deleted"].every((name) => conditionsOf(name).join() === invalid.join()));
  await events.until((all) => all.filter(({ reason }) => reason === "InvalidObject").length === 2);
  assert.deepEqual(calls, []);

  await client.delete(Site, "deleted", IN_DEFAULT);
  await all.until((all) => all.every(({ metadata }) => metadata.name !== "deleted"));
  assert.deepEqual(calls, ["deleted cleaned up"]);

  await client.patch(Site, "fixed", { spec: { hostname: "abc" } }, IN_DEFAULT);
  await all.until(() => conditionsOf("fixed").join() === "Ready=True Reconciled");
  assert.deepEqual(calls.slice(1), ["fixed 3"]);
});
