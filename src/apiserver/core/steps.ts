/**
 * A write as steps between which it may be looked at and changed: once before the server's own rules, once after them. What is written takes one way, be it
 * that webhooks are asked in between, which takes time, or that there are none.
 */
import type { StoredObject } from "../objects/objects.ts";
import { ConversionNeeded } from "../webhooks/conversion.ts";

/** Where a write pauses to be looked at. */
export interface Step {
  readonly phase: "mutate" | "validate";
  /** What is to be written. */
  readonly object: StoredObject;
  /** What it was; absent when it is new. */
  readonly old?: StoredObject;
}

/** Where a write pauses until something is converted. */
export interface Conversion {
  readonly phase: "convert";
  readonly needed: ConversionNeeded;
}

/** A write that pauses; it goes on with the object that it is given. */
export type Steps<T> = Generator<Step | Conversion, T, StoredObject>;

/** Makes a write at once, as nobody looks at it. What needs a conversion first is thrown: the request begins anew after it. */
export function atOnce<T>(steps: Steps<T>): T {
  let next = steps.next();
  while (!next.done) {
    if (next.value.phase === "convert") throw next.value.needed;
    next = steps.next(next.value.object);
  }
  return next.value;
}

/**
 * Makes a write that is looked at.
 *
 * @param steps The write.
 * @param look Answers the object to go on with, or throws what the write is refused with.
 */
export async function lookedAt<T>(steps: Steps<T>, look: (step: Step) => Promise<StoredObject>): Promise<T> {
  let next = steps.next();
  while (!next.done) {
    if (next.value.phase === "convert") {
      await next.value.needed.wait();
      next = steps.next(undefined as never);
    } else next = steps.next(await look(next.value));
  }
  return next.value;
}

/**
 * A part of a write that may need conversions: it pauses for them.
 *
 * @param look The part. It is done again after each conversion, and must change nothing before it is through.
 */
export function* converting<T>(look: () => T): Steps<T> {
  while (true) {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      yield { phase: "convert", needed: error };
    }
  }
}
