/** What a failed run means: what is told, and when it is tried again. */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import { maskSecrets } from "../base/mask_secrets.ts";
import { backoff } from "../base/backoff.ts";
import { ApiError, isStatus } from "../kube/api_error.ts";
import { PermanentError, TemporaryError } from "../parts/outcome.ts";
import { InvalidObjectError } from "./object_shape.ts";
import { perhapsUndeclared, undeclaredUse } from "./undeclared_use.ts";

/** A run asked for what its object names no longer: the object changed meanwhile, and is run again for that. It never leaves the runtime. */
export class OutrunError extends Error {
  override name = "OutrunError";
}

/** What a failed run means. */
export interface Failure {
  /** One word in CamelCase, for a condition. */
  readonly reason: string;
  readonly message: string;
  /** Whether it is worth a stack trace: nobody expected it. */
  readonly isUnexpected: boolean;
  /** Whether it is the everyday race of two writers: a try later it is gone, and nobody has to hear of it. */
  readonly isRace: boolean;
  /** Whether the same was reported of the object before: it is not logged again. @default {false} */
  readonly isKnown?: boolean;
  /** Milliseconds until the next try; nothing when only a change of the object can help. */
  readonly after: number | undefined;
  /** Whether a change of what the controller watches goes before the next try: who threw it said that something is awaited. */
  readonly yields?: boolean;
}

/**
 * Reads an error that ended a run.
 *
 * @param error What was thrown.
 * @param failures How many runs of the object failed in a row, this one included.
 * @param part The controller's key, for the way out.
 * @param spread From 0 to 1: spreads the backoff.
 */
export function failureOf(error: unknown, failures: number, part: string, spread: number): Failure {
  const after = backoff(failures, { spread });
  const message = textOf(error);
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
  if (error instanceof OutrunError) {
    return { reason: "Outrun", message, isUnexpected: false, isRace: true, after };
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
  const undeclared = undeclaredUse(error, `controller "${part}"`);
  if (undeclared !== undefined) {
    // What is compiled in does not change while the program runs.
    return { reason: "NotDeclared", message: undeclared, isUnexpected: false, isRace: false, after: undefined };
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return { reason: "Timeout", message, isUnexpected: false, isRace: false, after };
  }
  const perhaps = perhapsUndeclared(error, `controller "${part}"`);
  return { reason: "ReconcileFailed", message: perhaps ?? message, isUnexpected: true, isRace: false, after };
}

/**
 * Whether an error is the everyday race of two writers, or of a run and a change of its object, which the next try wins. Fields that another manager has are none: that stays until somebody gives in.
 *
 * @param error What was thrown.
 */
export function isRace(error: unknown): boolean {
  if (error instanceof OutrunError) return true;
  return isStatus(error, 409) && error.reason === "Conflict" &&
    !error.causes.some(({ reason }) => reason === "FieldManagerConflict");
}

/**
 * Whether an error is one of the language: a mistake of the code, as a panic is elsewhere.
 *
 * @param error What was thrown.
 */
export function isMistake(error: unknown): boolean {
  if (error instanceof ReferenceError || error instanceof RangeError || error instanceof SyntaxError) return true;
  // What `fetch` could not reach is a TypeError as well.
  return error instanceof TypeError && error.cause === undefined && !/fetch|sending request/.test(error.message);
}

// What the server takes as a condition's reason; an admission webhook may answer with any text.
const CONDITION_REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** The message ends up in conditions, Events and logs. Anything can be thrown, also what has no text: Node's libraries tell by an empty one of several addresses that nobody can be reached at. */
function textOf(error: unknown): string {
  return withoutUrlCredentials(wordsOf(error));
}

function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(wordsOf).join("; ");
  if (error instanceof Error) return error.message || error.name;
  return typeof error === "string" ? error : Deno.inspect(maskSecrets(error));
}
