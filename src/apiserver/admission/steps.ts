/**
 * A write as steps between which it may be looked at and changed: once before the server's own rules, once after them. What is written takes one way, be it
 * that webhooks are asked in between, which takes time, or that there are none.
 */
import type { StoredObject } from "../objects.ts";

/** Where a write pauses. */
export interface Step {
  readonly phase: "mutate" | "validate";
  /** What is to be written. */
  readonly object: StoredObject;
  /** What it was; absent when it is new. */
  readonly old?: StoredObject;
}

/** A write that pauses; it goes on with the object that it is given. */
export type Steps<T> = Generator<Step, T, StoredObject>;

/** Makes a write at once, as nobody looks at it. */
export function atOnce<T>(steps: Steps<T>): T {
  let next = steps.next();
  while (!next.done) next = steps.next(next.value.object);
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
  while (!next.done) next = steps.next(await look(next.value));
  return next.value;
}
