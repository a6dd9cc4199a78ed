/**
 * Garbage collection by owner references (`k8s.io/kubernetes/pkg/controller/garbagecollector`): what has no owner left is deleted, and an owner that
 * is deleted in the foreground waits for those that block it. An owner is looked for only in the dependent's namespace or among what is cluster-wide.
 */
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { putOrFinish } from "../core/persist.ts";
import { deleteObject, FOREGROUND, ORPHAN } from "../core/remove.ts";
import { keyOf, keyOfObject } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type OwnerReference, type StoredObject, withMetadata } from "../objects/objects.ts";
import type { Change } from "../objects/store.ts";

/** An object and where it is. */
interface Item {
  readonly kind: ServedKind;
  readonly object: StoredObject;
}

/** What is known of an owner: whether it is there, gone, or waits for its dependents; or nothing, if its kind is not served. */
type OwnerState = "there" | "gone" | "waits" | "unknown";

// As many as the collector of kube-controller-manager remembers.
const MOST_GONE = 500;

/** Follows all changes and asks for what has to be collected. */
export class Garbage {
  /** Where the dependents of an owner are, as `[collection, key]`, by the owner's uid. */
  #dependents = new Map<string, Map<string, readonly [collection: string, key: string]>>();
  /** Owners that were seen to go, by uid: they are gone although their kind is not served any more. */
  readonly #gone = new Set<string>();
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
    core.store.listen((change) => this.#see(change));
  }

  #see({ type, collection, key, object, previous }: Change): void {
    const id = `${collection} ${key}`;
    for (const { uid } of previous?.metadata.ownerReferences ?? []) this.#dependents.get(uid)?.delete(id);
    if (type === "DELETED") {
      for (const place of this.#dependents.get(object.metadata.uid)?.values() ?? []) this.#ask(...place);
      if (this.#dependents.delete(object.metadata.uid)) this.#noteGone(object.metadata.uid);
      // The owners of what is gone may have waited for it.
      for (const owner of object.metadata.ownerReferences ?? []) this.#askOwner(owner, object);
      return;
    }
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const known = this.#dependents.get(uid) ?? new Map();
      known.set(id, [collection, key]);
      this.#dependents.set(uid, known);
    }
    const { ownerReferences, deletionTimestamp, finalizers } = object.metadata;
    const isCollected = deletionTimestamp !== undefined &&
      (finalizers?.includes(FOREGROUND) || finalizers?.includes(ORPHAN));
    if ((ownerReferences?.length ?? 0) > 0 || isCollected) this.#ask(collection, key);
    for (const owner of previous?.metadata.ownerReferences ?? []) this.#askOwner(owner, object);
  }

  #noteGone(uid: string): void {
    this.#gone.add(uid);
    if (this.#gone.size > MOST_GONE) this.#gone.delete(this.#gone.keys().next().value!);
  }

  #ask(collection: string, key: string): void {
    this.#core.background.add(`garbage ${collection} ${key}`, () => this.#step(collection, key));
  }

  #askOwner({ apiVersion, kind, name }: OwnerReference, { metadata }: StoredObject): void {
    const owner = this.#core.kinds.named(apiVersion, kind);
    if (owner !== undefined) {
      this.#ask(owner.collection, keyOf(owner.namespaced ? metadata.namespace : undefined, name));
    }
  }

  #step(collection: string, key: string): void {
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

  /** Deletes an object whose owners are gone; forgets owners that are gone where another is left. */
  #collect({ kind, object }: Item): void {
    const owners = (object.metadata.ownerReferences ?? []).map((owner) => ({
      owner,
      state: this.#stateOf(owner, object),
    }));
    if (owners.length === 0) return;
    const there = owners.filter(({ state }) => state === "there" || state === "unknown");
    if (there.length === owners.length) return;
    if (there.length > 0) return this.#setOwners({ kind, object }, there.map(({ owner }) => owner));
    const isAwaited = owners.some(({ state }) => state === "waits");
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
    // A cluster-wide object cannot name an owner in a namespace: nobody could tell which.
    if (ownerKind?.namespaced && namespace === undefined) return "unknown";
    if (ownerKind === undefined) return this.#gone.has(uid) ? "gone" : "unknown";
    const owner = this.#core.store.get(ownerKind.collection, keyOf(ownerKind.namespaced ? namespace : undefined, name));
    if (owner === undefined || owner.metadata.uid !== uid) return "gone";
    const { deletionTimestamp, finalizers } = owner.metadata;
    return deletionTimestamp !== undefined && finalizers?.includes(FOREGROUND) ? "waits" : "there";
  }

  #deleteDependents(item: Item): void {
    const dependents = this.#dependentsOf(item.object);
    const blocking = dependents.filter(({ object }) =>
      object.metadata.ownerReferences?.some((owner) =>
        owner.uid === item.object.metadata.uid && owner.blockOwnerDeletion
      )
    );
    if (blocking.length === 0) return this.#dropFinalizer(item, FOREGROUND);
    for (const { kind, object } of dependents) this.#ask(kind.collection, keyOfObject(object));
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
