/**
 * Steps: parts of a handler whose results are stored, so that a retry of the handler does not
 * repeat them.
 */
import { linked } from "../base/abort.ts";
import { backoff, type BackoffOptions } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import { type Duration, milliseconds } from "../base/duration.ts";
import { isoTime } from "../base/iso_time.ts";
import { jsonError } from "./json_error.ts";
import type { StepState } from "./state.ts";

/** How often and when a function is retried after an error. */
export interface RetryOptions {
  /** Number of attempts in total. @default {no limit} */
  readonly retries?: number | undefined;
  /** Time limit for all attempts together. @default {no limit} */
  readonly totalTimeout?: Duration | undefined;
  /** Time limit for one attempt. @default {no limit} */
  readonly timeout?: Duration | undefined;
  /** Delay before the next attempt: always the same, or doubling from `first` to `longest`. */
  readonly backoff?: Duration | { readonly first: Duration; readonly longest: Duration } | undefined;
  /**
   * The meaning of errors other than `TemporaryError` and `PermanentError`. `ignored`: the
   * function counts as successful, with the result `undefined`. @default {"temporary"}
   */
  readonly errors?: "temporary" | "permanent" | "ignored" | undefined;
}

/** Options of a step. */
export interface StepOptions extends RetryOptions {
  /**
   * How long the result is stored: until the handler succeeds, or as long as the object exists.
   * @default {"call"}
   */
  readonly lifetime?: "call" | "object" | undefined;
}

/** One attempt of a step. */
export interface StepAttempt {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Aborts when the call is aborted, or when the time limit of the attempt has passed. */
  readonly signal: AbortSignal;
}

/**
 * Thrown by a step that waits for its next attempt. It ends the attempt of the handler, which is
 * called again when the step is due. Do not catch it.
 *
 * @example Code that catches errors
 * ```ts
 * import { on, StepPendingError } from "@op/sdk/handlers";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const copy = on.create(ConfigMap, async (_map, { step, log }) => {
 *   try {
 *     await step("copy", () => fetch("https://store.example.com").then(({ status }) => status), { retries: 3 });
 *   } catch (error) {
 *     if (error instanceof StepPendingError) throw error;
 *     log.warn("Not copied", { error });
 *   }
 * });
 * ```
 */
export class StepPendingError extends Error {
  /** Always `StepPendingError`. */
  override name = "StepPendingError";
  /** Always `StepPending`. */
  readonly code = "StepPending";
  /** The keys of the steps that wait. */
  readonly steps: readonly string[];
  /** When the first of them is due, in milliseconds since the epoch. */
  readonly dueAt: number;

  /** Creates the error. */
  constructor(steps: readonly string[], dueAt: number) {
    const names = steps.map((step) => JSON.stringify(step)).join(", ");
    super(`step(${names}): it waits for its next attempt at ${isoTime(dueAt)}. Do not catch this error.`);
    this.steps = steps;
    this.dueAt = dueAt;
  }
}

/** Why a {@linkcode StepError} was thrown. */
export type StepErrorCode =
  | "DuplicateStep"
  | "StepFailed"
  | "StepNotAwaited"
  | "StepPendingCaught"
  | "StepResultNotJson"
  | "StepRetriesExhausted"
  | "StepTimedOut";

/**
 * An error of a step that a retry of the handler would not fix. The call gives up.
 *
 * - `DuplicateStep`: two steps of a call have the same key.
 * - `StepFailed`: the step failed, and its option `errors` is `"permanent"`.
 * - `StepNotAwaited`: the handler returned before the step did.
 * - `StepPendingCaught`: the handler caught a {@linkcode StepPendingError} and returned.
 * - `StepResultNotJson`: the result of the step cannot be stored.
 * - `StepRetriesExhausted`, `StepTimedOut`: the step reached the limit of its attempts.
 *
 * @example Another way if a step fails in all attempts
 * ```ts
 * import { on, StepError } from "@op/sdk/handlers";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const copy = on.create(ConfigMap, async (_map, { step, log }) => {
 *   try {
 *     await step("copy", () => fetch("https://store.example.com").then(({ status }) => status), { retries: 3 });
 *   } catch (error) {
 *     if (!(error instanceof StepError) || error.code !== "StepRetriesExhausted") throw error;
 *     log.warn("Not copied", { error });
 *   }
 * });
 * ```
 */
export class StepError extends Error {
  /** Always `StepError`. */
  override name = "StepError";
  /** Why the step failed. */
  readonly code: StepErrorCode;
  /** The key of the step. */
  readonly step: string;

  /** Creates the error. `problem` follows the name of the step. */
  constructor(code: StepErrorCode, step: string, problem: string, options?: ErrorOptions) {
    super(`step(${JSON.stringify(step)}): ${problem}`, options);
    this.code = code;
    this.step = step;
  }
}

/** The meaning of an error for retries. */
export type ErrorMeaning =
  | {
    readonly kind: "temporary";
    /** Milliseconds until the next attempt. @default {the backoff} */
    readonly after?: number | undefined;
  }
  | { readonly kind: "permanent" | "other" };

/** A failed attempt of a step that has retries of its own. */
export interface StepFailure {
  readonly step: string;
  readonly error: unknown;
  readonly attempt: number;
  /** When the next attempt is due, in milliseconds since the epoch. */
  readonly dueAt: number;
}

/** The environment of the steps of a call. */
export interface StepEnvironment {
  readonly clock: Clock;
  /** Aborts when the call is aborted. */
  readonly signal: AbortSignal;
  /** Number of the attempt of the call, from 1. */
  readonly attempt: number;
  /** The steps of earlier attempts of the call. @default {none} */
  readonly states?: ReadonlyMap<string, StepState> | undefined;
  /** The delays of steps without the option `backoff`. */
  readonly backoff?: BackoffOptions | undefined;
  classify(error: unknown): ErrorMeaning;
  /**
   * Called when a result was added to {@linkcode StepRunner.states}. The step returns when its
   * promise resolves.
   */
  onResult?(step: string): void | Promise<void>;
  /** Called when an attempt failed and the step waits for the next one. */
  onFailure?(failure: StepFailure): void;
}

/** How a call ended. */
export type CallEnd =
  | { readonly result: "success" }
  | {
    readonly result: "pending";
    /** When the first pending step is due, in milliseconds since the epoch. */
    readonly dueAt: number;
  }
  | { readonly result: "failure"; readonly error: unknown };

/**
 * Runs the steps of one attempt of a call.
 *
 * A step whose result is stored is not run again. A step with options for retries waits alone: it
 * throws a {@linkcode StepPendingError}, and other steps continue. The errors of other steps fail
 * the call.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { systemClock as clock } from "../base/clock.ts";
 *
 * const { signal } = new AbortController();
 * const classify = () => ({ kind: "other" }) as const;
 * const runner = new StepRunner({ clock, signal, attempt: 1, classify });
 * assert.equal(await runner.step("database", () => "db-1"), "db-1");
 * assert.deepEqual(runner.states.get("database"), { result: "db-1", isKept: false });
 * assert.deepEqual(await runner.end(), { result: "success" });
 * ```
 */
export class StepRunner {
  readonly #environment: StepEnvironment;
  readonly #states: Map<string, StepState>;
  /** The keys of the steps in this attempt. */
  readonly #used = new Set<string>();
  /** Steps that have not returned. */
  readonly #running = new Map<string, Promise<unknown>>();
  /** When the steps that wait for another attempt are due. */
  readonly #pending = new Map<string, number>();
  #isEnded = false;

  /** @param environment The call, and the steps of its earlier attempts. */
  constructor(environment: StepEnvironment) {
    this.#environment = environment;
    this.#states = new Map(environment.states);
  }

  /** The states of all steps of the call, including those of earlier attempts. */
  get states(): ReadonlyMap<string, StepState> {
    return this.#states;
  }

  /**
   * Runs a step, or returns its stored result.
   *
   * @param key Identifies the step in its handler.
   * @param fn The step. It returns JSON or `undefined`.
   * @param options When it is retried by itself, and how long the result is stored.
   * @returns A copy of the result.
   * @throws {StepPendingError} If the step failed and waits for its next attempt.
   * @throws {StepError} If the step cannot succeed by a retry of the handler.
   */
  async step<T>(key: string, fn: (attempt: StepAttempt) => T | Promise<T>, options: StepOptions = {}): Promise<T> {
    if (this.#isEnded) throw notAwaited(key);
    if (this.#used.has(key)) {
      throw new StepError("DuplicateStep", key, "another step of the call has this key. Give each step its own key.");
    }
    this.#used.add(key);
    const state = this.#states.get(key);
    if (state !== undefined && "result" in state) return copy(state.result) as T;
    const running = this.#run(key, fn, options);
    this.#running.set(key, running);
    try {
      return await running;
    } finally {
      this.#running.delete(key);
    }
  }

  /**
   * Runs steps in parallel, and waits for all of them.
   *
   * @param fns The steps by their keys.
   * @returns Their results by their keys.
   * @throws {StepPendingError} If some steps wait for their next attempt and the others succeeded.
   * @throws {AggregateError} If a step failed. It has the errors of all steps.
   */
  async steps<const R extends { readonly [key: string]: (attempt: StepAttempt) => unknown }>(
    fns: R,
  ): Promise<{ [K in keyof R]: Awaited<ReturnType<R[K]>> }> {
    const keys = Object.keys(fns);
    const outcomes = await Promise.allSettled(keys.map((key) => this.step(key, fns[key]!)));
    const errors = outcomes.flatMap((outcome) => outcome.status === "rejected" ? [outcome.reason as unknown] : []);
    if (errors.length > 0) throw combined(errors, keys.length);
    const results = outcomes.map((outcome, i) => [keys[i], (outcome as PromiseFulfilledResult<unknown>).value]);
    return Object.fromEntries(results);
  }

  /**
   * Determines how the call ended. Waits for steps that are still running, because a retry would
   * repeat them.
   *
   * @param failure What the handler threw; `undefined` if it returned.
   */
  async end(failure?: { readonly error: unknown }): Promise<CallEnd> {
    this.#isEnded = true;
    const [running] = this.#running.keys();
    await Promise.allSettled(this.#running.values());
    if (failure !== undefined) {
      return this.#pending.size > 0 && isPending(failure.error)
        ? { result: "pending", dueAt: Math.min(...this.#pending.values()) }
        : { result: "failure", error: failure.error };
    }
    const [caught] = this.#pending.keys();
    if (caught !== undefined) {
      const problem = "it waits for its next attempt, but the handler caught the error and returned. Rethrow errors " +
        'with the code "StepPending".';
      return { result: "failure", error: new StepError("StepPendingCaught", caught, problem) };
    }
    return running === undefined ? { result: "success" } : { result: "failure", error: notAwaited(running) };
  }

  async #run<T>(key: string, fn: (attempt: StepAttempt) => T | Promise<T>, options: StepOptions): Promise<T> {
    const { clock, signal, attempt } = this.#environment;
    const retry = retryOf(key, options);
    signal.throwIfAborted();
    const before = this.#failedAttempts(key);
    if (retry.isOwn) this.#checkDue(key, retry, before);
    const attempts = { count: before.count + 1, since: before.since ?? clock.now() };
    let result: T;
    try {
      result = await this.#attempt(key, fn, retry.isOwn ? attempts.count : attempt, retry.timeout);
    } catch (error) {
      // An attempt does not count if the call was aborted, or if a step within this step has
      // failed.
      if (signal.aborted || !retry.isOwn || error instanceof StepError || isPending(error)) throw error;
      const meaning = this.#environment.classify(error);
      if (meaning.kind !== "other" || retry.errors !== "ignored") {
        throw this.#failed(key, error, meaning, retry, attempts);
      }
      result = undefined as T;
    }
    return await this.#store(key, result, options.lifetime === "object");
  }

  #failedAttempts(key: string): FailedAttempts {
    const state = this.#states.get(key);
    return state === undefined || "result" in state ? { count: 0 } : { ...state, count: state.attempts };
  }

  /** Throws if a step waits for its next attempt, or has none left. */
  #checkDue(key: string, { retries, totalTimeout }: Retry, { count, since, dueAt = 0 }: FailedAttempts): void {
    const now = this.#environment.clock.now();
    if (retries !== undefined && count >= retries) throw retriesExhausted(key, count);
    if (totalTimeout !== undefined && since !== undefined && now - since >= totalTimeout) throw timedOut(key, count);
    if (dueAt > now) throw this.#wait(key, dueAt);
  }

  async #attempt<T>(
    key: string,
    fn: (attempt: StepAttempt) => T | Promise<T>,
    attempt: number,
    timeout: number | undefined,
  ): Promise<T> {
    const { clock, signal: outer } = this.#environment;
    if (timeout === undefined) return await fn({ attempt, signal: outer });
    using controller = linked([outer]);
    const { promise: timedOut, reject } = Promise.withResolvers<never>();
    using _timer = clock.after(timeout, () => {
      const error = new DOMException(`step(${JSON.stringify(key)}): timed out after ${timeout} ms.`, "TimeoutError");
      controller.abort(error);
      reject(error);
    });
    return await Promise.race([fn({ attempt, signal: controller.signal }), timedOut]);
  }

  /** Records a failed attempt, and returns the error to throw. */
  #failed(key: string, error: unknown, meaning: ErrorMeaning, retry: Retry, attempts: FailedAttempts): unknown {
    const { retries, totalTimeout, errors } = retry;
    if (meaning.kind === "permanent") return error;
    if (meaning.kind === "other" && errors === "permanent") {
      return new StepError("StepFailed", key, `failed: ${messageOf(error)}`, { cause: error });
    }
    const { count, since } = attempts;
    const now = this.#environment.clock.now();
    const delay = meaning.kind === "temporary" ? meaning.after : undefined;
    const dueAt = now + (delay ?? backoff(count, retry.backoff ?? this.#environment.backoff));
    const isLimited = retries !== undefined || totalTimeout !== undefined;
    this.#states.set(key, { attempts: count, dueAt, ...(isLimited ? { since } : {}) });
    if (retries !== undefined && count >= retries) return retriesExhausted(key, count, error);
    if (totalTimeout !== undefined && now - since! >= totalTimeout) return timedOut(key, count, error);
    this.#environment.onFailure?.({ step: key, error, attempt: count, dueAt });
    return this.#wait(key, dueAt);
  }

  #wait(key: string, dueAt: number): StepPendingError {
    this.#pending.set(key, dueAt);
    return new StepPendingError([key], dueAt);
  }

  async #store<T>(key: string, result: T, isKept: boolean): Promise<T> {
    const error = result === undefined ? undefined : jsonError(result);
    if (error !== undefined) {
      const problem = `the result cannot be stored as JSON: ${error}. Return strings, numbers, booleans, null, lists ` +
        "and plain objects.";
      throw new StepError("StepResultNotJson", key, problem);
    }
    this.#states.set(key, { result: copy(result), isKept });
    await this.#environment.onResult?.(key);
    return copy(result);
  }
}

/** {@linkcode RetryOptions} in milliseconds. */
interface Retry {
  readonly retries: number | undefined;
  readonly totalTimeout: number | undefined;
  readonly timeout: number | undefined;
  readonly backoff: BackoffOptions | undefined;
  readonly errors: RetryOptions["errors"];
  /** Whether the step is retried by itself, instead of failing the call. */
  readonly isOwn: boolean;
}

interface FailedAttempts {
  readonly count: number;
  readonly since?: number | undefined;
  readonly dueAt?: number | undefined;
}

function retryOf(key: string, { retries, totalTimeout, timeout, backoff, errors }: RetryOptions): Retry {
  if (retries !== undefined && (!Number.isInteger(retries) || retries < 1)) {
    throw new RangeError(`step(${JSON.stringify(key)}): "retries" must be a positive integer, got ${retries}.`);
  }
  return {
    retries,
    totalTimeout: totalTimeout === undefined ? undefined : milliseconds(totalTimeout),
    timeout: timeout === undefined ? undefined : milliseconds(timeout),
    backoff: backoff === undefined
      ? undefined
      : typeof backoff === "string"
      ? { first: milliseconds(backoff), longest: milliseconds(backoff) }
      : { first: milliseconds(backoff.first), longest: milliseconds(backoff.longest) },
    errors,
    isOwn: [retries, totalTimeout, backoff, errors].some((option) => option !== undefined),
  };
}

/** Returns the error for steps of which some failed. */
function combined(errors: readonly unknown[], count: number): Error {
  const pending = errors.filter((error) => error instanceof StepPendingError);
  if (pending.length === errors.length) {
    return new StepPendingError(pending.flatMap(({ steps }) => steps), Math.min(...pending.map(({ dueAt }) => dueAt)));
  }
  const messages = errors.filter((error) => !(error instanceof StepPendingError)).map(messageOf);
  return new AggregateError(errors, `steps(): ${messages.length} of ${count} steps failed: ${messages.join("; ")}`);
}

/** Returns whether a function failed only because a step waits, also if it wrapped the error. */
function isPending(error: unknown): boolean {
  if (error instanceof StepPendingError) return true;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isPending);
  return error instanceof Error && error.cause !== undefined && isPending(error.cause);
}

function retriesExhausted(key: string, attempts: number, cause?: unknown): StepError {
  return new StepError("StepRetriesExhausted", key, `failed in all ${attempts} attempts${reason(cause)}`, { cause });
}

function timedOut(key: string, attempts: number, cause?: unknown): StepError {
  const problem = `"totalTimeout" has passed after ${attempts} failed attempts${reason(cause)}`;
  return new StepError("StepTimedOut", key, problem, { cause });
}

function notAwaited(key: string): StepError {
  return new StepError("StepNotAwaited", key, "it was running when the handler returned. Await it in the handler.");
}

function reason(cause: unknown): string {
  return cause === undefined ? "." : `: ${messageOf(cause)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns a copy of a result as a retry would receive it. */
function copy<T>(result: T): T {
  return result === undefined ? result : JSON.parse(JSON.stringify(result));
}
