/** Watches of single objects that a controller's objects name. */
import assert from "node:assert/strict";
import { access, controller, type Infer, resource, s, watch } from "@op/sdk";
import { ConfigMap, Event, Secret } from "@op/sdk/kinds";
import { faults, memoryCluster } from "@op/sdk/testing";
import type { MemoryCluster } from "@op/sdk/testing";
import { controllerRbacRules, describeRule } from "../../src/parts/rbac.ts";
import { until } from "../fixtures/notes.ts";

const Site = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Site",
  spec: s.object({ secret: s.string() }),
  status: s.object({ seen: s.optional(s.string()) }),
});
type Site = Infer<typeof Site>;

const runs: string[] = [];

/**
 * A controller that reads the Secret that its object names. It records each reconcile and the
 * value.
 */
const sites = controller(Site, {
  watches: [
    watch(Secret, { names: (site: Site) => site.spec.secret, select: ({ data }: Infer<typeof Secret>) => data }),
  ],
  uses: [access(Secret, "patch")],
  async reconcile({ metadata, spec }, { get, patch, reason, status }) {
    const secret = await get(Secret, spec.secret);
    runs.push(`${metadata.name} ${secret === undefined ? "none" : atob(secret.data?.text ?? "")}: ${reason}`);
    status({ seen: secret?.data?.text });
    if (secret?.data?.text === btoa("rewrite")) {
      await patch(Secret, spec.secret, { data: { text: btoa("rewritten") } });
      const again = await get(Secret, spec.secret);
      runs.push(`${metadata.name} reads ${atob(again?.data?.text ?? "")}`);
    }
  },
});

/** Returns the names whose watches were requested. */
function watchedNames({ requests }: MemoryCluster, from = 0): string[] {
  const watches = requests.slice(from).filter(({ resource, verb }) => resource === "secrets" && verb === "watch");
  return [...new Set(watches.map(({ path }) => new URL(path, "http://x").searchParams.get("fieldSelector") ?? "all"))];
}

const secret = (cluster: MemoryCluster, name: string, text: string, namespace = "default") =>
  cluster.create(Secret, name, { data: { text: btoa(text) } }, { namespace });

Deno.test("an object that names a Secret opens a watch of that name, which triggers that object alone, and no other Secret is requested", async () => {
  runs.length = 0;
  await using cluster = await memoryCluster({ parts: { sites }, namespaces: ["other"] });
  await secret(cluster, "one", "1");
  await secret(cluster, "unnamed", "n");
  await secret(cluster, "one", "elsewhere", "other");
  await cluster.create(Site, "a", { spec: { secret: "one" } });
  await cluster.create(Site, "b", { spec: { secret: "one" } });
  await cluster.create(Site, "c", { spec: { secret: "two" } });
  await cluster.settle();
  assert.deepEqual(runs.sort(), ["a 1: changed", "b 1: changed", "c none: changed"]);
  assert.deepEqual(watchedNames(cluster), ["metadata.name=one", "metadata.name=two"]);
  assert(cluster.sent({ kind: Secret, verb: "watch" }).every(({ namespace }) => namespace === "default"));

  runs.length = 0;
  await cluster.patch(Secret, "one", { data: { text: btoa("2") } });
  await cluster.patch(Secret, "unnamed", { data: { text: btoa("2") } });
  await cluster.patch(Secret, "one", { metadata: { labels: { a: "b" } } });
  await secret(cluster, "two", "new");
  await cluster.settle();
  assert.deepEqual(runs.sort(), ["a 2: watched changed", "b 2: watched changed", "c new: watched changed"]);

  runs.length = 0;
  await cluster.delete(Secret, "two");
  await cluster.settle();
  assert.deepEqual(runs, ["c none: watched changed"]);
});

Deno.test("a watch of a name is closed when no object names it any more, and opened again for the next one", async () => {
  runs.length = 0;
  await using cluster = await memoryCluster({ parts: { sites } });
  await secret(cluster, "one", "1");
  await secret(cluster, "two", "2");
  for (const name of ["a", "b"]) await cluster.create(Site, name, { spec: { secret: "one" } });
  await cluster.settle();
  await cluster.patch(Site, "a", { spec: { secret: "two" } });
  await cluster.settle();
  await cluster.patch(Secret, "one", { data: { text: btoa("b still names it") } });
  await cluster.settle();
  assert.equal(runs.at(-1), "b b still names it: watched changed");
  await cluster.delete(Site, "b");
  await cluster.settle();
  const from = cluster.requests.length;
  runs.length = 0;
  await cluster.patch(Secret, "one", { data: { text: btoa("no site names it") } });
  // Within this time, every open watch ends and is opened again.
  await cluster.advance("20m");
  assert.deepEqual(runs, []);
  assert.deepEqual(watchedNames(cluster, from), ["metadata.name=two"]);
  await cluster.patch(Site, "a", { spec: { secret: "one" } });
  await cluster.settle();
  assert.deepEqual(runs, ["a no site names it: changed"]);
});

Deno.test("a reconcile reads its own write of a named object, which does not trigger another reconcile", async () => {
  runs.length = 0;
  await using cluster = await memoryCluster({ parts: { sites } });
  await secret(cluster, "one", "rewrite");
  await cluster.create(Site, "a", { spec: { secret: "one" } });
  await cluster.settle();
  assert.deepEqual(runs, ["a rewrite: changed", "a reads rewritten"]);
});

Deno.test("a reconcile that reads an object whose watch cannot start fails, and is retried", async () => {
  runs.length = 0;
  await using cluster = await memoryCluster({ parts: { sites }, failures: "collect" });
  await secret(cluster, "one", "1");
  using refused = cluster.inject(faults.status(403), { kind: Secret, times: 1000 });
  await cluster.create(Site, "a", { spec: { secret: "one" } });
  await cluster.advance("10s");
  const { status } = await cluster.get(Site, "a");
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  assert.match(`${ready?.status} ${ready?.message}`, /^False Cannot watch Secret.*403/);
  refused[Symbol.dispose]();
  await cluster.advance("5m");
  assert.deepEqual(runs, ["a 1: retried"]);
});

/**
 * Creates a controller whose first reconcile waits for a signal, and records what each reconcile
 * reads.
 */
function controllerThatWaits(): {
  readonly sites: ReturnType<typeof controller>;
  readonly steps: string[];
  proceed(): void;
} {
  const { promise, resolve } = Promise.withResolvers<void>();
  const steps: string[] = [];
  const sites = controller(Site, {
    watches: [watch(Secret, { names: (site: Site) => site.spec.secret })],
    async reconcile({ spec }, { get, status }) {
      steps.push(`starts with ${spec.secret}`);
      await promise;
      const secret = await get(Secret, spec.secret);
      steps.push(`reads ${spec.secret}`);
      status({ seen: secret?.data?.text });
    },
  });
  return { sites, steps, proceed: resolve };
}

Deno.test("a reconcile whose object names another Secret before its read is aborted without an error, and the next one starts", async () => {
  const { sites, steps, proceed } = controllerThatWaits();
  await using cluster = await memoryCluster({ parts: { sites } });
  for (const name of ["one", "two"]) await secret(cluster, name, name);
  await cluster.create(Site, "a", { spec: { secret: "one" } });
  await until(() => steps.length > 0);
  await cluster.patch(Site, "a", { spec: { secret: "two" } });
  await until(() => watchedNames(cluster).includes("metadata.name=two"));
  proceed();
  await cluster.settle();
  assert.deepEqual(steps, ["starts with one", "starts with two", "reads two"]);
  const { status } = await cluster.get(Site, "a");
  assert.deepEqual([status?.seen, status?.conditions?.map(({ type }) => type)], [btoa("two"), ["Ready"]]);
  assert.equal((await cluster.client.list(Event, { namespace: "default" })).length, 0);
});

Deno.test("a reconcile that waits for a Secret whose watch does not start is aborted when its object names another", async () => {
  const { sites, steps, proceed } = controllerThatWaits();
  await using cluster = await memoryCluster({ parts: { sites } });
  for (const name of ["one", "two"]) await secret(cluster, name, name);
  await cluster.settle();
  const isOfOne = { kind: Secret, where: ({ path }: { readonly path: string }) => path.includes("one"), times: 100 };
  using _slow = cluster.inject(faults.delay("1h"), isOfOne);
  proceed();
  await cluster.create(Site, "a", { spec: { secret: "one" } });
  await until(() => steps.length > 0);
  await cluster.patch(Site, "a", { spec: { secret: "two" } });
  await until(() => steps.includes("reads two"));
  assert.deepEqual(steps, ["starts with one", "starts with two", "reads two"]);
});

const fixed = controller(Site, {
  watches: [watch(ConfigMap, { names: ["defaults"] })],
  async reconcile({ metadata }, { get }) {
    runs.push(`${metadata.name} ${(await get(ConfigMap, "defaults"))?.data?.text}`);
  },
});

Deno.test("fixed names are watched in the namespace of each object, with RBAC permissions for these names only", async () => {
  runs.length = 0;
  const declared = controllerRbacRules(fixed).filter(({ resource }) => resource === "configmaps");
  assert.deepEqual(declared.map((rule) => [describeRule(rule), rule.names]), [
    ["list configmaps", ["defaults"]],
    ["watch configmaps", ["defaults"]],
  ]);
  const rules = [
    { apiGroups: ["demo.example.com"], resources: ["sites", "sites/status"], verbs: ["list", "watch", "patch"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"], resourceNames: ["defaults"] },
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  ];
  await using cluster = await memoryCluster({ parts: { fixed }, rbac: rules, checkAccess: true });
  await cluster.create(ConfigMap, "defaults", { data: { text: "1" } });
  await cluster.create(Site, "a", { spec: { secret: "" } });
  await cluster.settle();
  await cluster.patch(ConfigMap, "defaults", { data: { text: "2" } });
  await cluster.settle();
  assert.deepEqual(runs, ["a 1", "a 2"]);
});

Deno.test("a reconcile that gets an object that is not named, or lists a kind that is watched by name, fails with an error that says what to do", async () => {
  const failing = (read: "get" | "list") =>
    controller(Site, {
      watches: [watch(Secret, { names: (site: Site) => site.spec.secret })],
      reconcile: async (_, context) =>
        void await (read === "get" ? context.get(Secret, "other") : context.list(Secret)),
    });
  for (
    const [read, message] of [["get", /the watch of controller "sites" does not include it/], [
      "list",
      /Get them by name/,
    ]] as const
  ) {
    await using cluster = await memoryCluster({ parts: { sites: failing(read) }, failures: "collect" });
    await cluster.create(Site, "a", { spec: { secret: "one" } });
    await cluster.settle();
    const { status } = await cluster.get(Site, "a");
    assert.match(status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "", message);
  }
});
