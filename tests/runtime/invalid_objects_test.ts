/** Objects that were stored under an earlier schema, and do not match the types of a reconciler. */
import assert from "node:assert/strict";
import { type Condition, controller, type Infer, operator, resource, s } from "@op/sdk";
import { ConfigMap, CustomResourceDefinition, Event } from "@op/sdk/kinds";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";

const names = { group: "demo.example.com", kind: "Site" } as const;
const status = s.object({ host: s.optional(s.string()) });

/** The schema at the time when the objects were stored. */
const OldSite = resource({ ...names, version: "v1", spec: s.object({ host: s.optional(s.anything()) }), status });
const Site = resource({ ...names, version: "v1", spec: s.object({ host: s.string() }), status });

interface Recorded {
  readonly reconciled: string[];
  readonly cleaned: string[];
}

function recording() {
  const recorded: Recorded = { reconciled: [], cleaned: [] };
  const sites = controller(Site, {
    owns: [ConfigMap],
    reconcile({ metadata, spec }, { status }) {
      recorded.reconciled.push(`${metadata.name} ${spec.host.toUpperCase()}`);
      status({ host: spec.host });
    },
    cleanup({ metadata }) {
      recorded.cleaned.push(metadata.name);
    },
  });
  return { ...recorded, sites };
}

/** Stores an object under the old definition, and restores the new one. */
async function storeInvalid(cluster: MemoryCluster, name: string, spec: unknown, metadata: object = {}): Promise<void> {
  const patch = (kind: typeof Site | typeof OldSite) =>
    cluster.client.patch(CustomResourceDefinition, kind.crd.metadata.name, { spec: kind.crd.spec });
  await patch(OldSite);
  await cluster.client.create(OldSite, { metadata: { name, ...metadata }, spec: spec as never }, {
    namespace: "default",
  });
  await patch(Site);
}

function conditions(site: Infer<typeof Site>): string[] {
  const { conditions = [] } = site.status as { conditions?: readonly Condition[] } | undefined ?? {};
  return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`).sort();
}

Deno.test("an object without a required field is not reconciled, and its conditions name the field", async () => {
  const { sites, reconciled } = recording();
  await using cluster = await memoryCluster({ parts: { sites } });
  await storeInvalid(cluster, "invalid", {});
  await cluster.create(Site, "valid", { spec: { host: "a" } });
  await cluster.settle();

  assert.deepEqual(reconciled, ["valid A"]);
  const invalid = await cluster.get(Site, "invalid");
  assert.deepEqual(conditions(invalid), ["Ready=False InvalidObject", "Stalled=True InvalidObject"]);
  const { conditions: all = [] } = invalid.status as { conditions?: readonly Condition[] };
  assert.match(
    all[0]!.message,
    /^The object is not a valid Site of demo\.example\.com\/v1: spec\.host is required and missing\. /,
  );
  assert.equal(invalid.metadata.finalizers, undefined);
});

Deno.test("an invalid object is logged and reported by an Event once, and not retried", async () => {
  const { sites, reconciled } = recording();
  await using cluster = await memoryCluster({ parts: { sites } });
  await storeInvalid(cluster, "invalid", { host: 5 });
  await cluster.settle();
  await cluster.advance("3h");
  const { metadata: { uid } } = await cluster.get(Site, "invalid");
  // A child that changes triggers a reconcile of its owner.
  const ownerReferences = [{ apiVersion: Site.apiVersion, kind: "Site", name: "invalid", uid, controller: true }];
  await cluster.create(ConfigMap, "child", { metadata: { ownerReferences } });
  await cluster.settle();
  await cluster.patch(ConfigMap, "child", { data: { a: "b" } });
  await cluster.settle();

  const failed = cluster.logged.filter(({ message }) => message === "Reconcile failed");
  assert.deepEqual(failed.map(({ fields }) => /spec\.host must be a string, not a number/.test(String(fields.error))), [
    true,
  ]);
  const events = (await cluster.list(Event)).filter(({ reason }) => reason === "InvalidObject");
  assert.deepEqual(events.map(({ regarding, series }) => [regarding?.name, series?.count]), [["invalid", undefined]]);
  assert.deepEqual(reconciled, []);
});

Deno.test("an invalid object is reconciled as soon as its spec is corrected", async () => {
  const { sites, reconciled } = recording();
  await using cluster = await memoryCluster({ parts: { sites } });
  await storeInvalid(cluster, "invalid", {});
  await cluster.settle();
  await cluster.patch(Site, "invalid", { spec: { host: "b" } });
  await cluster.settle();
  assert.deepEqual(reconciled, ["invalid B"]);
  assert.deepEqual(conditions(await cluster.get(Site, "invalid")), ["Ready=True Reconciled"]);
});

Deno.test("an invalid object that is deleted is cleaned up", async () => {
  const { sites, cleaned } = recording();
  await using cluster = await memoryCluster({ parts: { sites } });
  await storeInvalid(cluster, "invalid", {}, { finalizers: ["demo.example.com/test.sites"] });
  await cluster.settle();
  assert.deepEqual(cleaned, []);
  await cluster.delete(Site, "invalid");
  await cluster.settle();
  assert.deepEqual(cleaned, ["invalid"]);
  assert.equal(await cluster.exists(Site, "invalid"), false);
});

Deno.test("an object whose status does not match the schema is reconciled", async () => {
  const { sites, reconciled } = recording();
  await using cluster = await memoryCluster({ parts: { sites } });
  const Open = resource({
    ...names,
    version: "v1",
    spec: s.object({ host: s.string() }),
    status: s.object({ host: s.anything() }),
  });
  await cluster.client.patch(CustomResourceDefinition, Site.crd.metadata.name, { spec: Open.crd.spec });
  await cluster.create(Open, "old", { spec: { host: "a" } });
  await cluster.client.patch(Open, "old", { status: { host: 7 } }, { namespace: "default", subresource: "status" });
  await cluster.settle();
  assert.deepEqual(reconciled.at(-1), "old A");
  assert.equal((await cluster.get(Site, "old")).status?.host, "a");
});

Deno.test("objects are validated in the version that the controller watches", async () => {
  const Older = resource({ ...names, version: "v1", spec: s.object({ name: s.optional(s.string()) }), status });
  const Newer = resource({
    ...names,
    version: "v2",
    spec: s.object({ name: s.optional(s.string()), host: s.optional(s.string()) }),
    status,
    versions: [Older],
  });
  const Strict = resource({
    ...names,
    version: "v2",
    spec: s.object({ name: s.optional(s.string()), host: s.string() }),
    status,
    versions: [Older],
  });
  const reconciled: string[] = [];
  const recordingAs = (key: string, kind: typeof Older | typeof Strict) =>
    controller(kind, { reconcile: ({ metadata }) => void reconciled.push(`${key} ${metadata.name}`) });
  const op = operator({
    name: "versions",
    parts: { older: recordingAs("older", Older), strict: recordingAs("strict", Strict) },
  });
  await using cluster = await memoryCluster({ operator: op });
  await cluster.client.patch(CustomResourceDefinition, Strict.crd.metadata.name, { spec: Newer.crd.spec });
  await cluster.create(Older, "a", { spec: { name: "x" } });
  await cluster.settle();
  assert.deepEqual([...new Set(reconciled)], ["older a"]);
});

Deno.test("an invalid object of an external kind is logged and reported by an Event, and its status is not written", async () => {
  const Old = resource({ ...names, version: "v1", spec: s.object({}), status, external: true });
  const External = resource({ ...names, version: "v1", spec: s.object({ host: s.string() }), status, external: true });
  const reconciled: string[] = [];
  const sites = controller(External, { reconcile: ({ metadata }) => void reconciled.push(metadata.name) });
  await using cluster = await memoryCluster({ parts: { sites } });
  await cluster.client.patch(CustomResourceDefinition, Old.crd.metadata.name, { spec: Old.crd.spec });
  await cluster.create(Old, "invalid", { spec: {} });
  await cluster.settle();
  assert.deepEqual(reconciled, []);
  assert.equal((await cluster.get(Old, "invalid")).status, undefined);
  assert.equal(cluster.logged.filter(({ message }) => message === "Reconcile failed").length, 1);
  assert.deepEqual((await cluster.list(Event)).map(({ reason }) => reason), ["InvalidObject"]);
});
