/** Runs a controller: changes become keys, keys become runs, failed runs are tried again. */
import { aborted, linked } from "../base/abort.ts";
import { sleep } from "../base/clock.ts";
import { equal } from "../base/json.ts";
import { failureOf } from "./failure.ts";
import type { Outcome } from "../parts/outcome.ts";
import type { Reason } from "../parts/context.ts";
import type { KubeObject } from "../resource/kind.ts";
import { WorkQueue } from "../queue/work_queue.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import type { StoreChange } from "../watch/store.ts";
import { ownerKey } from "./owner.ts";
import { reportFailure, runObject, type RunStart } from "./run.ts";
import type { Scope } from "./scope.ts";

// How long a run may take to heed the signal of the deadline, in milliseconds.
const LAST_TURNS = 100;

/** Runs a controller. */
export class ControllerLoop {
  readonly scope: Scope;
  /** Grows with each run that begins or ends. */
  activity = 0;
  readonly #queue: WorkQueue<Reason>;
  readonly #failures = new Map<ObjectKey, number>();
  readonly #runs = new Map<
    ObjectKey,
    { readonly abort: AbortController; readonly isDeleting: boolean; readonly ended: Promise<void> }
  >();
  #isOpen = false;
  #hasLed = false;

  constructor(scope: Scope) {
    this.scope = scope;
    this.#queue = new WorkQueue(scope.clock, () => this.#pump());
    const { kind, owns, reads } = scope.controller;
    scope.informers.of(kind).listen((change, by, initial) => this.#onOwn(change, by, initial));
    for (const owned of owns) {
      scope.informers.of(owned).listen((change, by, initial) => this.#onOwned(change, by, initial));
    }
    for (const read of reads) scope.informers.of(read);
  }

  /** Why the controller is not running: the kinds whose live copy is not complete. */
  get waitsFor(): readonly string[] {
    return this.#kinds().filter((kind) => !this.scope.informers.of(kind).isSynced).map((kind) => kind.kind);
  }

  /** Objects whose run goes on, or is due. */
  get busy(): readonly string[] {
    const running = [...this.#runs.keys()].map((key) => `${this.scope.part} "${key}" is being reconciled`);
    return this.#queue.depth === 0 || !this.#isOpen
      ? running
      : [...running, `${this.scope.part} has ${this.#queue.depth} objects due`];
  }

  /**
   * Runs until it is to stop, or its term is over. After a term it may run again: what changes meanwhile is remembered.
   *
   * @param stop Takes nothing more in; the runs that go on may end.
   * @param deadline Aborts the runs that still go on.
   * @param term Takes nothing more in and aborts the runs: another process leads.
   */
  async run(stop: AbortSignal, deadline: AbortSignal, term: AbortSignal): Promise<void> {
    // At once, in the turn in which the term ends: no run goes on in good faith after it.
    const close = (): void => {
      this.#isOpen = false;
      this.#abortRuns(term.reason);
    };
    term.addEventListener("abort", close, { once: true });
    using over = linked([stop, term]);
    await Promise.race([this.#synced(), aborted(over.signal)]);
    if (!over.signal.aborted) {
      this.#open();
      await aborted(over.signal);
    }
    this.#isOpen = false;
    if (stop.aborted) this.#queue.close();
    using cut = linked([deadline, term]);
    // What does not heed its signal is left behind: no write of it begins any more.
    await Promise.race([
      Promise.all([...this.#runs.values()].map(({ ended }) => ended)),
      aborted(cut.signal).then(() => {
        this.#abortRuns(cut.signal.reason);
        return this.#lastTurns();
      }),
    ]);
    term.removeEventListener("abort", close);
  }

  #synced(): Promise<unknown> {
    return Promise.all(this.#kinds().map((kind) => this.scope.informers.of(kind).synced));
  }

  #open(): void {
    const { store } = this.scope.informers.of(this.scope.controller.kind);
    // Another process led meanwhile, and runs of ours were cut off: each object is looked at again.
    if (this.#hasLed) {
      for (const key of store.keys()) {
        this.#queue.add(key, "found at start", { priority: "initial" });
      }
    }
    this.#hasLed = true;
    this.#isOpen = true;
    this.scope.log.info("Controller started", { objects: store.size });
    this.#pump();
  }

  /** Lets runs that heed their signal end: they need no time for it. */
  async #lastTurns(): Promise<void> {
    const ended = Promise.all([...this.#runs.values()].map(({ ended }) => ended));
    await Promise.race([ended, sleep(this.scope.clock, LAST_TURNS).catch(() => undefined)]);
  }

  #kinds(): KindList {
    const { kind, owns, reads } = this.scope.controller;
    return [kind, ...owns, ...reads];
  }

  #abortRuns(reason: unknown): void {
    for (const { abort } of this.#runs.values()) abort.abort(reason);
  }

  #onOwn({ before, after }: StoreChange, by: symbol | undefined, initial: boolean): void {
    const key = keyOf((after ?? before)!.metadata);
    if (after === undefined) {
      this.#runs.get(key)?.abort.abort(new DOMException("The object was deleted", "AbortError"));
      this.#failures.delete(key);
      this.scope.verdicts.forget(this.scope.controller.kind, key);
      this.#queue.drop(key);
      return;
    }
    const isDeleting = after.metadata.deletionTimestamp !== undefined;
    const run = this.#runs.get(key);
    if (isDeleting && run !== undefined && !run.isDeleting) {
      run.abort.abort(new DOMException("The object is being deleted", "AbortError"));
    }
    // The answer to a write of ours may hold what others wrote just before: then it is news, and no event will bring it again.
    if (by === this.scope.writer && before !== undefined && isOnlyOurs(before, after)) return;
    const isNew = before === undefined || before.metadata.uid !== after.metadata.uid;
    if (isNew) this.#failures.delete(key);
    const endsBackoff = isNew || isDeleting !== (before.metadata.deletionTimestamp !== undefined) ||
      after.metadata.generation === undefined || after.metadata.generation !== before.metadata.generation;
    this.#queue.add(key, initial ? "found at start" : "changed", {
      priority: initial ? "initial" : "fresh",
      endsBackoff,
    });
  }

  /** Both the old and the new owner are woken: what was taken away is missed by the one that had it. */
  #onOwned({ before, after }: StoreChange, by: symbol | undefined, initial: boolean): void {
    // At first each owner is found by itself.
    if (by === this.scope.writer || initial) return;
    const { kind } = this.scope.controller;
    const keys = new Set([ownerKey(kind, before), ownerKey(kind, after)]);
    for (const key of keys) if (key !== undefined) this.#queue.add(key, "owned changed");
  }

  #pump(): void {
    while (this.#isOpen && this.#runs.size < this.scope.controller.concurrency) {
      const work = this.#queue.take();
      if (work === undefined) return;
      const object = this.scope.informers.of(this.scope.controller.kind).store.get(work.key);
      if (object === undefined) {
        this.#queue.done(work.key);
        continue;
      }
      this.#start(work.key, object, work.reason);
    }
  }

  #start(key: ObjectKey, object: KubeObject, reason: Reason): void {
    this.activity++;
    const abort = new AbortController();
    const { name, namespace } = object.metadata;
    const start: RunStart = {
      object,
      reason,
      attempt: (this.#failures.get(key) ?? 0) + 1,
      signal: abort.signal,
      log: this.scope.log.with({
        ...(namespace === undefined ? {} : { namespace }),
        name,
        reconcileID: crypto.randomUUID(),
      }),
    };
    const ended = this.#run(key, start);
    this.#runs.set(key, { abort, isDeleting: object.metadata.deletionTimestamp !== undefined, ended });
  }

  /** Never rejects: whatever one object's run does touches no other. */
  async #run(key: ObjectKey, start: RunStart): Promise<void> {
    let next: Parameters<WorkQueue<Reason>["done"]>[1];
    try {
      // The run is entered in #runs before any of the user's code goes on.
      await Promise.resolve();
      start.log.debug("Reconcile started", { reason: start.reason, attempt: start.attempt });
      next = this.#afterSuccess(key, await runObject(this.scope, start));
    } catch (error) {
      next = start.signal.aborted ? undefined : await this.#afterFailure(key, start, error);
    }
    this.activity++;
    this.#runs.delete(key);
    this.#queue.done(key, next);
    this.#pump();
  }

  #afterSuccess(key: ObjectKey, outcome: Outcome): Parameters<WorkQueue<Reason>["done"]>[1] {
    this.#failures.delete(key);
    return outcome ? { after: outcome.after, reason: "requeued", isBackoff: false } : undefined;
  }

  async #afterFailure(
    key: ObjectKey,
    start: RunStart,
    error: unknown,
  ): Promise<Parameters<WorkQueue<Reason>["done"]>[1]> {
    const failures = start.attempt;
    const failure = failureOf(error, failures, this.scope.part, this.scope.random());
    const { informers, controller, part, verdicts } = this.scope;
    // Nothing, or another object, may stand under the key by now: the failure is not its own.
    if (informers.of(controller.kind).store.get(key)?.metadata.uid === start.object.metadata.uid) {
      this.#failures.set(key, failures);
      if (!failure.isRace) verdicts.note(controller.kind, key, part, failure);
    }
    const next = failure.after === undefined
      ? undefined
      : { after: failure.after, reason: "retried" as const, isBackoff: true };
    if (failure.isRace) {
      start.log.debug("Reconcile met another writer", { error: failure.message });
      return next;
    }
    start.log.error("Reconcile failed", {
      error: failure.message,
      attempt: failures,
      ...(failure.isUnexpected && error instanceof Error ? { stack: error.stack } : {}),
      ...(failure.after === undefined ? {} : { retryAfterMs: Math.round(failure.after) }),
    });
    try {
      await reportFailure(this.scope, start, failure.reason, failure.message, failure.after === undefined);
    } catch (reportError) {
      start.log.debug("Status not written", { error: (reportError as Error).message });
    }
    return next;
  }
}

type KindList = readonly Scope["controller"]["kind"][];

/** Whether between two versions of an object nothing changed that a reconciler answers to; its status and finalizers may have. */
function isOnlyOurs(before: KubeObject, after: KubeObject): boolean {
  const { metadata: old, ...oldRest } = before as KubeObject & { status?: unknown };
  const { metadata: now, ...nowRest } = after as KubeObject & { status?: unknown };
  return old.uid === now.uid && old.deletionTimestamp === now.deletionTimestamp && old.generation === now.generation &&
    equal(old.labels, now.labels) && equal(old.annotations, now.annotations) &&
    // Kinds without a generation show a change of their content in the content alone.
    (now.generation !== undefined || equal({ ...oldRest, status: undefined }, { ...nowRest, status: undefined }));
}
