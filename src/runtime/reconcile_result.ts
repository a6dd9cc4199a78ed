/** Interprets what reconcilers return. */
import type { Clock } from "../base/clock.ts";
import { maskSecrets } from "../base/mask_secrets.ts";
import type { Requeue } from "../parts/outcome.ts";

/** When an object is reconciled again. */
export interface NextReconcile {
  /** Delay in milliseconds. */
  readonly after: number;
}

/**
 * Interprets the return value of a function of the user. It is validated, because user code may not
 * be type-checked, and an invalid delay would reconcile in a loop or never again.
 *
 * @param clock The operator's clock.
 * @param what Name of the function, for the error.
 * @param outcome The returned value.
 * @throws {TypeError} If the value is neither `undefined`, `null` nor the result of `requeue`.
 */
export function nextReconcileOf(clock: Clock, what: string, outcome: unknown): NextReconcile | undefined {
  if (outcome === undefined || outcome === null) return undefined;
  const { after, at } = outcome as Requeue;
  if (typeof after === "number" && after >= 0) return { after };
  if (typeof at === "number" && !Number.isNaN(at)) return { after: Math.max(0, at - clock.now()) };
  throw new TypeError(
    `${what} must return undefined or requeue(), got ${Deno.inspect(maskSecrets(outcome), { depth: 1 })}`,
  );
}
