/** From changes in the cluster to keys in the queue: which changes count, and whom they wake. */
import { equal } from "../base/json.ts";
import type { Reason } from "../parts/context.ts";
import type { MapContext, Watch } from "../parts/watch.ts";
import type { AddOptions } from "../queue/work_queue.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import type { LiveCopy } from "../watch/live_copy.ts";
import type { Writer } from "../watch/own_writes.ts";
import type { StoreChange } from "../watch/store.ts";
import { ownerKey } from "./owner.ts";
import { guarded, isSame, ownCopy, type Scope, watchOf } from "./scope.ts";
import type { Change } from "./tracing.ts";
import { placeOf, wakesOf } from "./wake_place.ts";

/** Adds a key to the queue; `change` is what woke it, where it was a change of an object. */
export type Add = (key: ObjectKey, reason: Reason, options: AddOptions, change?: Change) => void;

/**
 * Listens to the kinds that a controller watches beside its own, and to its own where a change of one object wakes others.
 *
 * @param scope The controller's.
 * @param add Adds a key to its queue.
 */
export function listenToOthers(scope: Scope, add: Add): void {
  for (const watches of scope.named) {
    const options = watchOf(scope.controller, watches.kind);
    watches.onChange = (by, change, writer, initial) => {
      // Who names it for the first time is about to run, and waits for it.
      if (initial || !counts(scope, options, change)) return;
      wake({ scope, add, options, change, writer }, by, "watched changed");
    };
  }
  for (const copy of scope.copies) {
    const options = watchOf(scope.controller, copy.kind);
    const isOwned = scope.controller.owns.some((owned) => isSame(owned, copy.kind));
    if (!isOwned && options?.map === undefined) continue;
    copy.listen((change, writer, initial) => {
      // At first each object is found by itself.
      if (initial || !counts(scope, options, change)) return;
      const news = { scope, add, options, change, writer };
      if (isOwned) wake(news, owners(scope.controller.kind, change), "owned changed");
      if (options?.map !== undefined) wake(news, mapped(scope, copy, options, change), "watched changed");
    });
  }
}

/** A change, and whose queue hears of it. */
interface News {
  readonly scope: Scope;
  readonly add: Add;
  readonly options: Watch["options"] | undefined;
  readonly change: StoreChange;
  readonly writer: Writer | undefined;
}

/** Wakes objects, save the one whose own run made the change: that knows of it. */
function wake({ scope, add, options, change, writer }: News, keys: ReadonlySet<ObjectKey>, reason: Reason): void {
  const priority = options?.priority === "low" ? "resync" : "fresh";
  // Most changes wake nobody: they are of one's own making.
  let cause: Change | undefined;
  for (const key of keys) {
    if (writer?.part === scope.part && writer.key === key) scope.counts.ownEvents++;
    else add(key, reason, { priority, isRelated: reason === "watched changed" }, cause ??= causeOf(change, writer));
  }
}

/** A change as a span tells of it, made by a writer of this process or by somebody else. */
export function causeOf({ before, after }: StoreChange, writer: Writer | undefined): Change {
  return { object: (after ?? before)!, isOurs: writer !== undefined, by: writer };
}

/**
 * Whether a change is one that counts, by the user's `select` and `predicate`.
 *
 * @param scope The controller's.
 * @param options How the kind is watched.
 * @param change What changed. That an object went counts always.
 */
export function counts(scope: Scope, options: Watch["options"] | undefined, { before, after }: StoreChange): boolean {
  if (options === undefined || after === undefined) return true;
  const { select, predicate } = options;
  if (select !== undefined && before !== undefined) {
    const isSelected = guarded(scope, { what: "select", object: after }, () => !equal(select(before), select(after)));
    if (isSelected === false) return false;
  }
  if (predicate === undefined) return true;
  return guarded(scope, { what: "predicate", object: after }, () => predicate(after, before)) ?? true;
}

/** The old and the new owner: what was taken away is missed by the one that had it. */
function owners(kind: AnyKind, { before, after }: StoreChange): Set<ObjectKey> {
  const keys = new Set<ObjectKey>();
  for (const key of [ownerKey(kind, before), ownerKey(kind, after)]) if (key !== undefined) keys.add(key);
  return keys;
}

/** Whom the user's `map` names, of the object as it was and as it is. */
function mapped(
  scope: Scope,
  copy: LiveCopy,
  options: Watch["options"] | undefined,
  change: StoreChange,
): Set<ObjectKey> {
  const keys = new Set<ObjectKey>();
  const map = options?.map;
  if (map === undefined) return keys;
  const context = mapContext(scope);
  for (const object of [change.before, change.after]) {
    if (object === undefined) continue;
    guarded(scope, { what: `map of ${copy.kind.kind}`, kind: copy.kind, object }, () => {
      for (const wake of wakesOf(map(object, context))) {
        const place = placeOf(scope.controller.kind, wake, object.metadata.namespace);
        if (place !== undefined) keys.add(keyOf(place));
      }
    });
  }
  return keys;
}

function mapContext(scope: Scope): MapContext {
  return {
    index: (name, key) => scope.indexes.get(name)?.get(key) ?? refuseIndex(scope, name),
    all: (): readonly KubeObject[] => [...ownCopy(scope).values()],
  };
}

function refuseIndex({ part }: Scope, name: string): never {
  throw new TypeError(`Cannot look into index "${name}": controller "${part}" has none of that name`);
}
