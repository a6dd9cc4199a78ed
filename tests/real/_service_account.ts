/** Installing an operator on a real cluster as its manifests say, and being its service account. */
import assert from "node:assert/strict";
import type { Manifest } from "../../src/manifests/manifest.ts";
import type { RbacRule } from "../../src/manifests/rbac.ts";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding, ServiceAccount } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import type { Connection } from "../../src/kube/connection.ts";
import type { AnyKind } from "../../src/resource/kind.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";

const KINDS: Readonly<Record<string, AnyKind>> = {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  ServiceAccount,
};

/** Creates accounts, roles and bindings. */
export async function createAccess(client: Client, manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests) {
    const kind = KINDS[manifest.kind];
    assert(kind, manifest.kind);
    await client.create(kind, manifest);
  }
}

/** A token of a service account, as a pod has it. */
export async function tokenOf(cluster: Pick<RealCluster, "fetch">, namespace: string, name: string): Promise<string> {
  const response = await cluster.fetch(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} }),
  });
  assert.equal(response.status, 201);
  return (await response.json()).status.token;
}

/** A way to the cluster as a service account. */
export interface AccountConnection extends Connection, Disposable {
  /** Called with what the server says, whenever it refuses a request. */
  onRefused: (message: string) => void;
}

/** Connects as a service account. */
export function connectAs(cluster: RealCluster, token: string): AccountConnection {
  const client = Deno.createHttpClient({ caCerts: [cluster.caCert] });
  const connection: AccountConnection = {
    url: cluster.url,
    onRefused: () => {},
    async fetch(request) {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${token}`);
      const response = await fetch(new Request(request, { headers }), { client } as RequestInit);
      if (response.status === 403) connection.onRefused((await response.clone().json()).message);
      return response;
    },
    close() {},
    [Symbol.dispose]: () => client.close(),
  };
  return connection;
}

/** What a user is to be allowed, as a SubjectAccessReview names it. */
export type ResourceAttributes = Readonly<Record<string, string | undefined>>;

/**
 * Returns whether RBAC allows a user something now. The API server applies a change of roles and bindings a moment after it
 * stored it.
 */
export async function isAllowed(
  cluster: Pick<RealCluster, "fetch">,
  user: string,
  resourceAttributes: ResourceAttributes,
): Promise<boolean> {
  const response = await cluster.fetch("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    method: "POST",
    body: JSON.stringify({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user, resourceAttributes },
    }),
  });
  return (await response.json()).status.allowed;
}

/**
 * Returns whether RBAC allows a user one right of an operator now.
 *
 * @param cluster The API server.
 * @param user The user.
 * @param right The right.
 * @param own The namespace of the operator.
 */
export async function hasRight(
  cluster: Pick<RealCluster, "fetch">,
  user: string,
  { group, resource: whole, verb, names: [name], scope }: RbacRule,
  own: string,
): Promise<boolean> {
  const [resource, subresource] = whole.split("/");
  const place = scope === "own" ? { namespace: own, ...(name === undefined ? {} : { name }) } : {};
  return await isAllowed(cluster, user, { group, resource, subresource, verb, ...place });
}
