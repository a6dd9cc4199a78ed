/**
 * External kinds: another program owns their CustomResourceDefinitions, and the operator writes
 * their status only with `writesStatus`.
 */
import assert from "node:assert/strict";
import {
  access,
  type AnyKind,
  type Context,
  controller,
  conversion,
  deny,
  type Infer,
  operator,
  type Part,
  PermanentError,
  resource,
  s,
  webhook,
} from "@op/sdk";
import type { Access } from "@op/sdk/controller";
import { ConfigMap, CustomResourceDefinition, Ingress, Pod } from "@op/sdk/kinds";
import { fakeContext, type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { writes } from "../fixtures/notes.ts";
import { startProcess } from "./_processes.ts";

const entry = s.object({ name: s.string(), accepted: s.boolean() });
const condition = s.object({
  type: s.string(),
  status: s.string(),
  reason: s.string(),
  lastTransitionTime: s.string(),
});

/**
 * A kind like those of Gateway API: each implementation has an entry in one list, and conditions
 * have fewer fields than the SDK's.
 */
const Route = resource({
  group: "gateway.example.com",
  version: "v1",
  kind: "Route",
  external: true,
  conditions: false,
  spec: s.object({ host: s.string() }),
  status: s.object({
    parents: s.optional(s.array(entry)),
    observedGeneration: s.optional(s.integer()),
    conditions: s.optional(s.array(condition, { listType: "map", listMapKeys: ["type"] })),
  }),
});
type Route = Infer<typeof Route>;

const Own = resource({ group: "demo.example.com", version: "v1", kind: "Own", spec: s.object({}) });

async function routeIn(cluster: MemoryCluster): Promise<Route> {
  return await cluster.get(Route, "a");
}

/** Writes the status of the route as another program would. */
async function writeForeignStatus(cluster: MemoryCluster, status: unknown): Promise<void> {
  await cluster.client.patch(Route, "a", { status }, { namespace: "default", subresource: "status" });
}

Deno.test("an operator's CRDs, manifests and samples leave out an external kind, however a part declares it", () => {
  const reconcile = () => {};
  const declared: Record<string, Record<string, Part>> = {
    reconciled: { part: controller(Route, { reconcile }) },
    owned: { part: controller(ConfigMap, { owns: [Route], reconcile }) },
    read: { part: controller(ConfigMap, { reads: [Route], reconcile }) },
    webhook: { part: webhook(Route, { validate() {} }) },
  };
  for (const [declaration, parts] of Object.entries(declared)) {
    const op = operator({ name: "audit", parts: { ...parts, own: controller(Own, { reconcile }) } });
    const { crd, rbac } = op.manifests();
    assert.deepEqual(crd.map(({ metadata }) => metadata.name), ["owns.demo.example.com"], declaration);
    assert.deepEqual(op.crds().map(({ metadata }) => metadata.name), ["owns.demo.example.com"], declaration);
    assert.deepEqual(op.samples().map(({ manifest }) => manifest.kind), ["Own"], declaration);
    const userRoles = rbac.map(({ metadata }) => metadata.name).filter((name) => /-(admin|editor|viewer)$/.test(name));
    assert.deepEqual(userRoles, ["audit-owns-admin", "audit-owns-editor", "audit-owns-viewer"], declaration);
  }
});

Deno.test("memoryCluster installs an external kind for tests, and a controller reads and applies its objects", async () => {
  const mirrors = controller(ConfigMap, {
    owns: [Route],
    async reconcile({ metadata: { name } }, { apply, list }) {
      if ((await list(Route)).length === 0) await apply(Route, { metadata: { name }, spec: { host: "example.com" } });
    },
  });
  await using cluster = await memoryCluster({ parts: { mirrors } });
  await cluster.create(ConfigMap, "a", {});
  await cluster.settle();
  assert.equal((await routeIn(cluster)).spec.host, "example.com");
});

Deno.test("the runtime writes neither Ready nor any other condition into the status of an external kind", async () => {
  const seen: string[] = [];
  const routes = controller(Route, {
    reconcile({ spec }) {
      seen.push(spec.host);
      if (spec.host === "bad") throw new PermanentError("no such host");
    },
  });
  await using cluster = await memoryCluster({ parts: { routes } });
  await cluster.create(Route, "a", { spec: { host: "good" } });
  await cluster.settle();
  await cluster.patch(Route, "a", { spec: { host: "bad" } });
  await cluster.settle();
  await cluster.patch(Route, "a", { metadata: { annotations: { "gateway.example.com/paused": "true" } } });
  await cluster.settle();
  assert.deepEqual(seen, ["good", "bad"]);
  assert.deepEqual([(await routeIn(cluster)).status, writes(cluster)], [undefined, []]);
});

Deno.test("status and condition throw for a kind whose status is not the operator's", async (t) => {
  const kinds: [AnyKind, string][] = [[Route, "an external"], [ConfigMap, "a built-in"]];
  for (const [kind, category] of kinds) {
    await t.step(kind.kind, async () => {
      const thrown: unknown[] = [];
      // The compiler rejects both calls; see tests/types/wrong.
      const part = controller(kind, {
        reconcile(_, { status, condition }: Context) {
          for (const call of [() => status({ parents: [] } as never), () => condition(CONDITION)]) {
            try {
              call();
            } catch (error) {
              thrown.push(error);
            }
          }
        },
      });
      await using cluster = await memoryCluster({ parts: { part } });
      await cluster.create(kind, "a", { spec: { host: "example.com" } } as never);
      await cluster.settle();
      assert.deepEqual(
        thrown.map(String),
        ["status()", "condition()"].map((call) =>
          `TypeError: ${call} for ${kind.kind}: ${kind.apiVersion} ${kind.kind} is ${category} kind, so its status is not this operator's. ` +
          `Set "writesStatus: true" on the controller if the operator implements the kind; otherwise use events or log.`
        ),
      );
      assert.deepEqual(writes(cluster), []);
      assert.throws(() => fakeContext({ controller: part }).status({ parents: [] }), TypeError);
      assert.throws(() => fakeContext({ controller: part }).condition(CONDITION), TypeError);
    });
  }
});

const CONDITION = { type: "Seen", status: "True", reason: "Observed" } as const;

Deno.test("with writesStatus, a controller of an external kind writes the reported status and conditions, and no others", async () => {
  let runs = 0;
  const routes = controller(Route, {
    writesStatus: true,
    reconcile({ metadata, spec, status: { parents = [] } = {} }, { status, condition }) {
      runs++;
      if (spec.host === "bad") throw new PermanentError("no such host");
      const others = parents.filter(({ name }) => name !== "ours");
      status({ parents: [...others, { name: "ours", accepted: true }], observedGeneration: metadata.generation });
      condition({ type: "Accepted", status: "True", reason: "Valid" });
    },
  });
  await using cluster = await memoryCluster({ parts: { routes }, start: new Date("2030-01-01T00:00:00Z") });
  await cluster.create(Route, "a", { spec: { host: "good" } });
  await writeForeignStatus(cluster, {
    parents: [{ name: "theirs", accepted: false }],
    conditions: [{ type: "Resolved", status: "True", reason: "Found", lastTransitionTime: "2029-01-01T00:00:00Z" }],
  });
  await cluster.settle();
  const reported = {
    parents: [{ name: "theirs", accepted: false }, { name: "ours", accepted: true }],
    observedGeneration: 1,
    conditions: [
      { type: "Resolved", status: "True", reason: "Found", lastTransitionTime: "2029-01-01T00:00:00Z" },
      { type: "Accepted", status: "True", reason: "Valid", lastTransitionTime: "2030-01-01T00:00:00Z" },
    ],
  };
  assert.deepEqual((await routeIn(cluster)).status, reported);

  const before = [runs, writes(cluster).length];
  await cluster.patch(Route, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();
  assert.deepEqual([runs - 1, writes(cluster).length], before, "an unchanged status is not written");

  await cluster.patch(Route, "a", { spec: { host: "bad" } });
  await cluster.settle();
  assert.deepEqual((await routeIn(cluster)).status, reported, "a failure adds no condition");
  assert.deepEqual([runs - 2, writes(cluster).length], before);
});

Deno.test("a status of an external kind that another program changes during a reconcile is not overwritten", async () => {
  let runs = 0;
  const routes = controller(Route, {
    writesStatus: true,
    async reconcile({ status: { parents = [] } = {} }, { status }) {
      if (++runs === 1) {
        await writeForeignStatus(cluster, { parents: [{ name: "theirs", accepted: true }] });
        await cluster.client.patch(ConfigMap, "a", { data: { waited: "yes" } }, { namespace: "default" });
      }
      status({ parents: [...parents.filter(({ name }) => name !== "ours"), { name: "ours", accepted: true }] });
    },
  });
  await using cluster: MemoryCluster = await memoryCluster({ parts: { routes } });
  await cluster.create(ConfigMap, "a", {});
  await cluster.create(Route, "a", { spec: { host: "example.com" } });
  await cluster.settle();
  assert.deepEqual((await routeIn(cluster)).status?.parents?.map(({ name }) => name), ["theirs", "ours"]);
  assert(runs >= 2);
});

Deno.test("with writesStatus, a controller of a built-in kind writes its status", async () => {
  const ingresses = controller(Ingress, {
    writesStatus: true,
    reconcile(_, { status }) {
      status({ loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } });
    },
  });
  const pods = controller(Pod, {
    writesStatus: true,
    reconcile(_, { condition }) {
      condition({ type: "example.com/registered", status: "True", reason: "Registered" });
    },
  });
  await using cluster = await memoryCluster({ parts: { ingresses, pods } });
  await cluster.create(Ingress, "a", { spec: { defaultBackend: { service: { name: "a", port: { number: 80 } } } } });
  await cluster.create(Pod, "a", { spec: { containers: [{ name: "a", image: "a" }] } });
  await cluster.settle();
  await cluster.patch(Pod, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();
  assert.deepEqual((await cluster.get(Ingress, "a")).status, { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } });
  const { status } = await cluster.get(Pod, "a");
  assert.deepEqual(
    status?.conditions?.flatMap(({ type, reason }) => type === "example.com/registered" ? [reason] : []),
    ["Registered"],
  );
  assert.deepEqual(writes(cluster), ["PATCH ingresses/a/status", "PATCH pods/a/status"]);
});

Deno.test("a controller waits until an external kind is served, and the log and readiness report it", async () => {
  const hosts: string[] = [];
  const routes = controller(Route, { reconcile: ({ spec }) => void hosts.push(spec.host) });
  await using cluster = await memoryCluster();
  await using process = startProcess(cluster, operator({ name: "late", parts: { routes }, health: false }));
  await cluster.advance("10s");
  const line = () => process.running.readiness().find(({ name }) => name === "watch Route")!;
  const message =
    'Cannot watch Route: the API server does not serve "routes" of gateway.example.com/v1. Install the project that its ' +
    'CustomResourceDefinition "routes.gateway.example.com" belongs to; the watch starts once it is served.';
  assert.deepEqual([line().isReady, line().message], [false, message]);
  assert.deepEqual(cluster.sent({ kind: CustomResourceDefinition }).filter(({ verb }) => verb !== "create"), []);

  await cluster.client.create(CustomResourceDefinition, Route.crd as never);
  await cluster.create(Route, "a", { spec: { host: "example.com" } });
  await cluster.advance("1m");
  assert.deepEqual([line().isReady, hosts], [true, ["example.com"]]);
  const stopped = process.stop();
  await cluster.advance("1m");
  await stopped;
});

Deno.test("a finalizer that an earlier version left on an external kind is removed only with the permission to patch", async (t) => {
  const finalizers = ["gateway.example.com/test.routes"];
  const reconcileWith = async (uses: readonly Access<typeof Route, "patch">[]) => {
    const hosts: string[] = [];
    const routes = controller(Route, { uses, reconcile: ({ spec }) => void hosts.push(spec.host) });
    await using cluster = await memoryCluster({ parts: { routes } });
    await cluster.create(Route, "a", { metadata: { finalizers }, spec: { host: "example.com" } });
    await cluster.settle();
    assert.deepEqual(hosts, ["example.com"]);
    return {
      remaining: (await routeIn(cluster)).metadata.finalizers ?? [],
      messages: cluster.logged.map(({ message }) => message),
    };
  };
  await t.step("without the permission it stays, and the object is reconciled with a warning", async () => {
    const { remaining, messages } = await reconcileWith([]);
    assert.deepEqual(remaining, finalizers);
    assert(messages.includes("Finalizer of an earlier version not removed"), messages.join());
  });
  await t.step("with the permission to patch, it is removed", async () => {
    const { remaining, messages } = await reconcileWith([access(Route, "patch")]);
    assert.deepEqual(remaining, []);
    assert(!messages.includes("Finalizer of an earlier version not removed"), messages.join());
  });
});

Deno.test("a webhook of an external kind is called, and its failures are ignored by default", async () => {
  const routes = webhook(Route, {
    validate: ({ spec }) => spec.host === "bad" ? deny("no such host") : undefined,
  });
  assert.equal(routes.failurePolicy, "Ignore");
  await using cluster = await memoryCluster({ parts: { routes } });
  await cluster.create(Route, "a", { spec: { host: "good" } });
  await assert.rejects(cluster.create(Route, "b", { spec: { host: "bad" } }), /no such host/);
});

Deno.test("a conversion of an external kind is rejected at its declaration", () => {
  const names = { group: "gateway.example.com", kind: "Route", external: true, spec: s.object({}) } as const;
  const V1 = resource({ ...names, version: "v1" });
  const V2 = resource({ ...names, version: "v2", versions: [V1] });
  const same = ({ spec }: { readonly spec: Record<string, never> }) => ({ spec });
  assert.throws(() => conversion(V1, V2, { up: same, down: same }), {
    name: "TypeError",
    message:
      /^Conversion from gateway\.example\.com\/v1 to gateway\.example\.com\/v2 of Route: the kind is external.*Remove the conversion/,
  });
});
