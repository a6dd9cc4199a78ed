/** The failed objects of a loop: their attempts, and how a failure is reported and retried. */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import type { ObjectKey } from "../watch/key.ts";
import type { CodeObserver } from "./code_failure.ts";
import type { CurrentReconcile, FirstAttempt } from "./current_reconcile.ts";
import { type Failure, failureOf } from "./failure.ts";
import { reportFailure } from "./reconcile.ts";
import { type LoopScope, ownCache, type UnitFailure } from "./scope.ts";

/** The next attempt to reconcile an object. */
export interface NextAttempt {
  /** Its number, starting at 1. */
  readonly attempt: number;
  readonly firstAttempt: FirstAttempt;
}

/** The failed attempts of an object since its last success. */
interface ConsecutiveFailures {
  readonly count: number;
  readonly firstAttempt: FirstAttempt;
}

/** The failed objects of a loop. */
export class LoopFailures {
  readonly #scope: LoopScope;
  readonly #failures = new Map<ObjectKey, ConsecutiveFailures>();
  /** Objects whose last reconcile failed with an error that only a change can resolve. */
  readonly #stalled = new Set<ObjectKey>();

  /** @param scope The scope of the loop. */
  constructor(scope: LoopScope) {
    this.#scope = scope;
  }

  /** Returns the next attempt to reconcile an object. */
  nextAttempt(key: ObjectKey): NextAttempt {
    const { clock } = this.#scope;
    const { count, firstAttempt } = this.#failures.get(key) ??
      { count: 0, firstAttempt: { time: clock.now(), elapsed: clock.elapsed() } };
    return { attempt: count + 1, firstAttempt };
  }

  /** Returns whether only a change of the object can help. Its own status is no such change. */
  isStalled(key: ObjectKey): boolean {
    return this.#stalled.has(key);
  }

  /** The failed objects that are retried. */
  get retried(): readonly ObjectKey[] {
    return [...this.#failures.keys()].filter((key) => !this.#stalled.has(key));
  }

  /** Records that a reconcile of an object starts. */
  started(key: ObjectKey): void {
    this.#stalled.delete(key);
  }

  /**
   * Records that a reconcile of an object has ended without an error.
   *
   * @param key The object.
   * @param failure The failures that the reconcile reported itself.
   */
  ended(key: ObjectKey, failure: UnitFailure | undefined): void {
    this.#failures.delete(key);
    if (failure?.isStalled) this.#stalled.add(key);
  }

  /** Removes the state of a deleted object. */
  forget(key: ObjectKey): void {
    this.#failures.delete(key);
    this.#stalled.delete(key);
    this.#scope.failures.forget(this.#scope.unit.kind, key);
  }

  /**
   * Records a failed reconcile, and reports it in the log, as an Event and in the object's status.
   * Write conflicts and known failures are only logged.
   *
   * @param key The object.
   * @param run The reconcile.
   * @param error The thrown value.
   * @param observer Observes failures of user code.
   * @returns The failure, which says when the object is reconciled again.
   */
  async failed(
    key: ObjectKey,
    run: CurrentReconcile,
    error: unknown,
    observer: ReturnType<CodeObserver> | undefined,
  ): Promise<Failure> {
    const failure = failureOf(error, run.attempt, this.#scope.loop, this.#scope.random());
    if (!failure.isRace) this.#observe(run, error, observer);
    this.#record(key, run, failure);
    if (failure.isRace) run.log.debug("Reconcile met a write conflict", { error: failure.message });
    else if (failure.isKnown) run.log.debug("Object still invalid", { error: failure.message });
    else await this.#report(run, error, failure);
    return failure;
  }

  #observe(
    { object, attempt }: CurrentReconcile,
    error: unknown,
    observer: ReturnType<CodeObserver> | undefined,
  ): void {
    const { unit: { kind }, loop } = this.#scope;
    const { name, namespace, deletionTimestamp } = object.metadata;
    const operation = deletionTimestamp === undefined ? "reconcile" : "cleanup";
    observer?.({ operation, part: loop, kind: kind.kind, namespace, name, attempt, error });
  }

  #record(key: ObjectKey, { object, attempt, firstAttempt }: CurrentReconcile, failure: Failure): void {
    const { unit: { kind }, loop, failures } = this.#scope;
    // The object may have been deleted or replaced meanwhile.
    if (ownCache(this.#scope).get(key)?.metadata.uid !== object.metadata.uid) return;
    this.#failures.set(key, { count: attempt, firstAttempt });
    if (failure.after === undefined) this.#stalled.add(key);
    if (!failure.isRace) failures.set(kind, key, loop, failure);
  }

  async #report(run: CurrentReconcile, error: unknown, failure: Failure): Promise<void> {
    const { events, manager } = this.#scope;
    run.log.error("Reconcile failed", {
      error: failure.message,
      attempt: run.attempt,
      ...(failure.isUnexpected && error instanceof Error ? { stack: withoutUrlCredentials(error.stack ?? "") } : {}),
      ...(failure.after === undefined ? {} : { retryAfterMs: Math.round(failure.after) }),
    });
    events.record(manager, run.object, { type: "Warning", reason: failure.reason, note: failure.message });
    try {
      await reportFailure(this.#scope, run, { ...failure, isStalled: failure.after === undefined });
    } catch (reportError) {
      run.log.debug("Status not written", { error: (reportError as Error).message });
    }
  }
}
