/**
 * Children on a real API server: `owned`, and deletions with a propagation policy and
 * preconditions.
 */
import assert from "node:assert/strict";
import { access, ApiError, controller, operator, resource, s } from "../../mod.ts";
import { connect } from "../../entry_points/client.ts";
import { ConfigMap } from "../../src/kinds/mod.ts";
import { startOperator } from "../../src/operator/running.ts";
import { kubeconfigFor } from "../../src/apiserver/serve.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { install } from "../fixtures/install.ts";
import { temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

const IN_DEFAULT = { namespace: "default" };

const Shelf = resource({
  group: "children.example.com",
  version: "v1",
  kind: "Shelf",
  plural: "shelves",
  spec: s.object({ step: s.enum(["fill", "stale", "foreground"]) }),
  status: s.object({ children: s.optional(s.array(s.string())), rejected: s.optional(s.integer()) }),
});

const shelves = controller(Shelf, {
  owns: [ConfigMap],
  uses: [access(ConfigMap, "delete")],
  async reconcile({ metadata, spec }, context) {
    const { apply, owned, status } = context;
    if (spec.step === "fill") {
      for (const name of ["one", "two"]) await apply(ConfigMap, { metadata: { name: `${metadata.name}-${name}` } });
    }
    const [first] = owned(ConfigMap);
    if (spec.step === "stale" && first !== undefined) {
      const { name, uid } = first.metadata;
      for (const preconditions of [{ uid, resourceVersion: "1" }, { uid: crypto.randomUUID() }]) {
        const error: unknown = await context.delete(ConfigMap, name, { preconditions }).catch((error) => error);
        status({ rejected: error instanceof ApiError ? error.status : 0 });
      }
    }
    if (spec.step === "foreground") {
      for (const { metadata: { name, uid, resourceVersion, deletionTimestamp } } of owned(ConfigMap)) {
        const preconditions = { uid, resourceVersion };
        if (deletionTimestamp !== undefined) continue;
        await context.delete(ConfigMap, name, { propagationPolicy: "Foreground", preconditions });
      }
    }
    status({ children: owned(ConfigMap).map(({ metadata: { name } }) => name).sort() });
  },
});

Deno.test("owned lists children, and delete passes on preconditions and propagation policy, on a real API server", async () => {
  await using cluster = await realCluster();
  await using folder = await temporaryFolder();
  const client = adminClient(cluster);
  const op = operator({ name: "children", parts: { shelves }, health: false });
  await install(client, op);
  await using all = await watched(client, Shelf);
  await using maps = await watched(client, ConfigMap);
  await folder.write({ config: kubeconfigFor(cluster.url, { ...cluster, token: cluster.admin.token }) });
  const connection = await connect({ kubeconfig: `${folder.path}/config` });
  using _connection = { [Symbol.dispose]: () => connection.close() };
  await client.create(ConfigMap, { metadata: { name: "unrelated" } }, IN_DEFAULT);
  await client.create(Shelf, { metadata: { name: "a" }, spec: { step: "fill" } }, IN_DEFAULT);
  await using _running = startOperator(op, { connection });

  await all.until(([shelf]) => shelf?.status?.children?.join() === "a-one,a-two");

  await client.patch(Shelf, "a", { spec: { step: "stale" } }, IN_DEFAULT);
  await all.until(([shelf]) => shelf?.status?.rejected === 409);
  assert.equal(
    (await client.list(ConfigMap, IN_DEFAULT)).filter(({ metadata }) => /^a-/.test(metadata.name)).length,
    2,
  );

  await client.patch(Shelf, "a", { spec: { step: "foreground" } }, IN_DEFAULT);
  // The garbage collector, which deletes the objects in the end, does not run here.
  await maps.until((maps) =>
    maps.filter(({ metadata }) => metadata.finalizers?.includes("foregroundDeletion")).length === 2
  );
  assert.equal((await client.get(ConfigMap, "unrelated", IN_DEFAULT)).metadata.deletionTimestamp, undefined);
});
