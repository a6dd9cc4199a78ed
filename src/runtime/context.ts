/** Creates the context of a reconcile, as `parts/context.ts` defines it. */
import { type Duration, milliseconds } from "../base/duration.ts";
import { isObject } from "../base/json.ts";
import { isStatus } from "../kube/api_error.ts";
import type { Verb } from "../parts/access.ts";
import type {
  ApplyOptions,
  Context,
  DeleteOptions,
  ListOptions,
  NamespaceOptions,
  PatchOptions,
} from "../parts/context.ts";
import { checkWritesStatus } from "../parts/status_owner.ts";
import type { AnyKind, KubeObject, ObjectMetaInput, OwnerReference } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import { isApplied } from "./applied.ts";
import { StaleObjectError } from "./failure.ts";
import { stored } from "./stored_form.ts";
import { CacheIndex } from "./cache_index.ts";
import type { CurrentReconcile } from "./current_reconcile.ts";
import { checkNotOwnedByOther, checkOwner, ownerReference } from "./owner.ts";
import type { NamedWatches } from "./named_watches.ts";
import { checkCovered } from "./narrowed.ts";
import { cacheOf, isSame, isWatched, namedOf, remove, type Scope, type Target, write } from "./scope.ts";
import type { ConditionPart } from "./status.ts";
import { traceWrite } from "./traced_writes.ts";

/**
 * The field validation of an apply. API servers reject unknown fields without it. It would only add
 * a second parse of the body for duplicate keys, which generated JSON never has, and which takes
 * 20 % of the time of an apply (k8s.io/apiserver, `applyPatcher`).
 */
const NO_FIELD_VALIDATION = "Ignore" as const;

type Wanted = { readonly metadata?: ObjectMetaInput & { readonly managedFields?: unknown } };

/**
 * The fields of a context as they are implemented: functions accept all kinds, and may return
 * anything. An object that satisfies this type lacks no field of the context and has no other.
 */
export type ContextFields<C> = {
  readonly [Name in keyof C]: C[Name] extends (...args: infer Args) => unknown ? (...args: Args) => unknown : C[Name];
};

/** Creates the context of a reconcile. Its functions are bound, so they may be destructured. */
export function contextOf(scope: Scope, run: CurrentReconcile): Context {
  return {
    get: (kind: AnyKind, name, options) => get(scope, run, kind, name, options),
    list: (kind: AnyKind, options) => list(scope, run, kind, options),
    apply: (kind: AnyKind, wanted, options) => apply(scope, run, kind, wanted as Wanted, options),
    create: (kind: AnyKind, object) => create(scope, run, kind, object as Wanted),
    patch: (kind: AnyKind, name, patch, options) => patchObject(scope, run, kind, name, patch, options),
    delete: (kind: AnyKind, name, options) => deleteObject(scope, run, kind, name, options),
    index: (name, key) => indexed(scope, name, key),
    owned: (kind: AnyKind) => owned(scope, run, kind),
    getLive: (kind: AnyKind, name, options) => getLive(scope, run, kind, name, options),
    applyAll: (children) => applyAll(scope, run, children as readonly Child[], contextOf(scope, run)),
    events: {
      normal: (reason, note, options) =>
        scope.events.record(scope.manager, run.object, { ...options, type: "Normal", reason, note }),
      warning: (reason, note, options) =>
        scope.events.record(scope.manager, run.object, { ...options, type: "Warning", reason, note }),
    },
    services: scope.services(),
    now: () => new Date(scope.clock.now()),
    clock: scope.clock,
    status: (part: Record<string, unknown>) => {
      checkWritesStatus(scope.declared, "status()");
      run.draft.status.add(part);
    },
    condition: (condition: ConditionPart) => {
      checkWritesStatus(scope.declared, "condition()");
      run.draft.status.addCondition(condition);
    },
    log: run.log,
    signal: run.signal,
    attempt: run.attempt,
    started: new Date(run.firstAttempt.time),
    elapsed: run.attempt === 1 ? 0 : Math.round(scope.clock.elapsed() - run.firstAttempt.elapsed),
    sleep: (duration) => sleepDuring(scope, run, duration),
    reason: run.reason,
  } satisfies ContextFields<Context> as Context;
}

async function get(
  scope: Scope,
  run: CurrentReconcile,
  kind: AnyKind,
  name: string,
  options: NamespaceOptions = {},
): Promise<unknown> {
  const namespace = namespaceOf(run, kind, options.namespace);
  if (kind.namespaced && namespace === undefined) {
    throw new TypeError(
      `Cannot get ${kind.kind} "${name}": ${scope.unit.kind.kind} "${run.object.metadata.name}" is not in a namespace. Pass the namespace: ` +
        `get(${kind.kind}, "${name}", { namespace })`,
    );
  }
  const cache = cacheOf(scope, kind, namespace);
  if (cache !== undefined) return cache.get(keyOf({ name, namespace }));
  const named = namedOf(scope, kind);
  if (named !== undefined) return await getNamed(scope, run, named, keyOf({ name, namespace }));
  if (!isWatched(scope, kind)) checkDeclared(scope, kind, "get");
  return await read(scope, run, kind, { name, namespace });
}

/**
 * Reads a named object. Its watch starts when it is first named, so the read waits for its cache.
 */
async function getNamed(scope: Scope, run: CurrentReconcile, named: NamedWatches, key: ObjectKey): Promise<unknown> {
  const cache = named.of(key);
  const throwStale = (): never => {
    throw new StaleObjectError(
      `Cannot get ${named.kind.kind} "${key}": the object changed, and "names" of the watch no longer returns it`,
    );
  };
  if (cache === undefined) {
    if (named.isNamedBy(run.object, key)) throwStale();
    throw new TypeError(
      `Cannot get ${named.kind.kind} "${key}": the watch of controller "${scope.part}" does not include it. Return its name from "names" of the watch`,
    );
  }
  try {
    await cache.ready(run.signal);
  } catch (error) {
    if (named.of(key) !== cache) throwStale();
    throw error;
  }
  return cache.get(key);
}

async function getLive(
  scope: Scope,
  run: CurrentReconcile,
  kind: AnyKind,
  name: string,
  options: NamespaceOptions = {},
): Promise<unknown> {
  checkDeclared(scope, kind, "get");
  return await read(scope, run, kind, { name, namespace: namespaceOf(run, kind, options.namespace) });
}

async function read(
  scope: Scope,
  run: CurrentReconcile,
  kind: AnyKind,
  { name, namespace }: { readonly name: string; readonly namespace: string | undefined },
): Promise<unknown> {
  try {
    return await scope.client.get(kind, name, callOptions(run, namespace));
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

async function list(
  scope: Scope,
  run: CurrentReconcile,
  kind: AnyKind,
  options: ListOptions = {},
): Promise<readonly unknown[]> {
  const namespace = options.namespace === "*" ? undefined : namespaceOf(run, kind, options.namespace);
  const selector = Object.entries(options.selector ?? {});
  const cache = cacheOf(scope, kind, namespace);
  if (cache !== undefined) {
    return [...cache.values(namespace)].filter(({ metadata }) =>
      selector.every(([label, value]) => metadata.labels?.[label] === value)
    );
  }
  if (namedOf(scope, kind) !== undefined) {
    throw new TypeError(
      `Cannot list ${kind.kind}: controller "${scope.part}" watches only named objects. Get them by name, or add the kind to "reads"`,
    );
  }
  if (!isWatched(scope, kind)) checkDeclared(scope, kind, "list");
  const labelSelector = selector.map(([label, value]) => `${label}=${value}`).join(",");
  return await scope.client.list(kind, {
    ...callOptions(run, namespace),
    ...(labelSelector === "" ? {} : { labelSelector }),
  });
}

async function apply(
  scope: Scope,
  run: CurrentReconcile,
  kind: AnyKind,
  wanted: Wanted,
  options: ApplyOptions = {},
): Promise<unknown> {
  run.signal.throwIfAborted();
  if (!scope.declared.owns.some((owned) => isSame(owned, kind))) throw undeclared(scope, kind, `Add it to "owns"`);
  if (!wanted.metadata?.name) {
    throw new TypeError(`Cannot apply a ${kind.kind}: metadata.name is missing. Set the name of the object`);
  }
  if (wanted.metadata.managedFields !== undefined) {
    throw new TypeError(
      `Cannot apply ${kind.kind} "${wanted.metadata.name}": it has managedFields, so it was read from the API server. Apply only the desired fields, or use patch()`,
    );
  }
  const full = complete(scope, run, kind, wanted, options.owner ?? true);
  const live = cacheOf(scope, kind, full.metadata.namespace)?.get(keyOf(full.metadata));
  // Only for new children: the watch selects every child in the cache. If this apply removes the
  // label, the next apply throws.
  if ((options.owner ?? true) && live === undefined) checkChild(scope, "apply()", kind, full);
  if (options.owner ?? true) checkNotOwnedByOther(run.object, kind, live);
  if (live !== undefined && isApplied(full, live, scope.manager)) {
    scope.counts.skippedWrites++;
    return live;
  }
  run.effects.wrote = true;
  if (run.effects.trace) await traceWrite(scope, run, target(kind, full), { verb: "apply", wanted: full, live });
  const force = options.force ?? true;
  const call = { manager: scope.manager, force, signal: run.signal, fieldValidation: NO_FIELD_VALIDATION };
  return await write(scope, run.object, target(kind, full), () => scope.client.apply(kind, full, call));
}

function checkChild({ narrowed }: Scope, call: string, kind: AnyKind, { metadata }: KubeObject): void {
  const watch = narrowed.find((watch) => isSame(watch.kind, kind));
  if (watch !== undefined) checkCovered(call, metadata, watch);
}

type Child = readonly [kind: AnyKind, wanted: unknown];

function indexed({ indexes, part }: Scope, name: string, key: string): readonly KubeObject[] {
  const index = indexes.get(name);
  if (index === undefined) {
    throw new TypeError(`Controller "${part}" has no index "${name}". Add it to "indexes"`);
  }
  return index.get(key);
}

/**
 * Returns the children of the object. The first call creates the index.
 */
function owned(scope: Scope, run: CurrentReconcile, kind: AnyKind): readonly KubeObject[] {
  const cache = scope.caches.find((cache) => isSame(cache.kind, kind));
  if (cache === undefined || !scope.declared.owns.some((one) => isSame(one, kind))) {
    throw undeclared(scope, kind, 'Add it to "owns"');
  }
  let index = scope.children.get(cache);
  if (index === undefined) scope.children.set(cache, index = new CacheIndex(cache, controllerUid));
  return index.get(run.object.metadata.uid);
}

/** Returns the UID of the owner that controls an object, or an empty list. */
function controllerUid({ metadata: { ownerReferences = [] } }: KubeObject): readonly string[] {
  return ownerReferences.filter(({ controller }) => controller).map(({ uid }) => uid);
}

/**
 * Applies children, then deletes other children of the object that this controller applied.
 */
async function applyAll(
  scope: Scope,
  run: CurrentReconcile,
  children: readonly Child[],
  context: Context,
): Promise<unknown[]> {
  const live: KubeObject[] = [];
  for (const [kind, wanted] of children) live.push(await context.apply(kind as never, wanted as never) as KubeObject);
  if (!scope.declared.prune) return live;
  const wanted = new Set(live.map(({ metadata }) => metadata.uid));
  for (const kind of scope.declared.owns) {
    for (const object of cacheOf(scope, kind, undefined)?.values(run.object.metadata.namespace) ?? []) {
      const { metadata } = object;
      if (wanted.has(metadata.uid) || metadata.deletionTimestamp !== undefined) continue;
      if (!isChild(scope, run, metadata)) continue;
      run.signal.throwIfAborted();
      await prune(scope, run, kind, metadata);
    }
  }
  return live;
}

/**
 * Returns whether this controller applied an object as a child of the reconciled one. Children that
 * another controller applied, or that were created without apply, are not pruned.
 */
function isChild(
  { manager }: Scope,
  run: CurrentReconcile,
  { ownerReferences, managedFields }: KubeObject["metadata"],
): boolean {
  return (ownerReferences?.some(({ controller, uid }) => controller && uid === run.object.metadata.uid) ?? false) &&
    (managedFields?.some((entry) => entry.manager === manager && entry.operation === "Apply") ?? false);
}

async function prune(
  scope: Scope,
  run: CurrentReconcile,
  kind: AnyKind,
  { name, namespace, uid }: KubeObject["metadata"],
): Promise<void> {
  try {
    // Another object of that name may exist by now.
    const options = { ...callOptions(run, namespace), preconditions: { uid } };
    run.effects.wrote = true;
    if (run.effects.trace) await traceWrite(scope, run, { kind, name, namespace }, { verb: "delete" });
    await remove(scope, run.object, { kind, name, namespace }, () => scope.client.delete(kind, name, options));
    run.log.info("Child pruned", { kind: kind.kind, child: name });
  } catch (error) {
    if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
  }
}

async function create(scope: Scope, run: CurrentReconcile, kind: AnyKind, object: Wanted): Promise<unknown> {
  run.signal.throwIfAborted();
  const isOwned = scope.declared.owns.some((owned) => isSame(owned, kind));
  if (!isOwned) checkDeclared(scope, kind, "create");
  const full = complete(scope, run, kind, object, isOwned);
  if (isOwned) checkChild(scope, "create()", kind, full);
  const call = { manager: scope.manager, signal: run.signal };
  run.effects.wrote = true;
  if (run.effects.trace) await traceWrite(scope, run, target(kind, full), { verb: "create" });
  return await write(scope, run.object, target(kind, full), () => scope.client.create(kind, full, call));
}

async function patchObject(
  scope: Scope,
  run: CurrentReconcile,
  kind: AnyKind,
  name: string,
  patch: unknown,
  { namespace: given, ...how }: PatchOptions = {},
): Promise<unknown> {
  run.signal.throwIfAborted();
  if (!scope.declared.owns.some((owned) => isSame(owned, kind))) checkDeclared(scope, kind, "patch");
  const namespace = namespaceOf(run, kind, given);
  const call = { ...callOptions(run, namespace), ...how, manager: scope.manager };
  run.effects.wrote = true;
  if (run.effects.trace) {
    await traceWrite(scope, run, { kind, name, namespace }, { verb: "patch", patch, options: how });
  }
  return await write(scope, run.object, { kind, name, namespace }, () => scope.client.patch(kind, name, patch, call));
}

async function deleteObject(
  scope: Scope,
  run: CurrentReconcile,
  kind: AnyKind,
  name: string,
  { namespace: given, ...how }: DeleteOptions = {},
): Promise<void> {
  run.signal.throwIfAborted();
  checkDeclared(scope, kind, "delete");
  try {
    const namespace = namespaceOf(run, kind, given);
    run.effects.wrote = true;
    if (run.effects.trace) await traceWrite(scope, run, { kind, name, namespace }, { verb: "delete" });
    await remove(
      scope,
      run.object,
      { kind, name, namespace },
      () => scope.client.delete(kind, name, { ...callOptions(run, namespace), ...how }),
    );
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

/** Returns the full object as it is sent, with kind, namespace and owner. */
function complete(scope: Scope, run: CurrentReconcile, kind: AnyKind, wanted: Wanted, isOwned: boolean): KubeObject {
  const namespace = namespaceOf(run, kind, wanted.metadata?.namespace);
  const metadata = { ...wanted.metadata, ...(namespace === undefined ? {} : { namespace }) };
  if (isOwned) {
    checkOwner(scope.unit.kind, run.object, kind, metadata);
    const references: readonly OwnerReference[] = metadata.ownerReferences ?? [];
    metadata.ownerReferences = [...references, ownerReference(scope.unit.kind, run.object)];
  }
  return stored({
    ...wanted,
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: withoutUndefined(metadata),
  } as unknown as KubeObject);
}

async function sleepDuring({ clock }: Scope, { effects, signal }: CurrentReconcile, duration: Duration): Promise<void> {
  const delay = milliseconds(duration);
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => reject(signal.reason);
  const timer = clock.after(delay, resolve);
  signal.addEventListener("abort", stop, { once: true });
  effects.sleeps.add(timer);
  try {
    await promise;
  } finally {
    effects.sleeps.delete(timer);
    timer[Symbol.dispose]();
    signal.removeEventListener("abort", stop);
  }
}

function target(kind: AnyKind, { metadata: { name, namespace } }: KubeObject): Target {
  return { kind, name, namespace };
}

function withoutUndefined(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(metadata).filter(([, value]) =>
      value !== undefined && !(isObject(value) && Object.keys(value).length === 0)
    ),
  );
}

/**
 * Returns the namespace of a call: the given one, or the object's; `undefined` for a cluster-scoped
 * kind.
 */
function namespaceOf(run: CurrentReconcile, kind: AnyKind, given: string | undefined): string | undefined {
  return kind.namespaced ? given ?? run.object.metadata.namespace : undefined;
}

function callOptions(
  run: CurrentReconcile,
  namespace: string | undefined,
): { signal: AbortSignal; namespace?: string } {
  return { signal: run.signal, ...(namespace === undefined ? {} : { namespace }) };
}

/**
 * Throws if the controller does not declare a verb on a kind. The compiler rejects this too, but a
 * program may not be type-checked.
 */
function checkDeclared(scope: Scope, kind: AnyKind, verb: Verb): void {
  const isDeclared = scope.declared.uses.some((access) => isSame(access.kind, kind) && access.verbs.includes(verb));
  if (!isDeclared) throw undeclared(scope, kind, `Add access(${kind.kind}, "${verb}") to "uses"`);
}

function undeclared(scope: Scope, kind: AnyKind, fix: string): TypeError {
  return new TypeError(`Cannot access ${kind.kind}: controller "${scope.part}" does not declare it. ${fix}`);
}
