/**
 * The state that reconciles share: all reconciles of an operator (`Shared`), those of one loop
 * (`LoopScope`), and the calls of one part's functions (`Scope`). The loop of a controller calls
 * only this controller. A loop can also call several parts, each with its own field manager and
 * declarations.
 */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import type { Clock } from "../base/clock.ts";
import type { Client } from "../kube/client.ts";
import type { Controller } from "../parts/controller.ts";
import type { PartRbacRule } from "../parts/rbac.ts";
import type { Units } from "../parts/units.ts";
import type { Watch } from "../parts/watch.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { keyOf } from "../watch/key.ts";
import type { InformerCache } from "../watch/informer_cache.ts";
import { labelSelectorOf, type Selection } from "../watch/selection.ts";
import type { CodeObserver } from "./code_failure.ts";
import type { CurrentReconcile } from "./current_reconcile.ts";
import type { EventRecorder } from "./events.ts";
import type { HotLoops } from "./hot_loops.ts";
import type { Informers } from "./informers.ts";
import { CacheIndex } from "./cache_index.ts";
import type { Logger } from "./logger.ts";
import type { OrphanedFinalizers } from "./orphaned_finalizers.ts";
import type { Metrics } from "./metrics.ts";
import { NamedWatches } from "./named_watches.ts";
import { type NarrowedWatch, narrowedWatch } from "./narrowed.ts";
import { fieldManager, pausedAnnotation } from "./names.ts";
import { ObjectShape } from "./object_shape.ts";
import type { Tracing } from "./tracing.ts";
import type { NextReconcile } from "./reconcile_result.ts";
import { type RequestedObject, requestedObject, requestList } from "./reconcile_request.ts";
import type { ReportedFailures } from "./reported_failures.ts";

/** The state that all controllers of an operator share. */
export interface Shared {
  /** All controllers of the operator, whether they run in this process or not. */
  readonly controllers: Units["controllers"];
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly informers: Informers;
  /** Failed objects of all controllers, for the condition that they share. */
  readonly failures: ReportedFailures;
  /** Hot loops of all controllers, for the condition that they share. */
  readonly hotLoops: HotLoops;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  /**
   * The operator's label selector. It applies to the objects of each controller's own kind,
   * together with the selector of the controller's watch.
   */
  readonly selector?: string | undefined;
  /** Returns the operator's services. */
  readonly services: () => unknown;
  /** Creates spans; `undefined` if tracing is off. */
  readonly tracing?: Tracing | undefined;
  /**
   * Returns when the Lease was renewed last before this process led, in milliseconds since the
   * epoch; `undefined` if that is unknown.
   */
  readonly lastRenewedAt?: (() => number | undefined) | undefined;
  /** Observes failures of user code, in tests. */
  readonly observe?: CodeObserver | undefined;
}

/**
 * What a loop runs: the declarations of a controller, or of all parts that the loop calls, and the
 * functions that reconcile an object.
 */
export interface LoopUnit extends
  Pick<
    Controller,
    | "kind"
    | "owns"
    | "reads"
    | "uses"
    | "watches"
    | "indexes"
    | "triggers"
    | "concurrency"
    | "timeout"
    | "writesStatus"
  > {
  /** The RBAC rules without which no reconcile starts. */
  readonly rbacRules: readonly PartRbacRule[];
  /** The finalizer that objects have if there is a `cleanup`. */
  readonly finalizer: string;
  /** Finds finalizers of removed controllers. */
  readonly orphanedFinalizers: OrphanedFinalizers;
  /** Reconciles an object. */
  reconcile(run: CurrentReconcile): Promise<UnitResult>;
  /** Cleans up before an object is deleted; `undefined` if that is not needed. */
  readonly cleanup: ((run: CurrentReconcile) => Promise<UnitResult>) | undefined;
  /**
   * Returns whether an object must be cleaned up. @default {all objects, if there is a `cleanup`}
   */
  needsFinalizer?(object: KubeObject): boolean;
  /** Called when the API server has accepted the writes of a reconcile. */
  written?(object: KubeObject): void;
  /** Called when a hold is released, so that reconciles may start. */
  released?(): void;
  /** Called when the annotation of an object pauses it. */
  paused?(object: KubeObject): void;
  /**
   * Reconciles an object that is being deleted and does not have the finalizer. @default {such
   * objects are not reconciled}
   */
  readonly reconcileDeleting?: ((run: CurrentReconcile) => Promise<UnitResult>) | undefined;
  /**
   * Called when this process starts to reconcile: once, or each time it becomes the leader.
   *
   * @param objects The objects that exist.
   */
  beginTerm?(objects: Iterable<KubeObject>): void;
  /** Called when this process does not reconcile any more. The promise never rejects. */
  endTerm?(): Promise<void>;
  /**
   * Called when an object was deleted. The promise never rejects.
   *
   * @param object The last known state of the object.
   * @param signal Aborted when the loop is stopped; `undefined` if this process does not reconcile.
   */
  forget?(object: KubeObject, signal: AbortSignal | undefined): Promise<void>;
}

/** The result of a reconcile that was not aborted. Controllers throw their errors instead. */
export interface UnitResult {
  /** When the object is reconciled again. */
  readonly next: NextReconcile | undefined;
  /** What the status reports of functions that failed. They have been logged. */
  readonly failure?: UnitFailure | undefined;
  /** Whether the deletion of the object must still wait. */
  readonly isIncomplete?: boolean;
  /** Whether the status of an object that has no `Ready` condition stays unchanged. */
  readonly isSilent?: boolean | undefined;
}

/** A failure, as conditions report it. */
export interface UnitFailure {
  readonly reason: string;
  readonly message: string;
  /** Whether only a change of the object can help. */
  readonly isStalled: boolean;
}

/** The state that all reconciles of one loop share. */
export interface LoopScope extends Shared {
  /** Name of the loop: the key of its controller among the parts. */
  readonly loop: string;
  readonly unit: LoopUnit;
  /** The caches of the kinds that it watches, its own kind first. */
  readonly caches: readonly InformerCache[];
  /** The indexes by name. */
  readonly indexes: ReadonlyMap<string, CacheIndex>;
  /** For each kind that `owned` was called with, its objects by the UID of the owner. */
  readonly children: Map<InformerCache, CacheIndex>;
  /** The watches on owned kinds that select only some objects. */
  readonly narrowed: readonly NarrowedWatch[];
  /** The watches that follow single objects by name. */
  readonly named: readonly NamedWatches[];
  /** Checks objects against their type; `undefined` if only metadata is watched. */
  readonly shape: ObjectShape | undefined;
  /** Counters for metrics. */
  readonly counts: { skippedWrites: number; ownEvents: number; delayedReconciles: number };
  /** The field manager of finalizers and of the status. */
  readonly manager: string;
  /** The annotation that pauses an object. */
  readonly paused: string;
}

/** The declarations of a part that limit what its functions may do. */
export type PartDeclarations = Pick<Controller, "kind" | "owns" | "uses" | "prune" | "writesStatus">;

/** The state that all calls of one part's functions share. */
export interface Scope extends LoopScope {
  /** The part's key. */
  readonly part: string;
  readonly declared: PartDeclarations;
  /** The field manager of the part's writes. */
  readonly manager: string;
  /** The part's log. */
  readonly log: Logger;
}

/**
 * Creates the scope of a loop.
 *
 * @param operator Name of the operator.
 * @param loop Name of the loop.
 * @param unit What the loop runs.
 * @param shared The state that all loops share.
 */
export function loopScope(operator: string, loop: string, unit: LoopUnit, shared: Shared): LoopScope {
  const { kind } = unit;
  const caches = watchedKinds(unit).map((kind) =>
    shared.informers.of(kind, selectionOf(watchOf(unit, kind), kind === unit.kind ? shared.selector : undefined))
  );
  const log = shared.log.with({ controller: loop, controllerGroup: kind.group, controllerKind: kind.kind });
  const guard: Guard = { log, loop, observe: shared.observe };
  const indexes = Object.entries(unit.indexes).map(([name, { kind, keys }]) => {
    const cache = caches.find((cache) => isSame(cache.kind, kind))!;
    const keysOf = (object: KubeObject): readonly string[] => {
      const found = guarded(guard, { what: `index "${name}"`, kind, object }, () => {
        const found = keys(object);
        return found === undefined ? [] : typeof found === "string" ? [found] : [...found];
      });
      return found ?? [];
    };
    return [name, new CacheIndex(cache, keysOf)] as const;
  });
  const named = unit.watches.flatMap(({ kind: of, options }) => {
    const { names } = options;
    if (names === undefined) return [];
    const namesOf = (own: KubeObject): readonly RequestedObject[] =>
      guarded(guard, { what: `names of ${of.kind}`, kind, object: own }, () => {
        const requests = requestList(typeof names === "function" ? names(own) : names);
        return requests.flatMap((request) => requestedObject(of, request, own.metadata.namespace) ?? []);
      }) ?? [];
    return new NamedWatches({ informers: shared.informers, kind: of, options, namesOf });
  });
  for (const watches of named) {
    caches[0]!.listen(({ before, after }) => watches.update(keyOf((after ?? before)!.metadata), after));
  }
  return {
    ...shared,
    loop,
    unit,
    caches,
    indexes: new Map(indexes),
    children: new Map(),
    narrowed: unit.watches.filter(({ kind }) => unit.owns.some((owned) => isSame(owned, kind)))
      .flatMap((watch) => narrowedWatch(watch) ?? []),
    named,
    shape: watchOf(unit, kind)?.metadataOnly ? undefined : new ObjectShape(kind, caches[0]!),
    counts: { skippedWrites: 0, ownEvents: 0, delayedReconciles: 0 },
    log,
    manager: fieldManager(operator, loop),
    paused: pausedAnnotation(operator, kind),
  };
}

/**
 * Returns the scope of a part that a loop calls.
 *
 * @param scope The loop's scope.
 * @param operator Name of the operator.
 * @param part The part's key.
 * @param declared The part's declarations.
 */
export function partScope(scope: LoopScope, operator: string, part: string, declared: PartDeclarations): Scope {
  const log = part === scope.loop ? scope.log : scope.log.with({ part });
  return { ...scope, part, declared, manager: fieldManager(operator, part), log };
}

/** Where an error of user code is reported. */
type Guard = Pick<LoopScope, "log" | "loop" | "observe">;

/** A user function, and the object that it is called with. */
interface GuardedCall {
  /** Name of the function for the log, such as `predicate of Secret`. */
  readonly what: string;
  readonly kind?: AnyKind;
  readonly object?: KubeObject | undefined;
}

/**
 * Calls a function of the user that runs for each change. Its errors must not end the watch: an
 * error is logged, and the result is `undefined`.
 *
 * @param guard Where an error is reported.
 * @param about Name of the function, and the object that it is called with.
 * @param call Calls it.
 */
export function guarded<T>(guard: Guard, { what, kind, object }: GuardedCall, call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    guard.log.error("User code failed", {
      what,
      error: withoutUrlCredentials(error instanceof Error ? error.stack ?? error.message : String(error)),
    });
    const { namespace, name } = object?.metadata ?? {};
    guard.observe?.()({ operation: what, part: guard.loop, kind: kind?.kind ?? object?.kind, namespace, name, error });
    return undefined;
  }
}

/**
 * Returns the kinds that a loop watches, its own first, without duplicates. Kinds whose
 * objects are watched by name are not among them.
 */
function watchedKinds({ kind, owns, reads, watches }: LoopUnit): readonly AnyKind[] {
  const unnamed = watches.filter(({ options }) => options.names === undefined);
  const kinds = [kind, ...owns, ...reads, ...unnamed.map(({ kind }) => kind)];
  return kinds.filter((one, i) => kinds.findIndex((other) => isSame(one, other)) === i);
}

/** Returns the options of a loop's watch on a kind; `undefined` if it declares none. */
export function watchOf({ watches }: Pick<LoopUnit, "watches">, kind: AnyKind): Watch["options"] | undefined {
  return watches.find((watch) => isSame(watch.kind, kind))?.options;
}

function selectionOf(options: Watch["options"] | undefined, selector: string | undefined): Selection {
  const { labelSelector, fieldSelector, namespaces, metadataOnly, managedFields } = options ?? {};
  const labels = [selector, labelSelector].filter((one) => one !== undefined).map(labelSelectorOf).filter((text) =>
    text.trim() !== ""
  );
  return {
    ...(labels.length === 0 ? {} : { labelSelector: labels.join(",") }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(metadataOnly ? { metadataOnly } : {}),
    ...(managedFields ? { managedFields } : {}),
  };
}

/** Returns whether two values define the same kind and version. */
export function isSame(one: AnyKind, other: AnyKind): boolean {
  return one === other || (one.kind === other.kind && one.apiVersion === other.apiVersion);
}

/**
 * Returns the cache of a kind if the loop watches it (its own kind, `owns`, `reads`,
 * `watches`) and it covers the namespace: an operator of one namespace sees no events of another.
 */
export function cacheOf(
  { caches }: LoopScope,
  kind: AnyKind,
  namespace: string | undefined,
): InformerCache | undefined {
  const cache = caches.find((cache) => isSame(cache.kind, kind));
  return cache?.covers(namespace) ? cache : undefined;
}

/** Returns the watches of a kind whose objects are watched by name. */
export function namedOf({ named }: LoopScope, kind: AnyKind): NamedWatches | undefined {
  return named.find((watches) => isSame(watches.kind, kind));
}

/** Returns the cache of the loop's own kind. */
export function ownCache({ caches }: LoopScope): InformerCache {
  return caches[0]!;
}

/**
 * Returns whether a loop watches a kind: its own, or one of `owns`, `reads` and `watches`.
 */
export function isWatched({ caches }: LoopScope, kind: AnyKind): boolean {
  return caches.some((cache) => isSame(cache.kind, kind));
}

/** The object of a write. The name is absent if the API server generates it. */
export interface Target {
  readonly kind: AnyKind;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

/**
 * Sends a write. If the kind has a cache, the response updates it, so that reads return it at once
 * and the write does not trigger another reconcile of the object.
 *
 * @param scope The scope of the loop.
 * @param object The object that is being reconciled.
 * @param target The object of the write.
 * @param send Sends the write.
 */
export async function write(
  scope: LoopScope,
  object: KubeObject,
  { kind, name = "", namespace }: Target,
  send: () => Promise<KubeObject>,
): Promise<KubeObject> {
  const key = keyOf({ name, namespace });
  const cache = cacheOf(scope, kind, namespace) ?? namedOf(scope, kind)?.of(key);
  if (cache === undefined) return await send();
  return await cache.write(key, { part: scope.loop, key: keyOf(object.metadata) }, send);
}

/**
 * Sends a deletion. If the kind has a cache, the object is removed from it at once, and the
 * deletion does not trigger another reconcile of the object.
 *
 * @param scope The scope of the loop.
 * @param object The object that is being reconciled.
 * @param target The object to delete.
 * @param send Sends the deletion. Returns the object if finalizers keep it.
 */
export async function remove(
  scope: LoopScope,
  object: KubeObject,
  { kind, name = "", namespace }: Target,
  send: () => Promise<KubeObject | undefined>,
): Promise<void> {
  const key = keyOf({ name, namespace });
  const cache = cacheOf(scope, kind, namespace) ?? namedOf(scope, kind)?.of(key);
  if (cache === undefined) return void await send();
  await cache.remove(key, { part: scope.loop, key: keyOf(object.metadata) }, send);
}
