/**
 * Enqueues objects when other objects change: decides which changes are relevant, and which objects
 * they affect.
 */
import { equal } from "../base/json.ts";
import type { ReconcileReason } from "../parts/context.ts";
import type { MapContext, Watch } from "../parts/watch.ts";
import type { AddOptions } from "../queue/work_queue.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import type { InformerCache } from "../watch/informer_cache.ts";
import type { Writer } from "../watch/own_writes.ts";
import type { StoreChange } from "../watch/store.ts";
import { ownerKey } from "./owner.ts";
import { guarded, isSame, type LoopScope, ownCache, watchOf } from "./scope.ts";
import type { Change } from "./tracing.ts";
import { requestedObject, requestList } from "./reconcile_request.ts";

/**
 * Adds a key to a controller's queue. `change` is the change that triggered it, if there is one.
 */
export type Add = (key: ObjectKey, reason: ReconcileReason, options: AddOptions, change?: Change) => void;

/**
 * Listens to the kinds that a controller owns or watches, and to its own kind if the watch on it
 * has a `map`.
 *
 * @param scope The scope of the loop.
 * @param add Adds a key to its queue.
 */
export function listenToWatchedKinds(scope: LoopScope, add: Add): void {
  for (const watches of scope.named) {
    const options = watchOf(scope.unit, watches.kind);
    watches.onChange = (by, change, writer, initial) => {
      // When the watch starts, the object that names this one is about to be reconciled anyway.
      if (initial || !isRelevant(scope, options, change)) return;
      enqueue({ scope, add, options, change, writer }, by, "watched changed");
    };
  }
  for (const cache of scope.caches) {
    const options = watchOf(scope.unit, cache.kind);
    const isOwned = scope.unit.owns.some((owned) => isSame(owned, cache.kind));
    if (!isOwned && options?.map === undefined) continue;
    cache.listen((change, writer, initial) => {
      // At start, all objects of the controller's own kind are enqueued anyway.
      if (initial || !isRelevant(scope, options, change)) return;
      const event = { scope, add, options, change, writer };
      if (isOwned) enqueue(event, owners(scope.unit.kind, change), "owned changed");
      if (options?.map !== undefined) enqueue(event, mapped(scope, cache, options, change), "watched changed");
    });
  }
}

/** A change, and the queue of a controller that watches it. */
interface WatchedChange {
  readonly scope: LoopScope;
  readonly add: Add;
  readonly options: Watch["options"] | undefined;
  readonly change: StoreChange;
  readonly writer: Writer | undefined;
}

/** Enqueues objects, except the one whose own reconcile made the change. */
function enqueue(
  { scope, add, options, change, writer }: WatchedChange,
  keys: ReadonlySet<ObjectKey>,
  reason: ReconcileReason,
): void {
  const addOptions: AddOptions = {
    priority: options?.priority === "low" ? "resync" : "fresh",
    isRelated: reason === "watched changed",
  };
  // Created on demand, because most changes are the controller's own.
  let cause: Change | undefined;
  for (const key of keys) {
    if (writer?.part === scope.loop && writer.key === key) scope.counts.ownEvents++;
    else add(key, reason, addOptions, cause ??= tracedChange(change, writer));
  }
}

/**
 * Returns a change in the form that spans record.
 *
 * @param change The change.
 * @param writer The writer in this process; `undefined` if another process made it.
 */
export function tracedChange({ before, after }: StoreChange, writer: Writer | undefined): Change {
  return { object: (after ?? before)!, isOurs: writer !== undefined, by: writer };
}

/**
 * Returns whether a change may trigger reconciles, by the user's `select` and `predicate`.
 *
 * @param scope The scope of the loop.
 * @param options Options of the watch.
 * @param change The change. Deletions are always relevant.
 */
export function isRelevant(
  scope: LoopScope,
  options: Watch["options"] | undefined,
  { before, after }: StoreChange,
): boolean {
  if (options === undefined || after === undefined) return true;
  const { select, predicate } = options;
  if (select !== undefined && before !== undefined) {
    const isSelected = guarded(scope, { what: "select", object: after }, () => !equal(select(before), select(after)));
    if (isSelected === false) return false;
  }
  if (predicate === undefined) return true;
  return guarded(scope, { what: "predicate", object: after }, () => predicate(after, before)) ?? true;
}

/** Returns the old and the new owner, because both are affected when the owner changes. */
function owners(kind: AnyKind, { before, after }: StoreChange): Set<ObjectKey> {
  const keys = new Set<ObjectKey>();
  for (const key of [ownerKey(kind, before), ownerKey(kind, after)]) if (key !== undefined) keys.add(key);
  return keys;
}

/** Returns the objects that the user's `map` returns for the old and the new object. */
function mapped(
  scope: LoopScope,
  cache: InformerCache,
  options: Watch["options"] | undefined,
  change: StoreChange,
): Set<ObjectKey> {
  const keys = new Set<ObjectKey>();
  const map = options?.map;
  if (map === undefined) return keys;
  const context = mapContext(scope);
  for (const object of [change.before, change.after]) {
    if (object === undefined) continue;
    guarded(scope, { what: `map of ${cache.kind.kind}`, kind: cache.kind, object }, () => {
      for (const request of requestList(map(object, context))) {
        const requested = requestedObject(scope.unit.kind, request, object.metadata.namespace);
        if (requested !== undefined) keys.add(keyOf(requested));
      }
    });
  }
  return keys;
}

function mapContext(scope: LoopScope): MapContext {
  return {
    index: (name, key) => scope.indexes.get(name)?.get(key) ?? throwUnknownIndex(scope, name),
    all: (): readonly KubeObject[] => [...ownCache(scope).values()],
  };
}

function throwUnknownIndex({ loop }: LoopScope, name: string): never {
  throw new TypeError(`Controller "${loop}" has no index "${name}". Add it to "indexes"`);
}
