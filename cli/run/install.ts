/**
 * Applies the objects that an operator needs in a cluster even if it runs outside of the cluster:
 * its kinds, ServiceAccount and roles.
 */
import { CustomResourceDefinition } from "@op/sdk/kinds";
import type { KubeObject } from "@op/sdk";
import { applyFailure, type Cluster, ifFound } from "../cluster.ts";
import { DEV_MANAGER } from "../field_manager.ts";
import type { OperatorFacts } from "../inspect.ts";
import { namespaceOptions, type PlainObject, shown } from "../objects.ts";
import { checkConflicts, isOwnNamespace } from "../deploy/ownership.ts";

/** The pause between two requests, in milliseconds. */
const PAUSE = 200;

/**
 * Applies the definitions, the namespace, the ServiceAccount and the roles of an operator, and
 * waits until its kinds are served.
 *
 * @param cluster The cluster.
 * @param facts The operator's declarations.
 * @param options `signal` ends the wait; `adopt` takes over objects of another operator.
 * @returns The objects that were created or changed.
 * @throws {Failure} If an object belongs to another operator, or the API server rejects one.
 */
export async function install(
  cluster: Cluster,
  facts: OperatorFacts,
  { signal, adopt = false }: { readonly signal: AbortSignal; readonly adopt?: boolean | undefined },
): Promise<string[]> {
  if (!adopt) await checkOwnership(cluster, facts);
  const { crd } = facts.manifests;
  const objects = objectsOf(facts);
  const changed: string[] = [];
  for (const object of objects) {
    if (await apply(cluster, object, adopt)) changed.push(`${object.kind} ${object.metadata.name}`);
  }
  for (const { metadata } of crd) {
    while (!isServed(await cluster.client.get(CustomResourceDefinition, metadata.name, { signal }))) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
  return changed;
}

/**
 * Checks that no object that {@linkcode install} applies belongs to another operator.
 *
 * @param cluster The cluster.
 * @param facts The operator's declarations.
 * @throws {Failure} If at least one object belongs to another operator.
 */
export async function checkOwnership(cluster: Cluster, facts: OperatorFacts): Promise<void> {
  await checkConflicts(cluster, objectsOf(facts), {
    action: `install "${facts.name}"`,
    advice: "To take the objects over, add --adopt.",
  });
}

function objectsOf({ manifests: { crd, namespace, rbac } }: OperatorFacts): PlainObject[] {
  return [...crd, ...namespace, ...rbac] as unknown as PlainObject[];
}

/** Applies an object, and returns whether that changed it. */
async function apply(cluster: Cluster, object: PlainObject, adopt: boolean): Promise<boolean> {
  const kind = await cluster.kindOf(object);
  try {
    const before: KubeObject | undefined = await ifFound(() =>
      cluster.client.get(kind, object.metadata.name, namespaceOptions(object))
    );
    const isForeign = object.kind === "Namespace" && before !== undefined && !isOwnNamespace(before, object);
    if (isForeign && !adopt) return false;
    const after: KubeObject = await cluster.client.apply(kind, object, { manager: DEV_MANAGER, force: true });
    return before?.metadata.resourceVersion !== after.metadata.resourceVersion;
  } catch (error) {
    throw applyFailure(error, shown(object));
  }
}

function isServed(
  { status }: KubeObject & { readonly status?: { readonly conditions?: readonly unknown[] } },
): boolean {
  const conditions = (status?.conditions ?? []) as readonly { readonly type?: string; readonly status?: string }[];
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}

/** Returns the ServiceAccount of an operator, and its user name. */
export function accountOf(
  { manifests: { rbac } }: Pick<OperatorFacts, "manifests">,
): { readonly namespace: string; readonly name: string; readonly user: string } {
  const account = rbac.find(({ kind }) => kind === "ServiceAccount");
  const { name = "", namespace = "" } = account?.metadata ?? {};
  return { namespace, name, user: `system:serviceaccount:${namespace}:${name}` };
}
