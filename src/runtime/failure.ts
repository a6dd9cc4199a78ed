/** Interprets the error of a failed reconcile: what is reported, and when it is retried. */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import { maskSecrets } from "../base/mask_secrets.ts";
import { backoff } from "../base/backoff.ts";
import { isFetchFailure } from "../base/deno_errors.ts";
import { ApiError, isStatus } from "../kube/api_error.ts";
import { PermanentError, TemporaryError } from "../parts/outcome.ts";
import { InvalidObjectError } from "./object_shape.ts";
import { refusedConnectionAdvice, sandboxAdvice } from "./sandbox_advice.ts";

/**
 * Thrown inside the runtime when a reconcile worked on an outdated object. The object is reconciled
 * again.
 */
export class StaleObjectError extends Error {
  override name = "StaleObjectError";
}

/** An interpreted error. */
export interface Failure {
  /** Reason for a condition, in CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** Whether the error is unexpected, so its stack is logged. */
  readonly isUnexpected: boolean;
  /** Whether it is a write conflict, which the next attempt resolves. It is not reported. */
  readonly isRace: boolean;
  /** Whether it was reported before, so it is not logged again. @default {false} */
  readonly isKnown?: boolean;
  /**
   * Delay before the retry, in milliseconds; `undefined` if only a change of the object can help.
   */
  readonly after: number | undefined;
  /**
   * Whether a change of a watched object ends the delay. True for a TemporaryError, because it
   * means that the reconciler waits for something.
   */
  readonly yields?: boolean;
}

/**
 * Interprets the error of a failed reconcile.
 *
 * @param error The thrown value.
 * @param failures Number of consecutive failures of the object, including this one.
 * @param part Name of the controller's part, for advice.
 * @param spread Random number from 0 to 1 that spreads the backoff.
 */
export function failureOf(error: unknown, failures: number, part: string, spread: number): Failure {
  const after = backoff(failures, { spread });
  const message = messageOf(error);
  if (error instanceof InvalidObjectError) {
    return {
      reason: "InvalidObject",
      message,
      isUnexpected: false,
      isRace: false,
      isKnown: error.isKnown,
      after: undefined,
    };
  }
  if (error instanceof PermanentError) {
    return { reason: "PermanentError", message, isUnexpected: false, isRace: false, after: undefined };
  }
  if (error instanceof TemporaryError) {
    return {
      reason: "TemporaryError",
      message,
      isUnexpected: false,
      isRace: false,
      after: error.after ?? after,
      yields: true,
    };
  }
  if (error instanceof StaleObjectError) {
    return { reason: "StaleObject", message, isUnexpected: false, isRace: true, after };
  }
  if (error instanceof ApiError) {
    return {
      reason: CONDITION_REASON.test(error.reason) ? error.reason : "ApiError",
      message,
      isUnexpected: false,
      isRace: isRace(error),
      after: error.retryAfter ?? after,
    };
  }
  const undeclared = sandboxAdvice(error, `controller "${part}"`);
  if (undeclared !== undefined) {
    // A sandbox permission cannot change while the program runs.
    return { reason: "NotDeclared", message: undeclared, isUnexpected: false, isRace: false, after: undefined };
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return { reason: "Timeout", message, isUnexpected: false, isRace: false, after };
  }
  const advice = refusedConnectionAdvice(error, `controller "${part}"`);
  return { reason: "ReconcileFailed", message: advice ?? message, isUnexpected: true, isRace: false, after };
}

/**
 * Returns whether an error is a write conflict, which the next attempt resolves. Conflicts with
 * another field manager do not count, because they last until one of the two managers stops.
 *
 * @param error The thrown value.
 */
export function isRace(error: unknown): boolean {
  if (error instanceof StaleObjectError) return true;
  return isStatus(error, 409) && error.reason === "Conflict" &&
    !error.causes.some(({ reason }) => reason === "FieldManagerConflict");
}

/**
 * Returns whether an error is a programming error, such as a TypeError.
 *
 * @param error The thrown value.
 */
export function isProgrammingError(error: unknown): boolean {
  if (error instanceof ReferenceError || error instanceof RangeError || error instanceof SyntaxError) return true;
  return error instanceof TypeError && error.cause === undefined && !isFetchFailure(error);
}

// Format of a condition's reason. An admission webhook may respond with any string.
const CONDITION_REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/**
 * Returns the message of a thrown value for conditions, Events and logs. Any value can be thrown,
 * and messages may be empty: Node throws an AggregateError without a message if several addresses
 * are unreachable.
 */
function messageOf(error: unknown): string {
  return withoutUrlCredentials(rawMessage(error));
}

function rawMessage(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(rawMessage).join("; ");
  // On Deno 2.9 the message is only "fetch failed". The address and the reason are in the cause.
  if (error instanceof Error && isFetchFailure(error) && error.cause instanceof Error) {
    return `${error.message}: ${error.cause.message}`;
  }
  if (error instanceof Error) return error.message || error.name;
  return typeof error === "string" ? error : Deno.inspect(maskSecrets(error));
}
