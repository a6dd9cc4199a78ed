/**
 * Garbage collection by owner references (`k8s.io/kubernetes/pkg/controller/garbagecollector`).
 * Objects without any remaining owner are deleted. An owner with foreground deletion is deleted
 * after the dependents that block it. Owners are looked up only in the dependent's namespace, or
 * among cluster-scoped objects.
 */
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { putOrFinish } from "../core/persist.ts";
import { deleteObject, FOREGROUND, ORPHAN } from "../core/remove.ts";
import { keyOf, keyOfObject } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type OwnerReference, type StoredObject, withMetadata } from "../objects/objects.ts";
import type { Change } from "../objects/store.ts";

/** An object and its kind. */
interface Item {
  readonly kind: ServedKind;
  readonly object: StoredObject;
}

/** State of an owner. It is unknown if its kind is not served. */
type OwnerState = "exists" | "deleted" | "waits for dependents" | "unknown";
// The size of the absent owner cache in kube-controller-manager.
const MAX_ABSENT_OWNERS = 500;

/**
 * Follows all changes, and adds a background step for each object that may have to be collected.
 */
export class Garbage {
  /** Locations of the dependents of each owner, as `[collection, key]`, by the owner's uid. */
  #dependents = new Map<string, Map<string, readonly [collection: string, key: string]>>();
  /**
   * Uids of owners whose deletion was observed. They are known to be absent even if their kind is
   * no longer served.
   */
  readonly #absentOwners = new Set<string>();
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
    core.store.listen((change) => this.#onChange(change));
  }

  #onChange({ type, collection, key, object, previous }: Change): void {
    const id = `${collection} ${key}`;
    for (const { uid } of previous?.metadata.ownerReferences ?? []) this.#dependents.get(uid)?.delete(id);
    if (type === "DELETED") {
      for (const location of this.#dependents.get(object.metadata.uid)?.values() ?? []) this.#enqueue(...location);
      if (this.#dependents.delete(object.metadata.uid)) this.#addAbsentOwner(object.metadata.uid);
      // The deleted object may have blocked the deletion of its owners.
      for (const owner of object.metadata.ownerReferences ?? []) this.#enqueueOwner(owner, object);
      return;
    }
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(uid) ?? new Map();
      dependents.set(id, [collection, key]);
      this.#dependents.set(uid, dependents);
    }
    const { ownerReferences, deletionTimestamp, finalizers } = object.metadata;
    const hasCollectorFinalizer = deletionTimestamp !== undefined &&
      (finalizers?.includes(FOREGROUND) || finalizers?.includes(ORPHAN));
    if ((ownerReferences?.length ?? 0) > 0 || hasCollectorFinalizer) this.#enqueue(collection, key);
    for (const owner of previous?.metadata.ownerReferences ?? []) this.#enqueueOwner(owner, object);
  }

  #addAbsentOwner(uid: string): void {
    this.#absentOwners.add(uid);
    if (this.#absentOwners.size > MAX_ABSENT_OWNERS) this.#absentOwners.delete(this.#absentOwners.keys().next().value!);
  }

  #enqueue(collection: string, key: string): void {
    this.#core.background.add(`garbage ${collection} ${key}`, () => this.#process(collection, key));
  }

  #enqueueOwner({ apiVersion, kind, name }: OwnerReference, { metadata }: StoredObject): void {
    const owner = this.#core.kinds.named(apiVersion, kind);
    if (owner !== undefined) {
      this.#enqueue(owner.collection, keyOf(owner.namespaced ? metadata.namespace : undefined, name));
    }
  }

  #process(collection: string, key: string): void {
    const object = this.#core.store.get(collection, key);
    const kind = this.#core.kinds.ofCollection(collection);
    if (object === undefined || kind === undefined) return;
    const item = { kind, object };
    const { deletionTimestamp, finalizers } = object.metadata;
    if (deletionTimestamp !== undefined) {
      if (finalizers?.includes(ORPHAN)) this.#orphan(item);
      else if (finalizers?.includes(FOREGROUND)) this.#deleteDependents(item);
      return;
    }
    this.#collect(item);
  }

  /** Deletes an object without remaining owners; otherwise removes references to absent owners. */
  #collect({ kind, object }: Item): void {
    const owners = (object.metadata.ownerReferences ?? []).map((owner) => ({
      owner,
      state: this.#stateOf(owner, object),
    }));
    if (owners.length === 0) return;
    const remaining = owners.filter(({ state }) => state === "exists" || state === "unknown");
    if (remaining.length === owners.length) return;
    if (remaining.length > 0) return this.#setOwners({ kind, object }, remaining.map(({ owner }) => owner));
    const isAwaited = owners.some(({ state }) => state === "waits for dependents");
    const hasDependents = (this.#dependents.get(object.metadata.uid)?.size ?? 0) > 0;
    const propagationPolicy = policyFor(object, isAwaited && hasDependents);
    deleteObject(this.#core, kind, object.metadata.namespace, object.metadata.name, {
      dryRun: false,
      propagationPolicy,
    });
  }

  #stateOf({ apiVersion, kind, name, uid }: OwnerReference, dependent: StoredObject): OwnerState {
    const ownerKind = this.#core.kinds.named(apiVersion, kind);
    const { namespace } = dependent.metadata;
    // A cluster-scoped object cannot have an owner in a namespace, since the reference does not
    // name the namespace.
    if (ownerKind?.namespaced && namespace === undefined) return "unknown";
    if (ownerKind === undefined) return this.#absentOwners.has(uid) ? "deleted" : "unknown";
    const owner = this.#core.store.get(ownerKind.collection, keyOf(ownerKind.namespaced ? namespace : undefined, name));
    if (owner === undefined || owner.metadata.uid !== uid) return "deleted";
    const { deletionTimestamp, finalizers } = owner.metadata;
    return deletionTimestamp !== undefined && finalizers?.includes(FOREGROUND) ? "waits for dependents" : "exists";
  }

  #deleteDependents(item: Item): void {
    const dependents = this.#dependentsOf(item.object);
    const blocking = dependents.filter(({ object }) =>
      object.metadata.ownerReferences?.some((owner) =>
        owner.uid === item.object.metadata.uid && owner.blockOwnerDeletion
      )
    );
    if (blocking.length === 0) return this.#dropFinalizer(item, FOREGROUND);
    for (const { kind, object } of dependents) this.#enqueue(kind.collection, keyOfObject(object));
  }

  #orphan(item: Item): void {
    const { uid } = item.object.metadata;
    for (const dependent of this.#dependentsOf(item.object)) {
      const owners = dependent.object.metadata.ownerReferences ?? [];
      this.#setOwners(dependent, owners.filter((owner) => owner.uid !== uid));
    }
    this.#dropFinalizer(item, ORPHAN);
  }

  #dependentsOf({ metadata }: StoredObject): Item[] {
    return [...this.#dependents.get(metadata.uid)?.values() ?? []].flatMap(([collection, key]) => {
      const object = this.#core.store.get(collection, key);
      const kind = this.#core.kinds.ofCollection(collection);
      return object === undefined || kind === undefined ? [] : [{ kind, object }];
    });
  }

  #setOwners({ kind, object }: Item, owners: readonly OwnerReference[]): void {
    this.#write(kind, object, withMetadata(object, { ownerReferences: owners.length === 0 ? undefined : owners }));
  }

  #dropFinalizer({ kind, object }: Item, finalizer: string): void {
    const finalizers = object.metadata.finalizers?.filter((each) => each !== finalizer) ?? [];
    this.#write(kind, object, withMetadata(object, { finalizers: finalizers.length === 0 ? undefined : finalizers }));
  }

  #write(kind: ServedKind, old: StoredObject, next: StoredObject): void {
    putOrFinish(this.#core, kind, trackUpdate(this.#core, kind, old, next, { manager: "kube-controller-manager" }));
  }
}

function policyFor({ metadata }: StoredObject, isAwaited: boolean): "Foreground" | "Orphan" | "Background" {
  if (isAwaited || metadata.finalizers?.includes(FOREGROUND)) return "Foreground";
  return metadata.finalizers?.includes(ORPHAN) ? "Orphan" : "Background";
}
