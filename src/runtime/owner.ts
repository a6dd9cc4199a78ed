/** Owner references: the one we set, and the way back from what is owned to its owner. */
import { TemporaryError } from "../parts/outcome.ts";
import type { AnyKind, KubeObject, OwnerReference } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";

/**
 * The owner reference that makes an object the controller of another.
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
 * The key of the object that controls another. Owners are matched by group and kind, whatever the version: versions move on, owners stay.
 *
 * @param kind The owner's kind.
 * @param owned What is owned; nothing has no owner.
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
 * Refuses an owner that Kubernetes' garbage collector would take for missing, so that it would delete what is owned.
 *
 * @throws {TypeError} If the owner is in a namespace and what it is to own is in another, or in none.
 */
export function refuseOwner(
  ownerKind: AnyKind,
  owner: KubeObject,
  kind: AnyKind,
  metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined },
): void {
  if (!ownerKind.namespaced) return;
  if (kind.namespaced && metadata.namespace === owner.metadata.namespace) return;
  const place = kind.namespaced ? `is in namespace "${metadata.namespace}"` : "is cluster-wide";
  throw new TypeError(
    `Cannot make ${ownerKind.kind} "${
      keyOf(owner.metadata)
    }" the owner of ${kind.kind} "${metadata.name}": it ${place}, ` +
      `and an owner reference does not reach there: apply it with { owner: false } and delete it in cleanup`,
  );
}

/**
 * Refuses to take an object from another owner: two objects that both apply one child would change it in turns, and the first to be deleted would
 * take it along.
 *
 * @throws {TemporaryError} If the live object has another controller: it may be about to be collected.
 */
export function refuseTaken(owner: KubeObject, kind: AnyKind, live: KubeObject | undefined): void {
  const other = live?.metadata.ownerReferences?.find(({ controller, uid }) => controller && uid !== owner.metadata.uid);
  if (live === undefined || other === undefined) return;
  throw new TemporaryError(
    `Cannot apply ${kind.kind} "${
      keyOf(live.metadata)
    }": it is owned by ${other.kind} "${other.name}": give it another name, or apply it with { owner: false }`,
  );
}
