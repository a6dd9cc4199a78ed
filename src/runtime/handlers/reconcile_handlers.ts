/** Reconciles an object by calling the handlers of its kind that are due. */
import { withoutUrlCredentials } from "../../base/url_credentials.ts";
import { objectMatcher } from "../../handlers/filters.ts";
import { hasBaseline } from "../../handlers/handler_set.ts";
import { type Memo, MemoStore } from "../../handlers/memo.ts";
import { type GaveUp, nextState } from "../../handlers/next_state.ts";
import { type Call, plan } from "../../handlers/plan.ts";
import { decodeRecord, encodeRecord } from "../../handlers/record.ts";
import type { HandlerState } from "../../handlers/state.ts";
import type { HandlerGroup } from "../../parts/handlers/group.ts";
import type { Handler } from "../../parts/handlers/handler.ts";
import { storedDomain } from "../../resource/finalizer_prefix.ts";
import type { AnyKind, KubeObject } from "../../resource/kind.ts";
import { contextOf } from "../context.ts";
import type { CurrentReconcile } from "../current_reconcile.ts";
import { failureOf } from "../failure.ts";
import { ReconcileEffects } from "../loop_trace.ts";
import { ObjectDraft } from "../object_draft.ts";
import { reconcileLog } from "../reconcile_log.ts";
import type { Scope, UnitResult } from "../scope.ts";
import { StatusDraft } from "../status.ts";
import { CompiledSet, type ObjectReading } from "./compiled_set.ts";
import { type CallFailure, callHandler, type CallResult } from "./handler_call.ts";
import { HandlerFailures, reasonOf } from "./handler_failures.ts";
import { StateMemory } from "./state_memory.ts";
import { type RecordField, recordField, recordIn } from "./state_storage.ts";
import { type CronParser, ObjectTimers, Timers } from "./timers.ts";

/** What the handlers of a kind use. */
export interface HandlersEnvironment {
  /** The operator's name. */
  readonly operator: string;
  /** The name of the finalizer. */
  readonly finalizer: string;
  /** The scope of each handler, by key. */
  readonly scopes: ReadonlyMap<string, Scope>;
  /** Creates cron schedules; `undefined` if no timer has one. */
  readonly cron: CronParser | undefined;
}

/** What this process knows about an object. */
interface ObjectMemory {
  readonly state: StateMemory;
  readonly failures: HandlerFailures;
  /** The status that calls reported and the API server has not accepted. */
  unwritten: StatusDraft;
  readonly timers: ObjectTimers;
}

/** Runs the handlers of a kind. */
export class HandlerReconciler {
  readonly #group: HandlerGroup;
  readonly #environment: HandlersEnvironment;
  readonly #set: CompiledSet;
  readonly #matchers: ReadonlyMap<string, ReturnType<typeof objectMatcher>>;
  readonly #field: RecordField | undefined;
  readonly #retryAnnotation: string;
  readonly #objects = new Map<string, ObjectMemory>();
  /** The uids of the objects that existed when the term began. */
  readonly #found = new Set<string>();
  #memos: MemoStore;
  readonly #timers: Timers;

  /**
   * @param group The handlers.
   * @param environment What they use.
   */
  constructor(group: HandlerGroup, environment: HandlersEnvironment) {
    const { kind, handlers, storage } = group;
    this.#group = group;
    this.#environment = environment;
    this.#set = new CompiledSet(kind, handlers);
    this.#matchers = new Map([...handlers].map(([key, { filters }]) => [key, objectMatcher(filters)]));
    this.#field = recordField(environment.operator, kind, storage);
    this.#retryAnnotation = `${storedDomain(environment.operator, kind)}/retry`;
    const [scope] = environment.scopes.values();
    this.#timers = new Timers(handlers, environment.cron, () => scope?.lastRenewedAt?.());
    this.#memos = this.#createMemos();
  }

  #createMemos(): MemoStore {
    return new MemoStore((error, uid) => this.#scope.log.error("Memo not disposed of", { uid, error }));
  }

  /**
   * Begins a term: `resume` handlers are due for the objects that exist.
   *
   * @param objects The objects.
   */
  beginTerm(objects: Iterable<KubeObject>): void {
    this.#found.clear();
    for (const { metadata: { uid } } of objects) this.#found.add(uid);
    for (const { state, timers } of this.#objects.values()) {
      state.beginTerm();
      timers.stop();
    }
  }

  /** Ends a term: disposes of all memos. The promise never rejects. */
  async endTerm(): Promise<void> {
    const memos = this.#memos;
    this.#memos = this.#createMemos();
    await memos[Symbol.asyncDispose]();
  }

  /** Restarts all timers, because calls may have been due while a hold prevented reconciles. */
  released(): void {
    for (const { timers } of this.#objects.values()) timers.stop();
  }

  /** Ends the timers of an object that is paused. */
  paused({ metadata: { uid } }: KubeObject): void {
    this.#objects.get(uid)?.timers.stop();
  }

  /**
   * Returns whether the deletion of an object must wait for a handler. It waits for a handler whose
   * filter throws an error.
   */
  needsFinalizer(object: KubeObject): boolean {
    return (this.#group.cleanup ?? []).some((key) => {
      try {
        return this.#matches(object, key, this.#group.handlers.get(key)!);
      } catch {
        return true;
      }
    });
  }

  /**
   * Calls the `afterDelete` handlers of an object that was deleted, forgets it, and disposes of its
   * memos. The promise never rejects.
   *
   * @param object The last known state of the object.
   * @param signal The signal of the handlers; `undefined` if this process does not reconcile.
   */
  async forget(object: KubeObject, signal: AbortSignal | undefined): Promise<void> {
    const { uid } = object.metadata;
    this.#objects.delete(uid);
    this.#found.delete(uid);
    if (signal !== undefined) await this.#callAfterDelete(object, signal);
    await this.#memos.delete(uid);
  }

  async #callAfterDelete(object: KubeObject, signal: AbortSignal): Promise<void> {
    for (const [key, handler] of this.#group.handlers) {
      if (handler.type !== "afterDelete") continue;
      const scope = this.#environment.scopes.get(key)!;
      const run: CurrentReconcile = {
        object,
        reason: "changed",
        attempt: 1,
        firstAttempt: { time: scope.clock.now(), elapsed: scope.clock.elapsed() },
        signal,
        log: reconcileLog(scope.log.with({ handler: key, cause: "afterDelete" }), object),
        draft: new ObjectDraft(),
        effects: new ReconcileEffects(undefined),
      };
      try {
        if (!this.#matches(object, key, handler)) continue;
        const memo = (memo: Memo<unknown>) => this.#memos.get(memo, object);
        await handler.handle(object, { ...contextOf(scope, run), kind: handler.kind, cause: "afterDelete", memo });
      } catch (error) {
        if (!signal.aborted) {
          this.#reportFailure(run, key, { ...failureOf(error, 1, key, 1), after: undefined, error }, {});
        }
      }
    }
  }

  /** Called when the API server has accepted the writes of a reconcile. */
  accepted({ metadata: { uid } }: KubeObject): void {
    const memory = this.#objects.get(uid);
    if (memory === undefined) return;
    memory.state.accept();
    memory.unwritten = new StatusDraft();
  }

  /**
   * Calls the handlers that are due. Changes of the object are added to the draft.
   *
   * @param run The reconcile.
   * @throws If the reconcile was aborted, or the record of the object cannot be read or written.
   */
  async reconcile(run: CurrentReconcile): Promise<UnitResult> {
    const { next, failure, isSilent } = await this.#handle(run);
    return { next, failure, isSilent };
  }

  /**
   * Calls the handlers that are due before the object is deleted.
   *
   * @param run The reconcile.
   * @returns Also whether the deletion must still wait.
   * @throws If the reconcile was aborted, or the record of the object cannot be read or written.
   */
  async cleanup(run: CurrentReconcile): Promise<UnitResult> {
    return await this.#handle(run);
  }

  async #handle(run: CurrentReconcile): Promise<UnitResult> {
    const { set } = this.#set;
    const { clock } = this.#scope;
    const memory = this.#memoryOf(run.object);
    const reading = this.#read(run.object);
    const { live } = reading;
    const record = this.#field && recordIn(run.object, this.#field);
    const loaded = memory.state.load(
      record,
      (text) => decodeRecord(set, this.#set.rulesFor(run.object), text, reading),
    );
    if (loaded.isLost) run.log.warn("Handler state disappeared and is written again");
    if (loaded.isReplaced) memory.unwritten = new StatusDraft();
    const { calls } = plan(set, live, loaded.state, clock.now());
    // An object for which `create` is due is new, also after the creation was handled.
    const isNew = loaded.state === undefined && !live.isDeleting && set.handlers.some(hasBaseline);
    if (isNew) this.#found.delete(live.uid);
    const results: CallResult[] = [];
    const draft = new ObjectDraft();
    for (const call of calls) {
      if (run.signal.aborted) break;
      results.push(await this.#call({ ...run, draft }, call, loaded.state));
    }
    // Also after an abort: this process does not repeat the calls that succeeded.
    const after = nextState(set, live, loaded.state, results.map(({ outcome }) => outcome), clock.now());
    memory.state.update(after.state, after.write);
    memory.unwritten.include(draft.status);
    this.#report(run, memory, results, after.gaveUp);
    run.signal.throwIfAborted();
    run.draft.status.include(memory.unwritten);
    run.draft.include(draft);
    for (const [key, error] of reading.errors) this.#reportFunction(run, key, error);
    const timersDueAt = live.isDeleting ? Infinity : await this.#runTimers(run, memory, reading);
    const { finalizer, nextDueAt, calls: dueNow } = plan(set, live, after.state, clock.now());
    // A handler whose filter fails may be one that the deletion must wait for.
    const isBlocked = (this.#group.cleanup ?? []).some((key) => reading.errors.has(key));
    const isIncomplete = live.isDeleting && (finalizer !== "remove" || isBlocked);
    // The record of an object is deleted with the object.
    if (!live.isDeleting || isIncomplete) {
      const mustWrite = after.write || loaded.mustWrite;
      if (mustWrite) this.#write(run, memory, after.state, reading, loaded.unknown);
    }
    // Updates that waited for the creation are due now.
    const dueAt = Math.min(
      dueNow.length > 0 ? clock.now() : Infinity,
      nextDueAt ?? Infinity,
      timersDueAt,
      ...results.map(({ outcome: { dueAt = Infinity } }) => dueAt),
    );
    return {
      next: dueAt === Infinity ? undefined : { after: Math.max(0, dueAt - clock.now()) },
      failure: memory.failures.summary(
        after.state,
        reading.errors,
        live.matching.size + reading.errors.size,
        memory.timers.failures,
      ),
      isIncomplete,
      isSilent: run.draft.status.isEmpty && ![...live.matching].some((key) => this.#handlesChanges(key)),
    };
  }

  /** Returns whether the `Ready` condition of an object reports a handler. */
  #handlesChanges(key: string): boolean {
    return this.#group.handlers.get(key)!.causes.some((cause) => cause !== "resume");
  }

  /**
   * Calls the timers that are due.
   *
   * @returns When the next call is due, in milliseconds since the epoch.
   */
  async #runTimers(run: CurrentReconcile, memory: ObjectMemory, { live, errors }: ObjectReading): Promise<number> {
    const { clock } = this.#scope;
    const { timers } = memory;
    timers.update(run.object, (key) => errors.has(key) ? undefined : live.matching.has(key), clock.now());
    for (const dueCall of timers.due(clock.now())) {
      const { call, due, since } = dueCall;
      const log = run.log.with({ handler: call.key, cause: call.cause });
      if (due.missed > 0) log.debug("Timer calls skipped", { skipped: due.missed });
      const environment = {
        set: this.#set,
        scope: this.#environment.scopes.get(call.key)!,
        memos: this.#memos,
        handler: this.#group.handlers.get(call.key)!,
        since,
        steps: undefined,
      };
      const draft = new ObjectDraft();
      const result = await callHandler(environment, { ...run, log, draft }, call);
      memory.unwritten.include(draft.status);
      run.draft.include(draft);
      run.signal.throwIfAborted();
      const gaveUp = timers.ended(dueCall, result, clock.now());
      if (result.failure === undefined) continue;
      const { attempt, cause } = call;
      this.#reportFailure(run, call.key, result.failure, { cause, attempt, ...(gaveUp && { gaveUp }) });
    }
    return timers.nextDueAt;
  }

  get #scope(): Scope {
    const [scope] = this.#environment.scopes.values();
    return scope!;
  }

  #memoryOf({ metadata: { uid } }: KubeObject): ObjectMemory {
    let memory = this.#objects.get(uid);
    if (memory === undefined) {
      memory = {
        state: new StateMemory(),
        failures: new HandlerFailures(),
        unwritten: new StatusDraft(),
        timers: new ObjectTimers(this.#timers, this.#found.has(uid)),
      };
      this.#objects.set(uid, memory);
    }
    return memory;
  }

  #read(object: KubeObject): ObjectReading {
    const { uid, finalizers = [], annotations = {} } = object.metadata;
    return this.#set.read(object, {
      hasFinalizer: finalizers.includes(this.#environment.finalizer),
      isFoundAtStart: this.#found.has(uid),
      retry: annotations[this.#retryAnnotation],
      matches: (key, handler) => this.#matches(object, key, handler),
    });
  }

  /** @throws What the functions of the filters throw. */
  #matches(object: KubeObject, key: string, { causes, filters, options }: Handler): boolean {
    const { metadata } = object;
    const isDeleting = metadata.deletionTimestamp !== undefined;
    if (isDeleting && causes.length > 0 && !causes.includes("delete") && options.deleting !== true) return false;
    if (!this.#matchers.get(key)!(metadata)) return false;
    const { log } = this.#environment.scopes.get(key)!;
    const context = { log, memo: (memo: Memo<unknown>) => this.#memos.get(memo, object) };
    return filters.every(({ ownedBy, when }) =>
      (ownedBy === undefined || isOwnedBy(object, ownedBy)) && (when === undefined || when(object, context))
    );
  }

  async #call(
    run: CurrentReconcile,
    call: Call,
    state: HandlerState | undefined,
  ): Promise<CallResult> {
    const { id, key, cause, item } = call;
    const scope = this.#environment.scopes.get(key)!;
    const log = run.log.with({ handler: key, cause, ...(item === undefined ? {} : { item }) });
    const environment = {
      set: this.#set,
      scope,
      memos: this.#memos,
      handler: this.#group.handlers.get(key)!,
      since: state?.attempts.get(id)?.since ?? scope.clock.now(),
      steps: state?.steps.get(id),
    };
    return await callHandler(environment, { ...run, log }, call);
  }

  #report(
    run: CurrentReconcile,
    memory: ObjectMemory,
    results: readonly CallResult[],
    gaveUp: readonly GaveUp[],
  ): void {
    for (const { outcome: { call }, failure } of results) {
      if (failure === undefined) continue;
      const end = gaveUp.find((one) => one.call === call);
      if (failure.isRace && end === undefined) {
        memory.failures.delete(call.id);
        run.log.debug("Handler met a write conflict", { handler: call.key, error: failure.message });
        continue;
      }
      memory.failures.set(call.id, call.key, failure, reasonOf(end, failure));
      this.#reportFailure(run, call.key, failure, {
        cause: call.cause,
        ...(call.item === undefined ? {} : { item: call.item }),
        attempt: call.attempt,
        ...(end === undefined ? {} : { gaveUp: end.reason }),
      });
    }
  }

  /** Reports a function of a declaration that failed, so that its handler cannot be called. */
  #reportFunction(run: CurrentReconcile, key: string, error: unknown): void {
    this.#reportFailure(run, key, { ...failureOf(error, 1, key, 1), error }, {});
  }

  #reportFailure(
    run: CurrentReconcile,
    key: string,
    { error, reason, message, isUnexpected, after }: CallFailure,
    fields: Record<string, unknown>,
  ): void {
    const scope = this.#environment.scopes.get(key)!;
    run.log.error("Handler failed", {
      handler: key,
      ...fields,
      error: message,
      ...(isUnexpected && error instanceof Error ? { stack: withoutUrlCredentials(error.stack ?? "") } : {}),
      ...(after === undefined || "gaveUp" in fields ? {} : { retryAfterMs: Math.round(after) }),
    });
    scope.events.record(scope.manager, run.object, { type: "Warning", reason, note: `${key}: ${message}` });
    const { name, namespace } = run.object.metadata;
    const { attempt = 1 } = fields as { attempt?: number };
    scope.observe?.()({
      operation: "handler",
      part: key,
      kind: this.#group.kind.kind,
      namespace,
      name,
      attempt,
      error,
    });
  }

  /** Adds the record to the draft. */
  #write(
    run: CurrentReconcile,
    memory: ObjectMemory,
    state: HandlerState,
    { projection }: ObjectReading,
    unknown: Readonly<Record<string, unknown>>,
  ): void {
    if (this.#field === undefined) return;
    const { set, rules } = this.#set;
    const record = encodeRecord(set, rules, state, projection, unknown);
    run.draft.replace(this.#field.keys, memory.state.send(record), record);
  }
}

function isOwnedBy({ metadata: { ownerReferences = [] } }: KubeObject, { apiVersion, kind }: AnyKind): boolean {
  return ownerReferences.some((owner) =>
    owner.controller === true && owner.apiVersion === apiVersion && owner.kind === kind
  );
}
