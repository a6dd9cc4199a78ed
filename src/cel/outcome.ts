/** Results of parts of an expression. */
import { CelError, type Value } from "./value.ts";

/**
 * A failed evaluation. It is returned rather than thrown, because operators such as `||` ignore it
 * if another operand decides the result.
 */
export class Failure {
  constructor(readonly message: string) {}
}

/** A value or a failure. */
export type Outcome = Value | Failure;

/** Aborts the whole evaluation; no operator recovers from it. */
export class Abort extends CelError {
  override name = "Abort";
}

/** Returns the result of a function, or a failure if it throws a {@linkcode CelError}. */
export function attempt<T extends Value | undefined>(call: () => T): T | Failure {
  try {
    return call();
  } catch (error) {
    if (error instanceof CelError && !(error instanceof Abort)) return new Failure(error.message);
    throw error;
  }
}
