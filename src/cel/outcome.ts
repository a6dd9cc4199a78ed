/** What working out a part of an expression comes to. */
import { CelError, type Value } from "./value.ts";

/** There is no value. Operators such as `||` go on where another side says enough, so that it is handed around rather than thrown. */
export class Failure {
  constructor(readonly message: string) {}
}

/** A value, or why there is none. */
export type Outcome = Value | Failure;

/** The whole evaluation ends, whatever is around. */
export class Abort extends CelError {
  override name = "Abort";
}

/** What a function answers; a {@linkcode CelError} that it throws is a failure. */
export function attempt<T extends Value | undefined>(call: () => T): T | Failure {
  try {
    return call();
  } catch (error) {
    if (error instanceof CelError && !(error instanceof Abort)) return new Failure(error.message);
    throw error;
  }
}
