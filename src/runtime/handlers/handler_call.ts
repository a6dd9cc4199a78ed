/** Calls a handler for one cause, and determines how the call ended. */
import { linked } from "../../base/abort.ts";
import { backoff, type BackoffOptions } from "../../base/backoff.ts";
import { milliseconds } from "../../base/duration.ts";
import { matchesChange } from "../../handlers/filters.ts";
import type { MemoStore } from "../../handlers/memo.ts";
import type { Outcome } from "../../handlers/next_state.ts";
import type { Call } from "../../handlers/plan.ts";
import type { StepState } from "../../handlers/state.ts";
import { type ErrorMeaning, StepError, StepPendingError, StepRunner } from "../../handlers/steps.ts";
import type { Handler } from "../../parts/handlers/handler.ts";
import { PermanentError, type ReconcileResult, TemporaryError } from "../../parts/outcome.ts";
import { contextOf } from "../context.ts";
import type { CurrentReconcile } from "../current_reconcile.ts";
import { type Failure, failureOf } from "../failure.ts";
import { nextReconcileOf } from "../reconcile_result.ts";
import { ObjectDraft } from "../object_draft.ts";
import type { Scope } from "../scope.ts";
import { withTimeLimit } from "../time_limit.ts";
import type { CompiledSet } from "./compiled_set.ts";
import { handlerFields } from "./handler_context.ts";

/** What calls of a handler use. */
export interface CallEnvironment {
  readonly set: CompiledSet;
  readonly scope: Scope;
  readonly memos: MemoStore;
  readonly handler: Handler;
  /** When the first attempt of the call began, in milliseconds since the epoch. */
  readonly since: number;
  /** The steps of earlier attempts. */
  readonly steps: ReadonlyMap<string, StepState> | undefined;
}

/** How a call ended, and its error if it failed. */
export interface CallResult {
  readonly outcome: Outcome;
  readonly failure?: CallFailure;
}

/** The error of a call. */
export interface CallFailure extends Failure {
  readonly error: unknown;
}

/**
 * Calls a handler. The changes that it makes to the object are added to the draft of the reconcile,
 * unless the call fails.
 *
 * @param environment What the call uses.
 * @param run The reconcile.
 * @param call The call. If it is aborted, it is pending, and its finished steps are not repeated.
 */
export async function callHandler(
  environment: CallEnvironment,
  run: CurrentReconcile,
  call: Call,
): Promise<CallResult> {
  const { scope, handler, since } = environment;
  // A change that the filters exclude counts as handled.
  if (!matchesChange(handler.options, call.old, call.current)) return { outcome: { call, since, result: "success" } };
  const draft = new ObjectDraft();
  const attempt = await runAttempt(environment, { ...run, draft }, call);
  const { end, requeue, steps } = attempt;
  const now = scope.clock.now();
  const common = { call, since, steps };
  if (run.signal.aborted && end.result !== "success") return { outcome: { ...common, result: "pending", dueAt: now } };
  if (end.result === "failure") {
    const failure = failureOfCall(environment, call, end.error);
    if (failure.after === undefined) return { outcome: { ...common, result: "permanent failure" }, failure };
    return { outcome: { ...common, result: "failure", dueAt: now + failure.after }, failure };
  }
  run.draft.include(draft);
  if (end.result === "pending") return { outcome: { ...common, result: "pending", dueAt: end.dueAt } };
  if (requeue !== undefined) return { outcome: { ...common, result: "pending", dueAt: now + requeue.after } };
  return { outcome: { ...common, result: "success" } };
}

interface Attempt {
  readonly end: Awaited<ReturnType<StepRunner["end"]>>;
  readonly requeue: { readonly after: number } | undefined;
  readonly steps: ReadonlyMap<string, StepState>;
}

async function runAttempt(environment: CallEnvironment, run: CurrentReconcile, call: Call): Promise<Attempt> {
  const { set, scope, handler, memos } = environment;
  const { timeout } = handler.options;
  using controller = linked([run.signal]);
  const { signal } = controller;
  const steps = new StepRunner({
    clock: scope.clock,
    signal,
    attempt: call.attempt,
    states: environment.steps,
    backoff: backoffOf(environment),
    classify: meaningOf,
    onFailure: ({ step, error, attempt, dueAt }) =>
      run.log.warn("Step failed", {
        step,
        error: failureOf(error, attempt, scope.part, 1).message,
        attempt,
        retryAfterMs: Math.round(dueAt - scope.clock.now()),
      }),
  });
  const { clock } = scope;
  const { since } = environment;
  const firstAttempt = { time: since, elapsed: clock.elapsed() - (clock.now() - since) };
  const current = { ...run, attempt: call.attempt, firstAttempt, signal };
  const fields = handlerFields({ set, handler, memos, object: run.object, call, steps });
  const context = { ...contextOf(scope, current), ...fields };
  let requeue: Attempt["requeue"];
  let failure: { readonly error: unknown } | undefined;
  try {
    const handle = () => handler.handle(run.object, context) as ReconcileResult;
    const result = timeout === undefined ? await handle() : await withTimeLimit(
      scope.clock,
      controller,
      { milliseconds: milliseconds(timeout), message: `The handler took longer than ${timeout}` },
      handle,
    );
    requeue = nextReconcileOf(scope.clock, `handler "${scope.part}"`, result);
  } catch (thrown) {
    const error = expected(thrown);
    failure = handler.options.errors === "ignored" && meaningOf(error).kind === "other" && !signal.aborted
      ? void run.log.warn("Error of the handler ignored", { error: failureOf(error, 1, scope.part, 1).message })
      : { error };
  }
  // Steps that ignore their signal are abandoned together with the handler.
  const end = signal.aborted && failure !== undefined
    ? { result: "failure" as const, ...failure }
    : await steps.end(failure);
  return { end, requeue, steps: steps.states };
}

function failureOfCall(environment: CallEnvironment, call: Call, error: unknown): CallFailure {
  const { handler, scope } = environment;
  const failure = failureOf(error, call.attempt, scope.part, 1);
  if (meaningOf(error).kind === "permanent" || handler.options.errors === "permanent" && failure.isUnexpected) {
    return { ...failure, after: undefined, error };
  }
  const hasOwnDelay = error instanceof TemporaryError && error.after !== undefined;
  if (failure.after === undefined || hasOwnDelay) return { ...failure, error };
  return { ...failure, after: backoff(call.attempt, backoffOf(environment)), error };
}

/** Returns the delays between attempts of a handler. */
function backoffOf({ handler: { options: { backoff } }, scope }: CallEnvironment): BackoffOptions {
  if (backoff === undefined) return { spread: scope.random() };
  const { first, longest } = typeof backoff === "string" ? { first: backoff, longest: backoff } : backoff;
  return { first: milliseconds(first), longest: milliseconds(longest), spread: 1 };
}

/**
 * Returns one expected error for parallel steps that failed with expected errors, otherwise the
 * error itself. A retry cannot help if one of them is permanent.
 */
function expected(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const meanings = error.errors.map((one) => one instanceof StepPendingError ? TEMPORARY : meaningOf(one));
  if (meanings.some(({ kind }) => kind === "other")) return error;
  const options = { cause: error };
  if (meanings.some(({ kind }) => kind === "permanent")) return new PermanentError(error.message, options);
  const delays = meanings.flatMap((meaning) => meaning.kind === "temporary" ? meaning.after ?? [] : []);
  return new TemporaryError(
    error.message,
    delays.length === 0 ? options : { ...options, retry: `${Math.min(...delays)}ms` },
  );
}

const TEMPORARY: ErrorMeaning = { kind: "temporary" };

function meaningOf(error: unknown): ErrorMeaning {
  if (error instanceof TemporaryError) return { kind: "temporary", after: error.after };
  return { kind: error instanceof PermanentError || error instanceof StepError ? "permanent" : "other" };
}
