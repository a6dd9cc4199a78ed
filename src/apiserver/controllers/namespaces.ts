/** Namespaces: the initial ones, and the controller that empties deleted ones. */
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { createObject, namespaceFinalizers } from "../core/persist.ts";
import { deleteObject } from "../core/remove.ts";
import { keyOf } from "../objects/key.ts";
import type { StoredObject } from "../objects/objects.ts";
import { type Content, withConditions } from "./namespace_conditions.ts";

export const NAMESPACES = "/namespaces";

/** The namespaces of a new cluster. */
const INITIAL = ["default", "kube-node-lease", "kube-public", "kube-system"];

/**
 * Creates the namespaces of a new cluster.
 *
 * @param core The server, with its kinds.
 */
export function createInitialNamespaces(core: Core): void {
  const kind = core.kinds.ofCollection(NAMESPACES);
  if (kind === undefined) return;
  for (const name of INITIAL) {
    const { object } = kind.rules.decode({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    createObject(core, kind, object, {
      namespace: undefined,
      dryRun: false,
      track: (object) => trackUpdate(core, kind, undefined, object, { manager: "kube-apiserver" }),
    });
  }
}

/**
 * Deletes the contents of a namespace that is being deleted, and the namespace once it is empty.
 *
 * @param core The server.
 * @param name Name of the namespace.
 */
export function emptyNamespace(core: Core, name: string): void {
  const namespace = core.store.get(NAMESPACES, name);
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  const contents = contentsOf(core, name);
  for (const { kind, object } of contents) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    deleteObject(core, kind, name, object.metadata.name, { dryRun: false, propagationPolicy: "Background" });
  }
  const remaining = contentsOf(core, name);
  updateConditions(core, namespace, remaining);
  if (remaining.length > 0) return;
  const finalizers = namespaceFinalizers(namespace).filter((each) => each !== "kubernetes");
  if (finalizers.length < namespaceFinalizers(namespace).length) {
    core.store.put(NAMESPACES, name, withFinalizers(core.store.get(NAMESPACES, name) ?? namespace, finalizers));
  }
  const now = core.store.get(NAMESPACES, name);
  if (now !== undefined && finalizers.length === 0 && (now.metadata.finalizers ?? []).length === 0) {
    core.store.delete(NAMESPACES, name);
  }
}

function updateConditions(core: Core, namespace: StoredObject, contents: readonly Content[]): void {
  const kind = core.kinds.ofCollection(NAMESPACES);
  const next = withConditions(namespace, contents, core.clock.now());
  if (kind === undefined || next === namespace) return;
  const tracked = trackUpdate(core, kind, namespace, next, {
    manager: "kube-controller-manager",
    subresource: "status",
  });
  core.store.put(NAMESPACES, namespace.metadata.name, tracked);
}

function withFinalizers(namespace: StoredObject, finalizers: readonly unknown[]): StoredObject {
  const { finalizers: _before, ...rest } = namespace.spec as Record<string, unknown>;
  return { ...namespace, spec: finalizers.length === 0 ? rest : { ...rest, finalizers } };
}

function contentsOf(core: Core, namespace: string): Content[] {
  return core.store.collections.flatMap((collection) => {
    const kind = core.kinds.ofCollection(collection);
    if (kind === undefined || !kind.namespaced) return [];
    return core.store.list(collection, keyOf(namespace, "")).map((object) => ({ kind, object }));
  });
}

/**
 * Returns the namespace of a changed object if the namespace is being deleted, since this change
 * may have emptied it.
 */
export function deletingNamespaceOf(core: Core, object: StoredObject): string | undefined {
  const { namespace } = object.metadata;
  if (namespace === undefined) return undefined;
  return core.store.get(NAMESPACES, namespace)?.metadata.deletionTimestamp === undefined ? undefined : namespace;
}
