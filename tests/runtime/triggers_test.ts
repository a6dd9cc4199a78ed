/** Triggers other than a controller's own and owned objects, and the watches that they need. */
import assert from "node:assert/strict";
import { access, controller, every, index, type Infer, operator, resource, s, source, watch } from "@op/sdk";
import { ClusterRole, ConfigMap, Secret } from "@op/sdk/kinds";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { Note, until } from "../fixtures/notes.ts";

const Site = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Site",
  spec: s.object({ secret: s.optional(s.string()) }),
  status: s.object({ seen: s.optional(s.string()) }),
});

const bySecret = index(Site, ({ metadata, spec }) => spec.secret && `${metadata.namespace}/${spec.secret}`);

/** Creates a controller of sites that name a Secret, and records its reconciles. */
function siteController(options: Parameters<typeof watch<typeof Secret>>[1] = {}) {
  const runs: string[] = [];
  const sites = controller(Site, {
    indexes: { bySecret },
    watches: [
      watch(Secret, {
        map: ({ metadata }, { index }) => index("bySecret", `${metadata.namespace}/${metadata.name}`),
        ...options,
      }),
    ],
    async reconcile(site, { get, status, reason }) {
      const secret = await get(Secret, site.spec.secret ?? "none");
      runs.push(`${site.metadata.name}: ${reason}`);
      status({ seen: secret?.data?.key ?? "none" });
    },
  });
  return { sites, runs };
}

Deno.test("a change of a mapped kind triggers only the objects that map returns", async () => {
  const { sites, runs } = siteController();
  await using cluster = await memoryCluster({ parts: { sites } });
  for (const name of ["a", "b"]) await cluster.create(Site, name, { spec: { secret: `of-${name}` } });
  await cluster.create(Site, "c", { spec: {} });
  await cluster.settle();
  runs.length = 0;

  await cluster.create(Secret, "of-a", { data: { key: "b25l" } });
  await cluster.settle();
  assert.deepEqual(runs, ["a: watched changed"]);
  assert.equal((await cluster.get(Site, "a")).status?.seen, "b25l");

  runs.length = 0;
  await cluster.patch(Site, "b", { spec: { secret: "of-a" } });
  await cluster.settle();
  runs.length = 0;
  await cluster.delete(Secret, "of-a");
  await cluster.settle();
  assert.deepEqual(runs.sort(), ["a: watched changed", "b: watched changed"], "the index followed the change");
});

Deno.test("objects triggered by a low-priority change are reconciled after other triggers", async () => {
  const runs: string[] = [];
  const gate = Promise.withResolvers<void>();
  const sites = controller(Site, {
    concurrency: 1,
    watches: [watch(ConfigMap, { map: (_, { all }) => all(), priority: "low" })],
    async reconcile({ metadata: { name } }, { reason }) {
      runs.push(`${name}: ${reason}`);
      if (name === "slow") await gate.promise;
    },
  });
  await using cluster = await memoryCluster({ parts: { sites } });
  for (const name of ["a", "b"]) await cluster.create(Site, name, { spec: {} });
  await cluster.settle();
  runs.length = 0;
  await cluster.create(Site, "slow", { spec: {} });
  await until(() => runs.length === 1);
  await cluster.create(ConfigMap, "of-all", { data: {} });
  await cluster.create(Site, "late", { spec: {} });
  // Waits until both are in the queue. Only then does the worker become free.
  let turns = 0;
  await until(() => ++turns > 100);
  gate.resolve();
  await cluster.settle();
  assert.deepEqual(runs.slice(0, 2), ["slow: changed", "late: changed"]);
  assert.deepEqual(runs.slice(2).sort(), ["a: watched changed", "b: watched changed", "slow: watched changed"]);
});

Deno.test("map runs on the old object too, so owners that were unlinked are reconciled", async () => {
  const { sites, runs } = siteController({ map: (secret) => secret.metadata.labels?.site });
  await using cluster = await memoryCluster({ parts: { sites } });
  for (const name of ["a", "b"]) await cluster.create(Site, name, { spec: {} });
  await cluster.create(Secret, "one", { metadata: { labels: { site: "a" } } });
  await cluster.settle();
  runs.length = 0;
  await cluster.patch(Secret, "one", { metadata: { labels: { site: "b" } } });
  await cluster.settle();
  assert.deepEqual(runs.sort(), ["a: watched changed", "b: watched changed"]);
});

Deno.test("select limits which changes trigger reconciles, and predicate is called for each of them", async () => {
  const { sites, runs } = siteController({
    select: ({ data }) => data,
    predicate: ({ data }) => data?.key !== "bm8=",
  });
  await using cluster = await memoryCluster({ parts: { sites } });
  await cluster.create(Site, "a", { spec: { secret: "s" } });
  await cluster.create(Secret, "s", { data: { key: "b25l" } });
  await cluster.settle();
  runs.length = 0;
  await cluster.patch(Secret, "s", { metadata: { labels: { unselected: "yes" } } });
  await cluster.settle();
  assert.deepEqual(runs, []);
  await cluster.patch(Secret, "s", { data: { key: "bm8=" } });
  await cluster.settle();
  assert.deepEqual(runs, []);
  await cluster.patch(Secret, "s", { data: { key: "dHdv" } });
  await cluster.settle();
  assert.deepEqual(runs, ["a: watched changed"]);
});

Deno.test("select on a controller's own kind never hides a deletion from cleanup", async () => {
  const cleaned: string[] = [];
  let runs = 0;
  const notes = controller(Note, {
    watches: [watch(Note, { select: ({ spec }) => spec.text })],
    reconcile: () => void runs++,
    cleanup: ({ metadata }) => void cleaned.push(metadata.name),
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  runs = 0;
  await cluster.patch(Note, "a", { metadata: { labels: { unselected: "yes" } } });
  await cluster.settle();
  assert.equal(runs, 0);
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.settle();
  assert.equal(runs, 1);
  await cluster.delete(Note, "a");
  await cluster.settle();
  assert.deepEqual(cleaned, ["a"]);
});

Deno.test("a user function that throws triggers no reconcile, and ends no watch", async () => {
  let isBroken = true;
  const { sites, runs } = siteController({
    map: (secret) => {
      if (isBroken) throw new Error("no");
      return secret.metadata.labels?.site;
    },
  });
  await using cluster = await memoryCluster({ parts: { sites }, failures: "collect" });
  await cluster.create(Site, "a", { spec: {} });
  await cluster.create(Secret, "one", { metadata: { labels: { site: "a" } } });
  await cluster.settle();
  runs.length = 0;
  isBroken = false;
  await cluster.patch(Secret, "one", { data: { key: "b25l" } });
  await cluster.settle();
  assert.deepEqual(runs, ["a: watched changed"]);
});

Deno.test("selectors are sent to the server: an object that stops matching counts as deleted, and one that starts matching as new", async () => {
  const { sites, runs } = siteController({
    labelSelector: { kind: "site" },
    fieldSelector: "metadata.namespace=default",
  });
  await using cluster = await memoryCluster({ parts: { sites } });
  await cluster.create(Site, "a", { spec: { secret: "s" } });
  await cluster.create(Secret, "s", { data: { key: "b25l" } });
  await cluster.settle();
  assert.equal((await cluster.get(Site, "a")).status?.seen, "none");
  assert.deepEqual(watchesOf(cluster, "secrets"), [
    "/api/v1/secrets fieldSelector=metadata.namespace=default labelSelector=kind=site",
  ]);
  runs.length = 0;
  await cluster.patch(Secret, "s", { metadata: { labels: { kind: "site" } } });
  await cluster.settle();
  assert.equal((await cluster.get(Site, "a")).status?.seen, "b25l");
  await cluster.patch(Secret, "s", { metadata: { labels: { kind: null } } });
  await cluster.settle();
  assert.equal((await cluster.get(Site, "a")).status?.seen, "none");
  assert.deepEqual(runs, ["a: watched changed", "a: watched changed"]);
});

Deno.test("the operator's selector applies to the controller's own kind, together with the selector of its watch", async () => {
  for (const [labelSelector, combined] of [["", "watch=yes"], ["tier in (a,b)", "watch=yes,tier in (a,b)"]] as const) {
    const sites = controller(Site, { watches: [watch(Site, { labelSelector })], reconcile() {} });
    await using cluster = await memoryCluster({ parts: { sites }, config: '[operator]\nselector = "watch=yes"\n' });
    await cluster.settle();
    const [watched] = watchesOf(cluster, "sites");
    assert(watched?.endsWith(` labelSelector=${combined}`), watched);
  }
});

Deno.test("metadataOnly caches only metadata", async () => {
  const seen: (Infer<typeof Secret> | undefined)[] = [];
  const sites = controller(Site, {
    watches: [watch(Secret, { metadataOnly: true, map: ({ metadata }) => metadata.name })],
    async reconcile(site, { get }) {
      seen.push(await get(Secret, site.metadata.name));
    },
  });
  await using cluster = await memoryCluster({ parts: { sites } });
  await cluster.create(Secret, "a", { data: { key: "b25l" }, metadata: { labels: { x: "y" } } });
  await cluster.create(Site, "a", { spec: {} });
  await cluster.settle();
  const { apiVersion, kind, metadata, ...rest } = seen.at(-1) as Infer<typeof Secret>;
  assert.deepEqual([apiVersion, kind, metadata.labels, rest], ["v1", "Secret", { x: "y" }, {}]);
  await cluster.patch(Secret, "a", { metadata: { labels: { x: "z" } } });
  await cluster.settle();
  assert.deepEqual([seen.at(-1)?.metadata.labels, seen.at(-1)?.data], [{ x: "z" }, undefined]);
});

Deno.test("the cache holds only this operator's managedFields, or all of them on request", async () => {
  for (const managedFields of [false, true]) {
    let seen: readonly (string | undefined)[] = [];
    const notes = controller(Note, {
      owns: [ConfigMap],
      watches: [watch(ConfigMap, { managedFields })],
      async reconcile({ metadata: { name }, spec }, { apply, get }) {
        const { metadata } = await get(ConfigMap, name) ?? {};
        seen = metadata?.managedFields?.map(({ manager }) => manager) ?? [];
        await apply(ConfigMap, { metadata: { name }, data: { text: spec.text } });
      },
    });
    await using cluster = await memoryCluster({ parts: { notes } });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
    await cluster.client.patch(ConfigMap, "a", { data: { more: "foreign" } }, {
      namespace: "default",
      manager: "other",
    });
    await cluster.settle();
    assert.deepEqual(seen, managedFields ? ["test.notes", "other"] : ["test.notes"]);
  }
});

Deno.test("several namespaces are watched separately, and reads use the requested one", async () => {
  const seen: string[] = [];
  const notes = controller(Note, {
    reads: [ConfigMap],
    async reconcile({ metadata }, { list, get }) {
      const all = await list(ConfigMap, { namespace: "*" });
      const here = await get(ConfigMap, "here");
      seen.push(`${metadata.namespace}: ${here?.data?.of} of ${all.length}`);
    },
  });
  const namespaces = ["one", "two", "three"];
  await using cluster = await memoryCluster({ parts: { notes }, namespaces, visibleNamespaces: ["one", "two"] });
  for (const namespace of namespaces) {
    await cluster.create(ConfigMap, "here", { data: { of: namespace } }, { namespace });
  }
  await cluster.settle();
  for (const namespace of namespaces) await cluster.create(Note, "a", { spec: {} }, { namespace });
  await cluster.settle();
  assert.deepEqual(seen.sort(), ["one: one of 2", "two: two of 2"]);
  assert.deepEqual(watchesOf(cluster, "configmaps"), [
    "/api/v1/namespaces/one/configmaps ",
    "/api/v1/namespaces/two/configmaps ",
  ]);
});

Deno.test("two controllers share one watch with equal settings", async () => {
  const one = siteController();
  const two = controller(Note, { reads: [Secret], reconcile() {} });
  await using cluster = await memoryCluster({ parts: { sites: one.sites, two } });
  await cluster.settle();
  assert.deepEqual(watchesOf(cluster, "secrets"), ["/api/v1/secrets "]);
});

Deno.test("every() triggers all objects periodically, and a source triggers the objects it names and restarts after an error", async () => {
  const runs: string[] = [];
  let opened = 0;
  let next = Promise.withResolvers<string>();
  const notes = controller(Note, {
    triggers: [
      every("1h"),
      source(async function* () {
        opened++;
        if (opened === 1) throw new Error("not yet");
        while (true) {
          const name = await next.promise;
          next = Promise.withResolvers();
          yield [{ namespace: "default", name }, { namespace: "default", name: "missing" }];
        }
      }),
    ],
    reconcile: ({ metadata }, { reason }) => void runs.push(`${metadata.name}: ${reason}`),
  });
  await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
  for (const name of ["a", "b"]) await cluster.create(Note, name, { spec: {} });
  await cluster.advance("30m");
  assert.equal(opened, 2);
  runs.length = 0;
  next.resolve("b");
  await cluster.settle();
  assert.deepEqual(runs, ["b: triggered"]);
  await cluster.advance("31m");
  assert.deepEqual(runs, ["b: triggered", "a: triggered", "b: triggered"]);
});

Deno.test("a source that fails is started again after one second, and then after twice the delay each time", async () => {
  const opened: number[] = [];
  const notes = controller(Note, {
    triggers: [
      // deno-lint-ignore require-yield
      source(async function* (_signal, { clock }) {
        opened.push(clock.now());
        throw new Error("not yet");
      }),
    ],
    reconcile() {},
  });
  await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
  await cluster.advance("10s");
  // The jitter of a memory cluster makes each delay 87.5 % of its maximum.
  assert.deepEqual(opened.map((time) => time - opened[0]!), [0, 875, 2625, 6125]);
});

Deno.test("getLive reads from the server instead of the cache", async () => {
  const notes = controller(Note, {
    reads: [ConfigMap],
    uses: [access(ConfigMap, "get")],
    async reconcile(_note, { getLive }) {
      await getLive(ConfigMap, "a");
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  const gets = cluster.requests.filter(({ path }) => path === "/api/v1/namespaces/default/configmaps/a");
  assert.equal(gets.length, 1);
});

Deno.test("a cluster-scoped child, which cannot have an owner reference, is tracked by a label, repaired, and deleted in cleanup", async () => {
  const label = "demo.example.com/note";
  const notes = controller(Note, {
    owns: [ClusterRole],
    uses: [access(ClusterRole, "delete")],
    indexes: { byUid: index(Note, ({ metadata }) => metadata.uid) },
    watches: [watch(ClusterRole, { map: ({ metadata }, { index }) => index("byUid", metadata.labels?.[label] ?? "") })],
    async reconcile({ metadata: { name, uid }, spec }, { apply }) {
      // Rejected, because the child is cluster-scoped and its owner is not.
      if (spec.text === "owned") await apply(ClusterRole, { metadata: { name }, rules: [] });
      const rules = [{ apiGroups: ["demo.example.com"], resources: [spec.text], verbs: ["get"] }];
      await apply(ClusterRole, { metadata: { name, labels: { [label]: uid } }, rules }, { owner: false });
    },
    async cleanup({ metadata }, context) {
      await context.delete(ClusterRole, metadata.name);
    },
  });
  // RBAC is off: an account could grant only permissions that it has itself.
  await using cluster = await memoryCluster({ parts: { notes }, rbac: false, failures: "collect" });
  const verbs = async () => (await cluster.get(ClusterRole, "a")).rules?.[0]?.verbs;
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(await verbs(), ["get"]);

  await cluster.patch(ClusterRole, "a", { rules: [] });
  await cluster.settle();
  assert.deepEqual(await verbs(), ["get"], "drift is repaired");
  await cluster.delete(ClusterRole, "a");
  await cluster.settle();
  assert.deepEqual(await verbs(), ["get"], "a deleted child is created again");
  await cluster.delete(Note, "a");
  await cluster.settle();
  assert.equal(await cluster.exists(ClusterRole, "a"), false);

  await cluster.create(Note, "b", { spec: { text: "owned" } });
  await cluster.settle();
  const { status } = await cluster.get(Note, "b");
  assert.match(
    status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "",
    /^Cannot make Note "default\/b" the owner of ClusterRole "b": it is cluster-scoped, .* Apply it with { owner: false }/,
  );
});

Deno.test("Context accepts the kinds of watches and the names of indexes, and rejects others", () => {
  const sites = controller(Site, {
    indexes: { bySecret },
    watches: [watch(Secret, { map: () => "a" })],
    async reconcile(_site, { get, index, apply }) {
      (await get(Secret, "a"))?.data satisfies object | undefined;
      index("bySecret", "a")[0]?.spec.secret satisfies string | undefined;
      // @ts-expect-error no index has this name
      index("byName", "a");
      // @ts-expect-error "reads" does not have ConfigMap
      await get(ConfigMap, "a");
      // @ts-expect-error "owns" does not have Secret
      await apply(Secret, { metadata: { name: "a" } });
    },
  });
  operator({ name: "test", parts: { sites } });
});

function watchesOf({ requests }: MemoryCluster, plural: string): string[] {
  return requests.filter(({ path }) => path.includes("watch=true") && path.includes(`/${plural}?`)).map(({ path }) => {
    const { pathname, searchParams } = new URL(path, "http://cluster");
    const selectors = [...searchParams].filter(([name]) => name.endsWith("Selector")).sort();
    return `${pathname} ${selectors.map(([name, value]) => `${name}=${value}`).join(" ")}`;
  });
}
