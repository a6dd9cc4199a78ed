/** What an operator needs in a cluster before it runs outside of it: its kinds, its account, its roles. */
import { CustomResourceDefinition } from "@op/sdk/kinds";
import { ApiError, type KubeObject } from "@op/sdk";
import { applyFailure, type Cluster } from "../cluster.ts";
import { MANAGER } from "../deploy/deploy.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { PlainObject } from "../objects.ts";

/** How often it is looked whether a kind is served. */
const BETWEEN_LOOKS = 200;

/**
 * Applies the definitions, the namespace, the service account and the roles of an operator, and waits until its kinds are served.
 *
 * @param cluster The cluster.
 * @param facts The operator's own account.
 * @param signal Ends the waiting.
 * @returns What was created or changed.
 * @throws {Failure} If the server refuses one.
 */
export async function install(cluster: Cluster, facts: OperatorFacts, signal: AbortSignal): Promise<string[]> {
  const { crd, namespace, rbac } = facts.manifests;
  const changed: string[] = [];
  for (const object of [...crd, ...namespace, ...rbac] as unknown as PlainObject[]) {
    if (await applied(cluster, object)) changed.push(`${object.kind} ${object.metadata.name}`);
  }
  for (const { metadata } of crd) {
    while (!isServed(await cluster.client.get(CustomResourceDefinition, metadata.name, { signal }))) {
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS));
    }
  }
  return changed;
}

/** Applies one object. @returns Whether it is another now. */
async function applied(cluster: Cluster, object: PlainObject): Promise<boolean> {
  const kind = await cluster.kindOf(object);
  const { name, namespace } = object.metadata;
  try {
    const before = await found(cluster, object);
    const after: KubeObject = await cluster.client.apply(kind, object, { manager: MANAGER, force: true });
    return before?.metadata.resourceVersion !== after.metadata.resourceVersion;
  } catch (error) {
    const shown = namespace === undefined ? name : `${namespace}/${name}`;
    throw applyFailure(error, `${object.kind} ${shown}`);
  }
}

async function found(cluster: Cluster, object: PlainObject): Promise<KubeObject | undefined> {
  const { name, namespace } = object.metadata;
  try {
    return await cluster.client.get(await cluster.kindOf(object), name, namespace === undefined ? {} : { namespace });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

function isServed(
  { status }: KubeObject & { readonly status?: { readonly conditions?: readonly unknown[] } },
): boolean {
  const conditions = (status?.conditions ?? []) as readonly { readonly type?: string; readonly status?: string }[];
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}

/** The user name of an operator's service account. */
export function accountOf(
  { manifests: { rbac } }: OperatorFacts,
): { readonly namespace: string; readonly name: string; readonly user: string } {
  const account = rbac.find(({ kind }) => kind === "ServiceAccount");
  const { name = "", namespace = "" } = account?.metadata ?? {};
  return { namespace, name, user: `system:serviceaccount:${namespace}:${name}` };
}
