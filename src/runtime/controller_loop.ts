/**
 * Runs a controller, or several parts of one kind: changes add the keys of objects to a queue
 * (`intake.ts`), objects that are due are reconciled (`reconcile_runner.ts`), and failed reconciles
 * are retried (`loop_failures.ts`).
 */
import { aborted, linked } from "../base/abort.ts";
import { isStatus } from "../kube/api_error.ts";
import type { ReconcileReason } from "../parts/context.ts";
import { PermanentError } from "../parts/outcome.ts";
import { type Next as QueueNext, WorkQueue } from "../queue/work_queue.ts";
import type { KubeObject } from "../resource/kind.ts";
import type { ObjectKey } from "../watch/key.ts";
import { type CurrentReconcile, withReconcileLog } from "./current_reconcile.ts";
import { isProgrammingError, isRace } from "./failure.ts";
import { HotLoopDetector } from "./hot_loop_detector.ts";
import { Intake, isPaused } from "./intake.ts";
import { LoopFailures } from "./loop_failures.ts";
import { ReconcileEffects } from "./loop_trace.ts";
import type { ControllerMetrics, ControllerState } from "./metrics.ts";
import { ObjectDraft } from "./object_draft.ts";
import { reconcileObject, reportPaused } from "./reconcile.ts";
import { reconcileLog } from "./reconcile_log.ts";
import { ReconcileRunner } from "./reconcile_runner.ts";
import { type LoopScope, ownCache } from "./scope.ts";
import type { ReconcileSpan, ReconcileTracing } from "./tracing.ts";
import type { Add } from "./watched_changes.ts";

/**
 * Keeps the queue of objects that are due, and reconciles them concurrently while this process
 * leads.
 */
export class ControllerLoop {
  readonly scope: LoopScope;
  readonly #queue: WorkQueue<ReconcileReason>;
  readonly #intake: Intake;
  readonly #runner: ReconcileRunner<Next>;
  readonly #failures: LoopFailures;
  readonly #hotLoops: HotLoopDetector;
  readonly #metrics: ControllerMetrics;
  readonly #tracing: ReconcileTracing | undefined;
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

  /** @param scope What the loop runs, and what it uses. */
  constructor(scope: LoopScope) {
    this.scope = scope;
    this.#metrics = scope.metrics.controller(scope.loop, this.#state());
    this.#tracing = scope.tracing?.controller(scope.loop);
    this.#failures = new LoopFailures(scope);
    this.#hotLoops = new HotLoopDetector(scope, (key) => this.#queue.add(key, "requeued"));
    this.#runner = new ReconcileRunner(
      scope.clock,
      scope.unit.concurrency,
      (key, next, effects) => this.#onEnd(key, next, effects),
    );
    this.#queue = new WorkQueue(
      scope.clock,
      () => this.#startDue(),
      (waited) => this.#metrics.waited(waited / 1000),
      this.#hotLoops,
    );
    this.#intake = new Intake(scope, {
      add: this.#add,
      addInitial: (key, options) => this.#queue.add(key, "found at start", { ...options, priority: "initial" }),
      forget: (key, object) => this.#forget(key, object),
      deletionBegan: (key) => this.#runner.abortBeforeDeletion(key),
      isStalled: (key) => this.#failures.isStalled(key),
      resetDelay: (key) => this.#hotLoops.reset(key),
    });
    for (const cache of scope.caches) cache.onServedAgain(() => this.#retryFailed());
  }

  /** Number of reconciles that started plus the number that ended. */
  get activity(): number {
    return this.#runner.activity;
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
    const running = this.#runner.keys.map((key) => `${this.scope.loop} "${key}" is being reconciled`);
    if (this.#runner.followed > 0) running.push(`${this.scope.loop} handles ${this.#runner.followed} deleted objects`);
    return this.#queue.depth === 0 || !this.#isOpen || this.#holds.size > 0
      ? running
      : [...running, `${this.scope.loop} has ${this.#queue.depth} objects due`];
  }

  /** Number of reconciles that wait in `sleep` of their context. */
  get sleeping(): number {
    return this.#runner.sleeping;
  }

  /** Describes the objects in hot loops whose next reconcile is delayed, each with the cause. */
  get delayed(): readonly string[] {
    return this.#queue.paused.map((key) => this.#hotLoops.describe(key));
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
      this.scope.unit.released?.();
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
      runSeconds: () => this.#runner.seconds,
    };
  }

  readonly #add: Add = (key, reason, options, change) => {
    this.#tracing?.triggered(key, reason, change);
    this.#hotLoops.triggered(key, reason, change);
    this.#queue.add(key, reason, options);
  };

  /**
   * Runs until the controller is stopped or its term as leader ends. It can be called again for
   * another term; changes between terms are queued until {@linkcode ControllerLoop.close}.
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
      this.#runner.abortAll(term.reason);
    };
    term.addEventListener("abort", close, { once: true });
    using ending = linked([stop, term]);
    await Promise.race([this.#synced(), aborted(ending.signal)]);
    if (!ending.signal.aborted) {
      this.#open();
      this.#intake.runTriggers(ending.signal);
      await aborted(ending.signal);
    }
    this.#isOpen = false;
    using aborting = linked([deadline, term]);
    await this.#runner.end(aborting.signal);
    await Promise.race([this.scope.unit.endTerm?.(), aborted(aborting.signal)]);
    term.removeEventListener("abort", close);
  }

  /** Ends the controller: changes are no longer queued. Called after the last term. */
  close(): void {
    this.#queue.close();
    this.#hotLoops.close();
  }

  #synced(): Promise<unknown> {
    return Promise.all(this.scope.caches.map(({ synced }) => synced));
  }

  #open(): void {
    // Another process may have led since the last term, and reconciles were aborted, so all objects
    // are reconciled again.
    if (this.#hasLed) this.#intake.addAll();
    this.#hasLed = true;
    this.scope.unit.beginTerm?.(ownCache(this.scope).values());
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
    for (const key of this.#failures.retried) this.#queue.add(key, "retried", { endsBackoff: true });
  }

  /** Logs the start, once per term and only when no hold is left. */
  #logStart(): void {
    if (!this.#isOpen || this.#isStartLogged || this.#holds.size > 0) return;
    this.#isStartLogged = true;
    this.scope.log.info("Controller started", { objects: ownCache(this.scope).size });
  }

  /** Removes all state of a deleted object. */
  #forget(key: ObjectKey, object: KubeObject): void {
    const { unit } = this.scope;
    if (unit.forget !== undefined) {
      this.#runner.follow((signal) => unit.forget!(object, this.#isOpen ? signal : undefined));
    }
    this.#runner.abort(key, new DOMException("The object was deleted", "AbortError"));
    this.#failures.forget(key);
    this.#paused.delete(key);
    this.#queue.drop(key);
    this.#tracing?.forget(key);
    this.#hotLoops.forget(key);
  }

  #startDue(): void {
    while (this.#isOpen && this.#holds.size === 0 && this.#runner.hasCapacity) {
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
    this.#failures.started(key);
    const { attempt, firstAttempt } = this.#failures.nextAttempt(key);
    const span = isPaused(object, this.scope.paused) ? undefined : this.#tracing?.begin(object, reason, attempt);
    const log = span === undefined ? this.scope.log : this.scope.log.with(span.logFields);
    const effects = new ReconcileEffects(this.#hotLoops.traceOf(key));
    const call = (signal: AbortSignal): Promise<Next> => {
      const run: CurrentReconcile = {
        object,
        reason,
        attempt,
        firstAttempt,
        signal,
        log: reconcileLog(log, object),
        draft: new ObjectDraft(),
        effects,
      };
      if (span === undefined) return this.#reconcileOrPause(key, run, span);
      return span.within(() => this.#reconcileOrPause(key, run, span));
    };
    this.#runner.start(key, { isDeleting: object.metadata.deletionTimestamp !== undefined, effects, call });
  }

  #onEnd(key: ObjectKey, next: Next, effects: ReconcileEffects): void {
    this.#hotLoops.reconciled(key, effects, next);
    this.#queue.done(key, next);
    this.#startDue();
  }

  /** Never rejects. */
  async #reconcileOrPause(key: ObjectKey, run: CurrentReconcile, span: ReconcileSpan | undefined): Promise<Next> {
    let next: Next;
    let result = "success";
    const observer = this.scope.observe?.();
    try {
      if (isPaused(run.object, this.scope.paused)) await this.#pause(key, run);
      else next = await this.#reconcile(key, run);
    } catch (error) {
      result = run.signal.aborted ? "aborted" : "error";
      if (!run.signal.aborted) {
        span?.failed(error);
        const { after, yields = false } = await this.#failures.failed(key, run, error, observer);
        next = after === undefined ? undefined : { after, reason: "retried", isBackoff: true, yields };
      }
    }
    span?.end(result, next?.reason);
    return next;
  }

  async #pause(key: ObjectKey, run: CurrentReconcile): Promise<void> {
    if (!this.#paused.has(key)) run.log.info("Object paused");
    this.#paused.add(key);
    this.scope.unit.paused?.(run.object);
    await reportPaused(this.scope, run);
  }

  async #reconcile(key: ObjectKey, run: CurrentReconcile): Promise<Next> {
    if (this.#paused.delete(key)) run.log.info("Object resumed");
    run.log.debug("Reconcile started", { reason: run.reason, attempt: run.attempt });
    const began = this.scope.clock.elapsed();
    const seconds = (): number => (this.scope.clock.elapsed() - began) / 1000;
    try {
      const { next, failure } = await withReconcileLog(run.log, () => reconcileObject(this.scope, run));
      const result = next === undefined ? "success" : next.after === 0 ? "requeue" : "requeue_after";
      this.#metrics.reconciled(failure === undefined ? result : "error", seconds());
      this.#failures.ended(key, failure);
      return next && { after: next.after, reason: failure === undefined ? "requeued" : "retried", isBackoff: false };
    } catch (error) {
      if (!run.signal.aborted) this.#countFailure(error, seconds());
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
}

/** When an object is reconciled again; `undefined` if only a change triggers it. */
type Next = QueueNext<ReconcileReason> | undefined;
