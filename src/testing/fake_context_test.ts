import assert from "node:assert/strict";
import { access } from "../parts/access.ts";
import type { Context } from "../parts/context.ts";
import { controller } from "../parts/controller.ts";
import { on } from "../parts/handlers/on.ts";
import { memo } from "../handlers/memo.ts";
import { requeue } from "../parts/outcome.ts";
import { index } from "../parts/watch.ts";
import { ConfigMap, Deployment, Namespace, Secret } from "../kinds/mod.ts";
import { resource } from "../resource/resource.ts";
import { s } from "../schema/mod.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { fakeContext } from "./fake_context.ts";

const Site = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Site",
  spec: s.object({ host: s.string(), secret: s.string() }),
  status: s.object({ ready: s.integer() }),
});

const spec = { selector: {}, template: { spec: { containers: [] } } };

interface Services {
  readonly greet: (name: string) => string;
}

const sites = controller.with<Services>()(Site, {
  owns: [Deployment, ConfigMap],
  reads: [Secret],
  uses: [access(Namespace, "get"), access(ConfigMap, "delete")],
  indexes: { bySecret: index(Site, (site) => site.spec.secret) },
  async reconcile(
    site,
    { apply, get, index, list, patch, delete: remove, status, condition, events, log, services, attempt },
  ) {
    const { name } = site.metadata;
    const secret = await get(Secret, site.spec.secret);
    const live = await apply(Deployment, { metadata: { name, labels: { site: name } }, spec });
    await patch(ConfigMap, "notes", { data: { text: services.greet(name) } });
    await remove(ConfigMap, "old", { namespace: "elsewhere" });
    status({ ready: live.status?.readyReplicas ?? 0 });
    condition({ type: "Safe", status: secret === undefined ? "False" : "True", reason: "Looked" });
    events.warning("Tried", `try ${attempt}`);
    log.info("Shared", { with: index("bySecret", site.spec.secret).length });
    log.debug("Seen", { deployments: (await list(Deployment, { selector: { site: name } })).length });
    return requeue("10m");
  },
});

const site = (name: string) => ({ metadata: { name }, spec: { host: `${name}.example.com`, secret: "key" } });

Deno.test("fakeContext records what a reconcile does, and reads from the given objects", async () => {
  const context = fakeContext<Services>({
    objects: [
      [Site, site("shop")],
      [Site, site("blog")],
      [Deployment, { metadata: { name: "shop" }, status: { readyReplicas: 2 } }],
    ],
    services: { greet: (name) => `Hello ${name}` },
    controller: sites,
    attempt: 3,
  });

  const outcome = await sites.reconcile(site("shop"), context);

  assert.deepEqual(outcome, requeue("10m"));
  assert.deepEqual(context.writes, [
    {
      verb: "apply",
      kind: "Deployment",
      name: "shop",
      namespace: "default",
      body: { metadata: { name: "shop", labels: { site: "shop" } }, spec },
    },
    { verb: "patch", kind: "ConfigMap", name: "notes", namespace: "default", body: { data: { text: "Hello shop" } } },
    { verb: "delete", kind: "ConfigMap", name: "old", namespace: "elsewhere" },
  ]);
  assert.deepEqual(context.reportedStatus, { ready: 2 });
  assert.deepEqual(context.conditions, [{ type: "Safe", status: "False", reason: "Looked" }]);
  assert.deepEqual(context.emittedEvents, [{ type: "Warning", reason: "Tried", note: "try 3" }]);
  assert.deepEqual(context.logged, [
    { level: "info", message: "Shared", fields: { with: 2 } },
    { level: "debug", message: "Seen", fields: { deployments: 1 } },
  ]);
});

Deno.test("fakeContext returns created, applied and patched objects, and no deleted ones", async () => {
  const context = fakeContext({ namespace: "team" });
  await context.create(ConfigMap, { metadata: { name: "a" }, data: { x: "1" } });
  await context.apply(ConfigMap, { metadata: { name: "a" }, data: { y: "2" } });
  await context.patch(ConfigMap, "a", { data: { x: null } });
  await context.patch(ConfigMap, "a", [{ op: "add", path: "/data/z", value: "3" }], { type: "json" });
  await context.applyAll([[ConfigMap, { metadata: { name: "b" } }], [Namespace, { metadata: { name: "n" } }]]);

  assert.deepEqual(await context.get(ConfigMap, "a"), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "team" },
    data: { y: "2", z: "3" },
  });
  assert.deepEqual((await context.list(ConfigMap)).map(({ metadata }) => metadata.name), ["a", "b"]);
  assert.deepEqual(await context.list(ConfigMap, { namespace: "default" }), []);
  assert.equal((await context.getLive(Namespace, "n"))?.metadata.namespace, undefined);
  await context.delete(ConfigMap, "a");
  assert.equal(await context.get(ConfigMap, "a"), undefined);
  assert.equal(await context.get(ConfigMap, "b", { namespace: "other" }), undefined);
});

Deno.test("index of a fake context throws without a controller or without the index", () => {
  assert.throws(() => fakeContext().index("a", "b"), /cannot read index "a" without a controller/);
  assert.throws(() => fakeContext({ controller: sites }).index("a", "b"), /the controller has no index "a"/);
});

Deno.test("a fake context is assignable to Context", () => {
  const take = (_context: Context<typeof Site, readonly [typeof Deployment], readonly [typeof Secret]>) => {};
  take(fakeContext());
});

Deno.test("now of a fake context returns the time of its clock, by default 2030-01-01", () => {
  const { now, clock } = fakeContext();
  assert.equal(now().toISOString(), "2030-01-01T00:00:00.000Z");
  assert.equal(clock.now(), now().getTime());

  const later = new VirtualClock(Date.UTC(2031, 5, 1));
  assert.equal(fakeContext({ clock: later }).now().toISOString(), "2031-06-01T00:00:00.000Z");
});

Deno.test("owned of a fake context lists given and written objects of the kind in the namespace", async () => {
  const context = fakeContext({
    objects: [[ConfigMap, { metadata: { name: "a" } }], [ConfigMap, { metadata: { name: "b", namespace: "other" } }]],
  });
  await context.apply(ConfigMap, { metadata: { name: "c" } });
  assert.deepEqual(context.owned(ConfigMap).map(({ metadata }) => metadata.name), ["a", "c"]);
});

Deno.test("a fake context records the options of a deletion", async () => {
  const context = fakeContext({ objects: [[ConfigMap, { metadata: { name: "a" } }]] });
  const preconditions = { uid: "u1" };
  await context.delete(ConfigMap, "a", { propagationPolicy: "Foreground", preconditions });
  await context.delete(ConfigMap, "b", { namespace: "other" });

  assert.deepEqual(context.writes, [
    {
      verb: "delete",
      kind: "ConfigMap",
      name: "a",
      namespace: "default",
      options: { propagationPolicy: "Foreground", preconditions },
    },
    { verb: "delete", kind: "ConfigMap", name: "b", namespace: "other" },
  ]);
  assert.equal(await context.get(ConfigMap, "a"), undefined);
});

Deno.test("fakeContext returns a context of every controller, whose reads return typed objects", async () => {
  const context = fakeContext({ objects: [[ConfigMap, { metadata: { name: "notes" }, data: { text: "Hello" } }]] });
  context satisfies Context<typeof Site, readonly [typeof Deployment]>;
  // A kind whose status is not the operator's.
  context satisfies Pick<Context<typeof Deployment, readonly [typeof ConfigMap]>, "apply" | "status" | "condition">;
  const notes = await context.get(ConfigMap, "notes");
  assert.equal(notes?.data?.text satisfies string | undefined, "Hello");
});

Deno.test("sleep of a fake context moves its virtual clock, and rejects if the signal is aborted", async () => {
  const context = fakeContext();
  await Promise.all([context.sleep("1m"), context.sleep("5m")]);
  assert.equal(context.now().toISOString(), "2030-01-01T00:05:00.000Z");
  await context.sleep("1m");
  assert.equal(context.now().toISOString(), "2030-01-01T00:06:00.000Z");

  const stopped = fakeContext({ signal: AbortSignal.abort("enough") });
  await assert.rejects(stopped.sleep("1m"), (reason) => reason === "enough");
  assert.equal(stopped.now().toISOString(), "2030-01-01T00:00:00.000Z");
});

Deno.test("elapsed of a fake context is the time since its option started", () => {
  const { attempt, started, elapsed } = fakeContext({ attempt: 3, started: new Date("2029-12-31T23:00:00Z") });
  assert.deepEqual([attempt, started.getUTCHours(), elapsed], [3, 23, 3_600_000]);
  assert.equal(fakeContext().elapsed, 0);
});

Deno.test("a fake context has the fields of a handler's call", async () => {
  const visits = memo(() => ({ count: 0 }));
  const context = fakeContext({ cause: "update", old: { spec: { size: 1 } }, current: { spec: { size: 2 } } });
  const update = on.update(ConfigMap, async (_map, { cause, diff, memo, step, steps }) => {
    memo(visits).count++;
    const id = await step("database", () => "db-1");
    const { a, b } = await steps({ a: () => 1, b: ({ attempt }) => attempt });
    context.log.info("Called", { cause, paths: [...diff].map(({ path }) => path.join(".")), id, a, b });
  });
  await update.handle({ metadata: { name: "a" } }, context);
  assert.deepEqual(context.logged, [
    { level: "info", message: "Called", fields: { cause: "update", paths: ["spec.size"], id: "db-1", a: 1, b: 1 } },
  ]);
  assert.equal(context.memo(visits).count, 1);
});
