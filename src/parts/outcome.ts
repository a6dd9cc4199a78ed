/**
 * How a reconcile ends: with `undefined` (wait for a change), with {@linkcode requeue}, or with an
 * error (back off).
 */
import { type Duration, milliseconds } from "../base/duration.ts";

/** When to reconcile an object again, as {@linkcode requeue} returns it. One property is set. */
export interface Requeue {
  /** Milliseconds until the next reconcile. */
  readonly after?: number;
  /** Time of the next reconcile, in milliseconds since the epoch, by the operator's clock. */
  readonly at?: number;
}

/**
 * What a reconciler may return: when to reconcile again, or `undefined` to wait for the next
 * change.
 */
export type ReconcileResult = Requeue | undefined | void;

/**
 * Requests another reconcile of the object. A change before then reconciles it earlier.
 *
 * @param when A duration such as `"10m"`, a number of milliseconds, or a `Date`. `"0s"`, `0` and a
 *   `Date` in the past reconcile immediately. A `Date` is compared with the operator's clock,
 *   `context.now()`.
 * @returns The value to return from a reconciler.
 * @throws {SyntaxError} If a string is not a duration.
 * @throws {RangeError} If a number is negative, infinite or not a number, or a `Date` is invalid.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { requeue } from "@op/sdk";
 *
 * assert.equal(requeue("10m").after, 600_000);
 * assert.equal(requeue(1500).after, 1500);
 * ```
 *
 * @example At a time
 * ```ts
 * import { controller, requeue, resource, s } from "@op/sdk";
 *
 * const Alarm = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Alarm",
 *   spec: s.object({ at: s.dateTime() }),
 *   status: s.object({ rang: s.optional(s.boolean()) }),
 * });
 *
 * const alarms = controller(Alarm, {
 *   reconcile({ spec }, { now, status }) {
 *     const due = new Date(spec.at);
 *     status({ rang: now() >= due });
 *     return now() < due ? requeue(due) : undefined;
 *   },
 * });
 * ```
 */
export function requeue(when: Duration | number | Date): Requeue {
  if (when instanceof Date) return { at: validTime(when) };
  if (typeof when !== "number") return { after: milliseconds(when) };
  if (Number.isFinite(when) && when >= 0) return { after: when };
  throw new RangeError(
    `requeue(): milliseconds must be zero or more, got ${when}. To reconcile again immediately, use requeue(0)`,
  );
}

function validTime(date: Date): number {
  const time = date.getTime();
  if (!Number.isNaN(time)) return time;
  throw new RangeError(
    "requeue(): the Date is invalid. Check the value that it was created from",
  );
}

/**
 * An expected error that is likely to go away, such as a service that is not up yet. It is reported
 * by a log line without a stack trace, a condition and an Event. The reconcile is retried after
 * `retry`, or with backoff, and earlier if the object's spec or an object in `watches` changes.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { TemporaryError } from "@op/sdk";
 *
 * assert.equal(new TemporaryError("The database is not up yet", { retry: "30s" }).after, 30_000);
 * assert.equal(new TemporaryError("The database is not up yet").after, undefined); // backoff
 * ```
 */
export class TemporaryError extends Error {
  /** Always `TemporaryError`. */
  override name = "TemporaryError";
  /** `Temporary`. A subclass may have another code. */
  readonly code: string = "Temporary";
  /** Milliseconds until the next attempt, or `undefined` for the backoff. */
  readonly after: number | undefined;

  /**
   * Creates the error.
   *
   * @param message What failed.
   * @param options The cause, and `retry`: when to try again, such as `"30s"`.
   * @throws {SyntaxError} If `retry` is not a duration.
   */
  constructor(message: string, options: ErrorOptions & { readonly retry?: Duration } = {}) {
    super(message, options);
    this.after = options.retry === undefined ? undefined : milliseconds(options.retry);
  }
}

/**
 * An expected error that only a change can fix: a change of the object, or of an object that it
 * owns or watches. Until then, the reconcile is not retried.
 *
 * @example Usage
 * ```ts
 * import { controller, PermanentError } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const pages = controller(ConfigMap, {
 *   reconcile({ data }) {
 *     if (data?.["index.html"] === undefined) {
 *       throw new PermanentError("The page is missing. Add the key index.html.");
 *     }
 *   },
 * });
 * ```
 */
export class PermanentError extends Error {
  /** Always `PermanentError`. */
  override name = "PermanentError";
  /** `Permanent`. A subclass may have another code. */
  readonly code: string = "Permanent";
}
