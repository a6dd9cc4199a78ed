/**
 * Hundreds of watches of single objects on a real API server, over one connection, by a user who
 * may read only these objects.
 */
import assert from "node:assert/strict";
import { controller, type Infer, operator, resource, s, watch } from "../../mod.ts";
import { connect } from "../../entry_points/client.ts";
import { ClusterRole, ClusterRoleBinding, Secret } from "../../src/kinds/mod.ts";
import { startOperator } from "../../src/operator/running.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { eventually } from "../eventually.ts";
import { install } from "../fixtures/install.ts";
import { temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

const IN_DEFAULT = { namespace: "default" };
const COUNT = 300;

const Site = resource({
  group: "named.example.com",
  version: "v1",
  kind: "Site",
  spec: s.object({ secret: s.string() }),
  status: s.object({ seen: s.optional(s.string()) }),
});
type Site = Infer<typeof Site>;

const NAMES = Array.from({ length: COUNT }, (_, i) => `secret-${i}`);

const sites = controller(Site, {
  watches: [watch(Secret, { names: (site: Site) => site.spec.secret })],
  async reconcile({ spec }, { get, status }) {
    status({ seen: (await get(Secret, spec.secret))?.data?.text });
  },
});
const op = operator({ name: "named", parts: { sites }, health: false });

Deno.test(`an operator watches ${COUNT} Secrets by name, with permissions for their names only`, async () => {
  await using cluster = await realCluster({ audit: "everything" });
  await using folder = await temporaryFolder();
  const client = adminClient(cluster);
  await install(client, op);
  await using seen = await watched(client, Site);
  await client.create(ClusterRole, {
    metadata: { name: "named" },
    rules: [
      { apiGroups: ["named.example.com"], resources: ["sites", "sites/status"], verbs: ["list", "watch", "patch"] },
      { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"], resourceNames: NAMES },
    ],
  });
  await client.create(ClusterRoleBinding, {
    metadata: { name: "named" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "named" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "limited" }],
  });
  await folder.write({ config: (await cluster.user("limited")).kubeconfig });
  const connection = await connect({ kubeconfig: `${folder.path}/config` });
  using _connection = { [Symbol.dispose]: () => connection.close() };
  for (const name of NAMES) {
    await client.create(Secret, { metadata: { name }, data: { text: btoa("1") } }, IN_DEFAULT);
    await client.create(Site, { metadata: { name }, spec: { secret: name } }, IN_DEFAULT);
  }
  await using running = startOperator(op, { connection, checkAccess: false });
  await seen.until((sites) => sites.length === COUNT && sites.every(({ status }) => status?.seen === btoa("1")));
  await client.patch(Secret, "secret-7", { data: { text: btoa("2") } }, IN_DEFAULT);
  await seen.until((sites) =>
    sites.some(({ metadata, status }) => metadata.name === "secret-7" && status?.seen === btoa("2"))
  );
  await eventually(() => {
    const line = running.readiness().find(({ name }) => name === "watch Secret by name");
    assert.equal(line?.message, `${COUNT} up to date`);
  });
  const requests = (await cluster.auditLog()).filter(({ user }) => user.username === "limited");
  assert.deepEqual(requests.filter(({ responseStatus }) => (responseStatus?.code ?? 200) >= 400), []);
});
