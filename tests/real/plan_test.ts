/** `op plan` on a real API server, as users with few permissions. */
import assert from "node:assert/strict";
import { operatorFolder } from "../../cli/_operator_folder.ts";
import { ClusterRole, ClusterRoleBinding } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { eventually } from "../eventually.ts";
import { isAllowed } from "../fixtures/service_account.ts";

const MAIN = `
const copies = controller(ConfigMap, { owns: [Secret], uses: [access(Namespace, "get")], reconcile() {} });
export default operator({ name: "copier", health: false, parts: { copies } });
`;

Deno.test("op plan works as users with few permissions", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await using folder = await operatorFolder(MAIN);
  await folder.write("admin", cluster.admin.kubeconfig);
  const user = await cluster.user("system:serviceaccount:default:limited");
  await folder.write("limited", user.kubeconfig);

  await t.step("op plan lists each missing permission, and runs no reconcile", async () => {
    const { code, stdout, stderr } = await folder.op("plan", "--kubeconfig", "limited");
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.deepEqual(stderr.match(/^ {2}.*$/gm), [
      "  list configmaps (copies: watches its own kind ConfigMap)",
      "  watch configmaps (copies: watches its own kind ConfigMap)",
      "  list secrets (copies: owns Secret: watches it)",
      "  watch secrets (copies: owns Secret: watches it)",
      "  create secrets (copies: owns Secret: applies it)",
      "  patch secrets (copies: owns Secret: applies it)",
    ]);
  });

  await t.step("op plan --as-account checks the permissions of the service account", async () => {
    const { code, stderr } = await folder.op("plan", "--kubeconfig", "admin", "--as-account");
    assert.equal(code, 1);
    assert.match(stderr, /the operator's ServiceAccount lacks 6 RBAC permissions/);
  });

  await t.step("op plan does not require the permissions declared in uses", async () => {
    const rule = { apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["*"] };
    await client.create(ClusterRole, { metadata: { name: "copies" }, rules: [rule] });
    await client.create(ClusterRoleBinding, {
      metadata: { name: "copies" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "copies" },
      subjects: [{ kind: "ServiceAccount", namespace: "default", name: "limited" }],
    });
    // The API server applies the binding shortly after it stored it.
    await eventually(async () => {
      const attributes = { group: "", resource: "secrets", verb: "patch" };
      assert(await isAllowed(cluster, user.user, attributes));
    });
    const { code, stdout, stderr } = await folder.op("plan", "--kubeconfig", "limited");
    assert.deepEqual([code, stdout], [0, "No changes\n"], stderr);
  });
});
