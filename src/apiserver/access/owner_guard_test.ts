import assert from "node:assert/strict";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { type Apiserver, createApiserver } from "../mod.ts";

const RBAC = "rbac.authorization.k8s.io";
const ADMIN = { name: "admin", groups: ["system:masters"] };
const JANE = { name: "jane", groups: ["system:authenticated"] };
const MAPS = "/api/v1/namespaces/default/configmaps";

async function send(server: Apiserver, user: typeof ADMIN, method: string, path: string, body: unknown) {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = { "content-type": type };
  const request = new Request(`http://server${path}`, { method, headers, body: JSON.stringify(body) });
  const response = await server.fetch(request, { user });
  const { message, metadata } = await response.json();
  return { status: response.status, message, uid: metadata?.uid };
}

/**
 * Creates a server with a ConfigMap `owner`, a ConfigMap `free`, and the given RBAC permissions for
 * JANE.
 */
async function withRules(isEnforced: boolean, rules: readonly (readonly [resource: string, verb: string])[]) {
  const clock = new VirtualClock();
  const server = createApiserver({ clock, rbac: true, ownerReferencesPermissionEnforcement: isEnforced });
  await send(server, ADMIN, "POST", `/apis/${RBAC}/v1/clusterroles`, {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: "jane" },
    rules: rules.map(([resource, verb]) => ({ apiGroups: [""], resources: [resource], verbs: [verb] })),
  });
  await send(server, ADMIN, "POST", `/apis/${RBAC}/v1/clusterrolebindings`, {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "jane" },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "jane" },
    subjects: [{ apiGroup: RBAC, kind: "User", name: "jane" }],
  });
  const { uid } = await send(server, ADMIN, "POST", MAPS, { metadata: { name: "owner" } });
  await send(server, ADMIN, "POST", MAPS, { metadata: { name: "free" } });
  const owners = (blockOwnerDeletion: boolean) => ({
    ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion }],
  });
  return { server, owners };
}

const FINALIZERS =
  'configmaps "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on: , <nil>';
const DELETE = 'configmaps "free" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>';

// Responses of kube-apiserver 1.36.3 with OwnerReferencesPermissionEnforcement.
const CREATES: readonly { name: string; rules: [string, string][]; blocks: boolean; status: number }[] = [
  {
    name: "rejects blockOwnerDeletion without the RBAC permission for the owner's finalizers",
    rules: [["configmaps", "create"]],
    blocks: true,
    status: 403,
  },
  {
    name: "allows an owner reference without blockOwnerDeletion",
    rules: [["configmaps", "create"]],
    blocks: false,
    status: 201,
  },
  {
    name: "allows blockOwnerDeletion with the RBAC permission for the owner's finalizers",
    rules: [["configmaps", "create"], ["configmaps/finalizers", "update"]],
    blocks: true,
    status: 201,
  },
];

for (const { name, rules, blocks, status } of CREATES) {
  Deno.test(`createApiserver with ownerReferencesPermissionEnforcement ${name}`, async () => {
    const { server, owners } = await withRules(true, rules);
    await using _ = server;
    const answer = await send(server, JANE, "POST", MAPS, { metadata: { name: "a", ...owners(blocks) } });
    assert.equal(answer.status, status);
    assert.equal(answer.message, status === 403 ? FINALIZERS : undefined);
  });
}

Deno.test("createApiserver with ownerReferencesPermissionEnforcement requires the RBAC permission to delete an object for setting its owner, but not for keeping it", async () => {
  const { server, owners } = await withRules(true, [["configmaps", "patch"]]);
  await using _ = server;
  const patched = await send(server, JANE, "PATCH", `${MAPS}/free`, { metadata: owners(false) });
  assert.deepEqual([patched.status, patched.message], [403, DELETE]);
  assert.equal((await send(server, ADMIN, "PATCH", `${MAPS}/free`, { metadata: owners(true) })).status, 200);
  assert.equal((await send(server, JANE, "PATCH", `${MAPS}/free`, { data: { a: "1" } })).status, 200);
});

Deno.test("createApiserver does not check owner references by default", async () => {
  const { server, owners } = await withRules(false, [["configmaps", "create"]]);
  await using _ = server;
  assert.equal((await send(server, JANE, "POST", MAPS, { metadata: { name: "a", ...owners(true) } })).status, 201);
});
