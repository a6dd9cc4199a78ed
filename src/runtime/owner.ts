/** Creates owner references, and finds the owner of an object. */
import { TemporaryError } from "../parts/outcome.ts";
import type { AnyKind, KubeObject, OwnerReference } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";

/**
 * Returns the owner reference that makes an object the controller of another.
 *
 * @param kind The owner's kind.
 * @param owner The owner.
 */
export function ownerReference(kind: AnyKind, owner: KubeObject): OwnerReference {
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * Returns the key of the object that controls another. Owners are matched by group and kind in any
 * version, because versions change over time.
 *
 * @param kind The owner's kind.
 * @param owned The owned object; `undefined` has no owner.
 */
export function ownerKey(kind: AnyKind, owned: KubeObject | undefined): ObjectKey | undefined {
  const reference = owned?.metadata.ownerReferences?.find((reference) =>
    reference.controller && reference.kind === kind.kind && groupOf(reference.apiVersion) === kind.group
  );
  if (reference === undefined) return undefined;
  return keyOf({ name: reference.name, namespace: kind.namespaced ? owned?.metadata.namespace : undefined });
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash === -1 ? "" : apiVersion.slice(0, slash);
}

/**
 * Rejects an owner that Kubernetes' garbage collector would not find. It would delete the owned
 * object.
 *
 * @throws {TypeError} If the owner is namespaced and the owned object is in another namespace or in
 * none.
 */
export function checkOwner(
  ownerKind: AnyKind,
  owner: KubeObject,
  kind: AnyKind,
  metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined },
): void {
  if (!ownerKind.namespaced) return;
  if (kind.namespaced && metadata.namespace === owner.metadata.namespace) return;
  const place = kind.namespaced ? `is in namespace "${metadata.namespace}"` : "is cluster-scoped";
  throw new TypeError(
    `Cannot make ${ownerKind.kind} "${
      keyOf(owner.metadata)
    }" the owner of ${kind.kind} "${metadata.name}": it ${place}, ` +
      `so an owner reference is not possible. Apply it with { owner: false } and delete it in cleanup`,
  );
}

/**
 * Rejects a child that another object owns. Two owners would change it back and forth, and the
 * child would be deleted together with the first of them.
 *
 * @throws {TemporaryError} If the child has another controller, which may be about to be deleted.
 */
export function checkNotOwnedByOther(owner: KubeObject, kind: AnyKind, live: KubeObject | undefined): void {
  const other = live?.metadata.ownerReferences?.find(({ controller, uid }) => controller && uid !== owner.metadata.uid);
  if (live === undefined || other === undefined) return;
  throw new TemporaryError(
    `Cannot apply ${kind.kind} "${
      keyOf(live.metadata)
    }": it is owned by ${other.kind} "${other.name}". Use another name, or apply it with { owner: false }`,
  );
}
