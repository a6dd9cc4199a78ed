/**
 * Writes as generators that pause for admission: once before the server's own rules (mutating) and
 * once after them (validating). Writes with and without webhooks share this code, and only writes
 * with webhooks are asynchronous.
 */
import type { StoredObject } from "../objects/objects.ts";
import { ConversionNeeded } from "../webhooks/conversion.ts";

/** A pause for admission. */
export interface Step {
  readonly phase: "mutate" | "validate";
  /** The object to write. */
  readonly object: StoredObject;
  /** The object before the write; absent for a new object. */
  readonly old?: StoredObject;
}

/** A pause for a conversion. */
export interface Conversion {
  readonly phase: "convert";
  readonly needed: ConversionNeeded;
}

/** A write that pauses. It resumes with the object that admission returns. */
export type Steps<T> = Generator<Step | Conversion, T, StoredObject>;

/**
 * Runs a write without admission.
 *
 * @throws {ConversionNeeded} If an object must be converted first. The caller waits and starts
 * again.
 */
export function runWithoutAdmission<T>(steps: Steps<T>): T {
  let next = steps.next();
  while (!next.done) {
    if (next.value.phase === "convert") throw next.value.needed;
    next = steps.next(next.value.object);
  }
  return next.value;
}

/**
 * Runs a write with admission.
 *
 * @param steps The write.
 * @param admit Returns the object to continue with, or throws the rejection.
 */
export async function runWithAdmission<T>(steps: Steps<T>, admit: (step: Step) => Promise<StoredObject>): Promise<T> {
  let next = steps.next();
  while (!next.done) {
    if (next.value.phase === "convert") {
      await next.value.needed.wait();
      next = steps.next(undefined as never);
    } else next = steps.next(await admit(next.value));
  }
  return next.value;
}

/**
 * Runs a part of a write that may need conversions, and pauses the write for them.
 *
 * @param run The part. It runs again after each conversion, so it must have no effects before it
 * completes.
 */
export function* converting<T>(run: () => T): Steps<T> {
  while (true) {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      yield { phase: "convert", needed: error };
    }
  }
}
