/** How a run ends: with nothing (wait for a change), with {@linkcode requeue}, or with an error (back off). */
import { type Duration, milliseconds } from "../base/duration.ts";

/** What {@linkcode requeue} answers. */
export interface Requeue {
  /** Milliseconds until the next run. */
  readonly after: number;
}

/** What a reconciler may return: when to run again, or nothing, upon which the next change is waited for. */
export type Outcome = Requeue | undefined | void;

/**
 * Asks for another run. A change of the object before then wakes it earlier.
 *
 * @param after When: `"10m"`; `"0s"` is at once.
 * @returns What a reconciler returns.
 * @throws {SyntaxError} If the text is not a duration.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { requeue } from "@op/sdk";
 *
 * assert.equal(requeue("10m").after, 600_000);
 * ```
 */
export function requeue(after: Duration): Requeue {
  return { after: milliseconds(after) };
}

/**
 * An expected error that time may mend: a line in the log and a condition, no stack trace. The run is tried again after `retry`, or by the backoff; sooner
 * where the object's spec changes, or what `watches` says that it waits for.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { TemporaryError } from "@op/sdk";
 *
 * assert.equal(new TemporaryError("The database is not up yet", { retry: "30s" }).after, 30_000);
 * assert.equal(new TemporaryError("The database is not up yet").after, undefined); // by the backoff
 * ```
 */
export class TemporaryError extends Error {
  /** Always `TemporaryError`. */
  override name = "TemporaryError";
  /** Milliseconds until the next try; without it the usual backoff. */
  readonly after: number | undefined;

  /**
   * Says what failed, and when it is worth trying again.
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
 * An expected error that only a change can mend, of the object or of what it owns: the run is not tried again before that.
 *
 * @example Usage
 * ```ts
 * import { controller, PermanentError } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const pages = controller(ConfigMap, {
 *   reconcile({ data }) {
 *     if (data?.["index.html"] === undefined) throw new PermanentError("There is no page in it: add the key index.html");
 *   },
 * });
 * ```
 */
export class PermanentError extends Error {
  /** Always `PermanentError`. */
  override name = "PermanentError";
}
