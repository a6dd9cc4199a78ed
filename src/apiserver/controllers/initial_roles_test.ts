import assert from "node:assert/strict";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { createApiserver } from "../mod.ts";
import { initialRoles } from "./initial_roles.ts";

const PATH = "/apis/rbac.authorization.k8s.io/v1";

/** Returns all RBAC objects of a server, without fields that differ between servers. */
async function rbacObjects(server: ReturnType<typeof createApiserver>): Promise<unknown[]> {
  // Aggregated roles are filled in the background.
  while (server.busy > 0) await new Promise((resolve) => setTimeout(resolve));
  const user = { name: "admin", groups: ["system:masters"] };
  const found: unknown[] = [];
  for (const plural of ["clusterroles", "clusterrolebindings", "roles", "rolebindings"]) {
    const { items } = await (await server.fetch(new Request(`http://server${PATH}/${plural}`), { user })).json();
    for (const { metadata: { uid: _uid, resourceVersion: _version, ...metadata }, ...item } of items) {
      const managedFields = metadata.managedFields.filter(({ manager }: { manager: string }) =>
        manager === "kube-apiserver"
      );
      found.push({ plural, ...item, metadata: { ...metadata, managedFields } });
    }
  }
  return found;
}

Deno.test("the roles of a new server equal roles that were created by requests", async () => {
  const clock = new VirtualClock();
  await using fresh = createApiserver({ clock, rbac: true });
  await using other = createApiserver({ clock });
  for (const [plural, object] of initialRoles()) {
    const { namespace } = object.metadata as { namespace?: string };
    const path = `${PATH}/${namespace === undefined ? "" : `namespaces/${namespace}/`}${plural}`;
    const headers = { "content-type": "application/json", "user-agent": "kube-apiserver/v1" };
    const response = await other.fetch(
      new Request(`http://server${path}`, { method: "POST", headers, body: JSON.stringify(object) }),
    );
    assert.equal(response.status, 201, await response.text());
  }

  assert.deepEqual(await rbacObjects(fresh), await rbacObjects(other));
});
