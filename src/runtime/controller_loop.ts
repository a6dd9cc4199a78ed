/**
 * Runs a controller. Changes add the keys of objects to a queue, the objects are reconciled, and
 * failed reconciles are retried.
 */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import { aborted, linked } from "../base/abort.ts";
import { sleep } from "../base/clock.ts";
import { equal } from "../base/json.ts";
import { isStatus } from "../kube/api_error.ts";
import type { ReconcileReason } from "../parts/context.ts";
import { PermanentError } from "../parts/outcome.ts";
import { effectOf, LoopLimit, type Pause } from "../queue/loop_limit.ts";
import { type Next as QueueNext, type Priority, WorkQueue } from "../queue/work_queue.ts";
import type { KubeObject } from "../resource/kind.ts";
import { ownsStatus } from "../resource/ownership.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import type { Writer } from "../watch/own_writes.ts";
import type { StoreChange } from "../watch/store.ts";
import type { CodeObserver } from "./code_failure.ts";
import { type CurrentReconcile, type FirstAttempt, withReconcileLog } from "./current_reconcile.ts";
import { failureOf, isProgrammingError, isRace } from "./failure.ts";
import { explainLoop, HOT_LOOP } from "./hot_loops.ts";
import { LoopTrace, ReconcileEffects } from "./loop_trace.ts";
import type { Logger } from "./logger.ts";
import type { ControllerMetrics, ControllerState } from "./metrics.ts";
import { ObjectDraft } from "./object_draft.ts";
import { type NextReconcile, reconcileObject, reportFailure, reportPaused } from "./reconcile.ts";
import { reconcileLog } from "./reconcile_log.ts";
import { type LoopScope, ownCache, watchOf } from "./scope.ts";
import { runTriggers } from "./triggers.ts";
import type { ReconcileSpan, ReconcileTracing } from "./tracing.ts";
import { type Add, isRelevant, listenToWatchedKinds, tracedChange } from "./watched_changes.ts";

// How long a reconcile may take to end after its signal is aborted by the deadline, in
// milliseconds.
const ABORT_GRACE_PERIOD = 100;

// A hot loop has ended when no reconcile of the object was delayed or repeated its writes for this
// long, in milliseconds: twice the longest delay.
const LOOP_END = 60_000;

// A loop whose reconciles still write new values may settle soon. It is reported when its delays
// reach this, in milliseconds.
const REPORTED_DELAY = 1000;

/** An object in a hot loop. */
interface ReportedLoop {
  /**
   * When a reconcile of the object was last delayed or repeated its writes, in monotonic
   * milliseconds.
   */
  last: number;
  /**
   * Writes to the object. They show whether the loop continues, even if only the other controller
   * in it is delayed.
   */
  readonly trace: LoopTrace;
  timer: Disposable;
}

/** The failed attempts of an object since its last success. */
interface ConsecutiveFailures {
  readonly count: number;
  readonly firstAttempt: FirstAttempt;
}

/** An object that is being reconciled. */
interface RunningObject {
  readonly abort: AbortController;
  readonly effects: ReconcileEffects;
  readonly isDeleting: boolean;
  readonly ended: Promise<void>;
  /** When the reconcile started, in monotonic milliseconds. */
  readonly since: number;
}

/**
 * Runs a controller: keeps the queue of objects that are due, and reconciles them concurrently
 * while this process leads.
 */
export class ControllerLoop {
  readonly scope: LoopScope;
  /** Number of reconciles that started plus the number that ended. */
  activity = 0;
  readonly #queue: WorkQueue<ReconcileReason>;
  readonly #metrics: ControllerMetrics;
  readonly #tracing: ReconcileTracing | undefined;
  readonly #limit: LoopLimit<LoopTrace>;
  /** Objects in hot loops that were reported. */
  readonly #hotLoops = new Map<ObjectKey, ReportedLoop>();
  readonly #failures = new Map<ObjectKey, ConsecutiveFailures>();
  readonly #running = new Map<ObjectKey, RunningObject>();
  /**
   * Objects whose last reconcile failed with a PermanentError. Status changes do not trigger them
   * again.
   */
  readonly #stalled = new Set<ObjectKey>();
  /** Objects with the annotation that pauses them. */
  readonly #paused = new Set<ObjectKey>();
  /** Reasons why no reconcile may start, by the name of the hold, such as `permissions`. */
  readonly #holds = new Map<string, string>();
  /** Called when the API server denies a request of a reconcile. */
  onForbidden: () => void = () => {};
  #isOpen = false;
  #hasLed = false;
  /** Whether this term's start was logged. */
  #isStartLogged = false;

  /** @param scope The controller and what it uses. */
  constructor(scope: LoopScope) {
    this.scope = scope;
    this.#metrics = scope.metrics.controller(scope.loop, this.#state());
    this.#tracing = scope.tracing?.controller(scope.loop);
    this.#limit = new LoopLimit({
      clock: scope.clock,
      trace: () => new LoopTrace(),
      onPause: (key, pause) => this.#onDelay(key as ObjectKey, pause),
    });
    this.#queue = new WorkQueue(
      scope.clock,
      () => this.#startDue(),
      (waited) => this.#metrics.waited(waited / 1000),
      this.#limit,
    );
    ownCache(scope).listen((change, by, initial) => this.#onOwnChange(change, by, initial));
    listenToWatchedKinds(scope, this.#add);
    for (const cache of scope.caches) cache.onServedAgain(() => this.#retryFailed());
  }

  /** The kinds whose caches are not synced yet. The controller starts when there are none. */
  get waitsFor(): readonly string[] {
    return this.scope.caches.filter(({ isSynced }) => !isSynced).map(({ kind }) => kind.kind);
  }

  /** The reasons of all holds: why no reconcile may start although all caches are synced. */
  get heldBy(): readonly string[] {
    return [...this.#holds.values()];
  }

  /** Describes the objects that are being reconciled and the number of objects that are due. */
  get busy(): readonly string[] {
    const running = [...this.#running.keys()].map((key) => `${this.scope.loop} "${key}" is being reconciled`);
    return this.#queue.depth === 0 || !this.#isOpen || this.#holds.size > 0
      ? running
      : [...running, `${this.scope.loop} has ${this.#queue.depth} objects due`];
  }

  /** Number of reconciles that wait in `sleep` of their context. */
  get sleeping(): number {
    return [...this.#running.values()].filter(({ effects }) => effects.sleeps > 0).length;
  }

  /** Describes the objects in hot loops whose next reconcile is delayed, each with the cause. */
  get delayed(): readonly string[] {
    const { loop, unit: { kind } } = this.scope;
    return this.#queue.paused.map((key) => {
      const { message, trigger } = this.#explain(key);
      return `controller "${loop}" does not converge on ${kind.kind} "${key}". ${message} Last trigger: ${trigger}.`;
    });
  }

  /**
   * Starts no reconcile until the hold is released. Running reconciles continue, and changes are
   * queued.
   *
   * @param name Name of the hold, such as `permissions`.
   * @param reason Why no reconcile may start; `undefined` releases the hold.
   */
  hold(name: string, reason: string | undefined): void {
    if (reason !== undefined) this.#holds.set(name, reason);
    else if (this.#holds.delete(name)) {
      this.#logStart();
      this.#startDue();
    }
  }

  #state(): ControllerState {
    const { scope } = this;
    return {
      concurrency: scope.unit.concurrency,
      counts: scope.counts,
      queue: () => this.#queue,
      isDegraded: () => this.#holds.has("permissions"),
      paused: () => this.#paused.size,
      hotLoops: () => scope.hotLoops.of(scope.loop),
      runSeconds: () => [...this.#running.values()].map(({ since }) => (scope.clock.elapsed() - since) / 1000),
    };
  }

  readonly #add: Add = (key, reason, options, change) => {
    this.#tracing?.triggered(key, reason, change);
    const trace = this.#traceOf(key);
    if (trace !== undefined) trace.trigger = { reason, change };
    this.#queue.add(key, reason, options);
  };

  /**
   * Runs until the controller is stopped or its term as leader ends. It can be called again for
   * another term; changes between terms are queued.
   *
   * @param stop When aborted, no more reconciles start; running ones may end.
   * @param deadline When aborted, the reconciles that are still running are aborted.
   * @param term When aborted, no more reconciles start and running ones are aborted, because
   * another process may lead.
   */
  async run(stop: AbortSignal, deadline: AbortSignal, term: AbortSignal): Promise<void> {
    // Synchronously, so that no reconcile continues after the term has ended.
    const close = (): void => {
      this.#isOpen = false;
      this.#abortRunning(term.reason);
    };
    term.addEventListener("abort", close, { once: true });
    using ending = linked([stop, term]);
    await Promise.race([this.#synced(), aborted(ending.signal)]);
    if (!ending.signal.aborted) {
      this.#open();
      runTriggers(this.scope, this.#add, ending.signal);
      await aborted(ending.signal);
    }
    this.#isOpen = false;
    if (stop.aborted) this.#close();
    using aborting = linked([deadline, term]);
    // Reconciles that ignore their signal are abandoned. They can no longer write.
    await Promise.race([
      Promise.all([...this.#running.values()].map(({ ended }) => ended)),
      aborted(aborting.signal).then(() => {
        this.#abortRunning(aborting.signal.reason);
        return this.#waitForAborted();
      }),
    ]);
    term.removeEventListener("abort", close);
  }

  #close(): void {
    this.#queue.close();
    for (const { timer } of this.#hotLoops.values()) timer[Symbol.dispose]();
  }

  #synced(): Promise<unknown> {
    return Promise.all(this.scope.caches.map(({ synced }) => synced));
  }

  #open(): void {
    const cache = ownCache(this.scope);
    // Another process may have led since the last term, and reconciles were aborted, so all objects
    // are reconciled again.
    if (this.#hasLed) {
      for (const object of cache.values()) {
        if (this.#isWanted(object)) this.#queue.add(keyOf(object.metadata), "found at start", { priority: "initial" });
      }
    }
    this.#hasLed = true;
    this.#isOpen = true;
    this.#isStartLogged = false;
    this.#logStart();
    this.#startDue();
  }

  /**
   * Retries failed objects at once when a missing kind is served again. Otherwise they would wait
   * for their backoff, which may be 15 minutes.
   */
  #retryFailed(): void {
    for (const key of this.#failures.keys()) {
      if (!this.#stalled.has(key)) this.#queue.add(key, "retried", { endsBackoff: true });
    }
  }

  /** Logs the start, once per term and only when no hold is left. */
  #logStart(): void {
    if (!this.#isOpen || this.#isStartLogged || this.#holds.size > 0) return;
    this.#isStartLogged = true;
    this.scope.log.info("Controller started", { objects: ownCache(this.scope).size });
  }

  /** Waits a moment for reconciles that respond to their signal. */
  async #waitForAborted(): Promise<void> {
    const ended = Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await Promise.race([ended, sleep(this.scope.clock, ABORT_GRACE_PERIOD).catch(() => undefined)]);
  }

  #abortRunning(reason: unknown): void {
    for (const { abort } of this.#running.values()) abort.abort(reason);
  }

  #onOwnChange(change: StoreChange, by: Writer | undefined, initial: boolean): void {
    const { before, after } = change;
    const key = keyOf((after ?? before)!.metadata);
    if (after === undefined) return this.#forget(key);
    const isNew = before === undefined || before.metadata.uid !== after.metadata.uid;
    // A new list has another object of that name, so the deletion of the old one was missed.
    if (before !== undefined && isNew) this.#forget(key);
    const isDeleting = after.metadata.deletionTimestamp !== undefined;
    const run = this.#running.get(key);
    if (isDeleting && run !== undefined && !run.isDeleting) {
      run.abort.abort(new DOMException("The object is being deleted", "AbortError"));
    }
    // The response to a write may contain earlier changes of other writers. Those must trigger a
    // reconcile, because no watch event will bring them again.
    const isOwn = by?.part === this.scope.loop && by.key === key;
    if (isOwn && before !== undefined && isStatusOrFinalizerChange(before, after)) {
      this.scope.counts.ownEvents++;
      return;
    }
    const startsDeletion = !isNew && isDeleting !== (before.metadata.deletionTimestamp !== undefined);
    if (isNew ? !this.#isWanted(after) : !startsDeletion && !this.#isRelevant(before, after)) return;
    // Otherwise two controllers that report permanent errors would trigger each other forever.
    if (!isNew && this.#stalled.has(key) && isStatusOrFinalizerChange(before, after)) return;
    const endsBackoff = isNew || startsDeletion ||
      after.metadata.generation === undefined || after.metadata.generation !== before.metadata.generation;
    // A spec change by the controller itself is not a request of a user.
    const isSpecChange = !isNew && !isOwn && after.metadata.generation !== before.metadata.generation;
    const endsPause = isNew || startsDeletion || (isSpecChange && this.#limit.reset(key));
    if (initial) this.#queue.add(key, "found at start", { priority: "initial", endsBackoff, endsPause });
    else this.#add(key, "changed", { priority: this.#priority, endsBackoff, endsPause }, tracedChange(change, by));
  }

  /** Removes all state of a deleted object. */
  #forget(key: ObjectKey): void {
    this.#running.get(key)?.abort.abort(new DOMException("The object was deleted", "AbortError"));
    this.#failures.delete(key);
    this.#stalled.delete(key);
    this.#paused.delete(key);
    this.scope.failures.forget(this.scope.unit.kind, key);
    this.#queue.drop(key);
    this.#tracing?.forget(key);
    this.#limit.forget(key);
    this.#endLoop(key);
  }

  /** Called when a reconcile is delayed because its object is in a hot loop. */
  #onDelay(key: ObjectKey, { length, isRepeat }: Pause): void {
    this.scope.counts.delayedReconciles++;
    const now = this.scope.clock.elapsed();
    const reported = this.#hotLoops.get(key);
    if (reported !== undefined) reported.last = now;
    else if (isRepeat || length >= REPORTED_DELAY) this.#beginLoop(key, now);
  }

  #beginLoop(key: ObjectKey, now: number): void {
    const { scope } = this;
    const object = ownCache(scope).get(key);
    if (object === undefined) return;
    const loop = this.#explain(key);
    const { message, trigger, kind, object: written, field, manager, otherManager } = loop;
    const trace = this.#traceOf(key) ?? new LoopTrace();
    this.#hotLoops.set(key, { last: now, trace, timer: this.#watchLoop(key, LOOP_END) });
    scope.hotLoops.begin(scope.unit.kind, key, scope.loop, loop);
    this.#logOf(object).warn("Hot loop detected", {
      cause: message,
      trigger,
      ...(field === "" ? {} : { writtenKind: kind, writtenObject: written, field, manager, otherManager }),
    });
    scope.events.record(scope.manager, object, { type: "Warning", reason: HOT_LOOP, note: message });
  }

  #logOf({ metadata: { namespace, name, uid } }: KubeObject): Logger {
    return this.scope.log.with({ ...(namespace === undefined ? {} : { namespace }), name, uid });
  }

  #explain(key: string): ReturnType<typeof explainLoop> {
    return explainLoop(this.#traceOf(key) ?? new LoopTrace(), this.scope.manager);
  }

  /**
   * Checks after a delay, in milliseconds, whether a loop has ended. Until then it checks again.
   */
  #watchLoop(key: ObjectKey, after: number): Disposable {
    const { clock, unit } = this.scope;
    return clock.after(after, () => {
      const loop = this.#hotLoops.get(key);
      if (loop === undefined) return;
      const left = loop.last + LOOP_END - clock.elapsed();
      if (left > 0) return void (loop.timer = this.#watchLoop(key, left));
      this.#endLoop(key);
      const object = ownCache(this.scope).get(key);
      if (object === undefined) return;
      this.#logOf(object).info("Hot loop ended");
      // One more reconcile removes the condition.
      if (ownsStatus(unit.kind) && unit.writesStatus) this.#queue.add(key, "requeued");
    });
  }

  /**
   * Returns the record of writes of an object that may be in a hot loop; `undefined` for most
   * objects.
   */
  #traceOf(key: string): LoopTrace | undefined {
    return this.#hotLoops.get(key as ObjectKey)?.trace ?? this.#limit.traceOf(key);
  }

  #endLoop(key: ObjectKey): void {
    this.#hotLoops.get(key)?.timer[Symbol.dispose]();
    if (this.#hotLoops.delete(key)) this.scope.hotLoops.end(this.scope.unit.kind, key, this.scope.loop);
  }

  get #priority(): Priority {
    return watchOf(this.scope.unit, this.scope.unit.kind)?.priority === "low" ? "resync" : "fresh";
  }

  /**
   * Returns whether an object that is new or found at start must be reconciled, by the user's
   * predicates. Always true for an object that must be cleaned up.
   */
  #isWanted(object: KubeObject): boolean {
    const { deletionTimestamp, finalizers } = object.metadata;
    const { finalizer, orphanedFinalizers } = this.scope.unit;
    const hasFinalizer = finalizers?.includes(finalizer) || orphanedFinalizers.in(finalizers).length > 0;
    if (deletionTimestamp !== undefined && hasFinalizer) return true;
    return isRelevant(this.scope, watchOf(this.scope.unit, this.scope.unit.kind), {
      before: undefined,
      after: object,
    });
  }

  /**
   * Returns whether a change triggers a reconcile, by the user's predicates. Always true when the
   * change pauses or resumes the object.
   */
  #isRelevant(before: KubeObject, after: KubeObject): boolean {
    const options = watchOf(this.scope.unit, this.scope.unit.kind);
    return isPaused(before, this.scope.paused) !== isPaused(after, this.scope.paused) ||
      isRelevant(this.scope, options, { before, after });
  }

  #startDue(): void {
    while (this.#isOpen && this.#holds.size === 0 && this.#running.size < this.scope.unit.concurrency) {
      const work = this.#queue.take();
      if (work === undefined) return;
      const object = ownCache(this.scope).get(work.key);
      if (object === undefined) {
        this.#tracing?.forget(work.key);
        this.#queue.done(work.key);
        continue;
      }
      this.#start(work.key, object, work.reason);
    }
  }

  #start(key: ObjectKey, object: KubeObject, reason: ReconcileReason): void {
    this.activity++;
    this.#stalled.delete(key);
    const abort = new AbortController();
    const { clock } = this.scope;
    const { count, firstAttempt } = this.#failures.get(key) ??
      { count: 0, firstAttempt: { time: clock.now(), elapsed: clock.elapsed() } };
    const attempt = count + 1;
    const span = isPaused(object, this.scope.paused) ? undefined : this.#tracing?.begin(object, reason, attempt);
    const log = span === undefined ? this.scope.log : this.scope.log.with(span.logFields);
    const effects = new ReconcileEffects(this.#traceOf(key));
    const start: CurrentReconcile = {
      object,
      reason,
      attempt,
      firstAttempt,
      signal: abort.signal,
      log: reconcileLog(log, object),
      draft: new ObjectDraft(),
      effects,
    };
    const ended = this.#reconcileAndContinue(key, start, span);
    const isDeleting = object.metadata.deletionTimestamp !== undefined;
    this.#running.set(key, { abort, effects, isDeleting, ended, since: clock.elapsed() });
  }

  /** Reconciles an object and starts the next one. Never rejects. */
  async #reconcileAndContinue(key: ObjectKey, start: CurrentReconcile, span: ReconcileSpan | undefined): Promise<void> {
    // The reconcile must be in #running before the user's code runs.
    await Promise.resolve();
    const next =
      await (span === undefined
        ? this.#reconcileOrPause(key, start, span)
        : span.within(() => this.#reconcileOrPause(key, start, span)));
    this.activity++;
    this.#running.delete(key);
    this.#recordEffects(key, start.effects, next);
    this.#queue.done(key, next);
    this.#startDue();
  }

  #recordEffects(key: ObjectKey, { wrote, repeated, trace }: ReconcileEffects, next: Next): void {
    if (trace !== undefined) {
      trace.requeuedAfter = next?.reason === "requeued" ? next.after : undefined;
      if (next !== undefined) trace.trigger = { reason: next.reason, change: undefined };
    }
    const reported = this.#hotLoops.get(key);
    if (reported !== undefined && repeated) reported.last = this.scope.clock.elapsed();
    this.#limit.ended(key, effectOf({ wrote, repeated, after: next?.after }));
  }

  async #reconcileOrPause(key: ObjectKey, start: CurrentReconcile, span: ReconcileSpan | undefined): Promise<Next> {
    let next: Next;
    let result = "success";
    const failed = this.scope.observe?.();
    try {
      if (isPaused(start.object, this.scope.paused)) await this.#pause(key, start);
      else next = await this.#reconcile(key, start);
    } catch (error) {
      result = start.signal.aborted ? "aborted" : "error";
      if (!start.signal.aborted) {
        span?.failed(error);
        next = await this.#afterFailure(key, start, error, failed);
      }
    }
    span?.end(result, next?.reason);
    return next;
  }

  async #pause(key: ObjectKey, start: CurrentReconcile): Promise<void> {
    if (!this.#paused.has(key)) start.log.info("Object paused");
    this.#paused.add(key);
    await reportPaused(this.scope, start);
  }

  async #reconcile(key: ObjectKey, start: CurrentReconcile): Promise<Next> {
    if (this.#paused.delete(key)) start.log.info("Object resumed");
    start.log.debug("Reconcile started", { reason: start.reason, attempt: start.attempt });
    const began = this.scope.clock.elapsed();
    const seconds = (): number => (this.scope.clock.elapsed() - began) / 1000;
    try {
      const outcome = await withReconcileLog(start.log, () => reconcileObject(this.scope, start));
      this.#metrics.reconciled(!outcome ? "success" : outcome.after === 0 ? "requeue" : "requeue_after", seconds());
      return this.#afterSuccess(key, outcome);
    } catch (error) {
      if (!start.signal.aborted) this.#countFailure(error, seconds());
      throw error;
    }
  }

  #countFailure(error: unknown, seconds: number): void {
    // A write conflict is not an error: the next attempt resolves it.
    this.#metrics.reconciled(isRace(error) ? "requeue" : "error", seconds);
    if (error instanceof PermanentError) this.#metrics.terminalError();
    if (error instanceof DOMException && error.name === "TimeoutError") this.#metrics.timeout();
    if (isProgrammingError(error)) this.#metrics.panic();
    if (isStatus(error, 403)) this.onForbidden();
  }

  #afterSuccess(key: ObjectKey, outcome: NextReconcile | undefined): Next {
    this.#failures.delete(key);
    return outcome ? { after: outcome.after, reason: "requeued", isBackoff: false } : undefined;
  }

  async #afterFailure(
    key: ObjectKey,
    start: CurrentReconcile,
    error: unknown,
    failed: ReturnType<CodeObserver> | undefined,
  ): Promise<Next> {
    const failures = start.attempt;
    const failure = failureOf(error, failures, this.scope.loop, this.scope.random());
    const { unit: { kind }, loop, failures: reported } = this.scope;
    if (!failure.isRace) {
      const { name, namespace, deletionTimestamp } = start.object.metadata;
      const what = deletionTimestamp === undefined ? "reconcile" : "cleanup";
      failed?.({ operation: what, part: loop, kind: kind.kind, namespace, name, attempt: failures, error });
    }
    // The object may have been deleted or replaced meanwhile.
    if (ownCache(this.scope).get(key)?.metadata.uid === start.object.metadata.uid) {
      this.#failures.set(key, { count: failures, firstAttempt: start.firstAttempt });
      if (failure.after === undefined) this.#stalled.add(key);
      if (!failure.isRace) reported.set(kind, key, loop, failure);
    }
    const next = failure.after === undefined
      ? undefined
      : { after: failure.after, reason: "retried" as const, isBackoff: true, yields: failure.yields ?? false };
    if (failure.isRace) {
      start.log.debug("Reconcile met a write conflict", { error: failure.message });
      return next;
    }
    if (failure.isKnown) {
      start.log.debug("Object still invalid", { error: failure.message });
      return next;
    }
    start.log.error("Reconcile failed", {
      error: failure.message,
      attempt: failures,
      ...(failure.isUnexpected && error instanceof Error ? { stack: withoutUrlCredentials(error.stack ?? "") } : {}),
      ...(failure.after === undefined ? {} : { retryAfterMs: Math.round(failure.after) }),
    });
    this.scope.events.record(this.scope.manager, start.object, {
      type: "Warning",
      reason: failure.reason,
      note: failure.message,
    });
    try {
      await reportFailure(this.scope, start, failure.reason, failure.message, failure.after === undefined);
    } catch (reportError) {
      start.log.debug("Status not written", { error: (reportError as Error).message });
    }
    return next;
  }
}

/** When an object is reconciled again; `undefined` if only a change triggers it. */
type Next = QueueNext<ReconcileReason> | undefined;

function isPaused({ metadata }: KubeObject, annotation: string): boolean {
  const value = metadata.annotations?.[annotation];
  return value !== undefined && value !== "false";
}

/** Returns whether a change affects only status and finalizers, so it triggers no reconcile. */
function isStatusOrFinalizerChange(before: KubeObject, after: KubeObject): boolean {
  const { metadata: old, ...oldRest } = before as KubeObject & { status?: unknown };
  const { metadata: now, ...nowRest } = after as KubeObject & { status?: unknown };
  return old.uid === now.uid && old.deletionTimestamp === now.deletionTimestamp && old.generation === now.generation &&
    equal(old.labels, now.labels) && equal(old.annotations, now.annotations) &&
    // For kinds without a generation, the content itself is compared.
    (now.generation !== undefined || equal({ ...oldRest, status: undefined }, { ...nowRest, status: undefined }));
}
