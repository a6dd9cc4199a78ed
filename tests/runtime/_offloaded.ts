/** Tasks that run in threads. Threads load this module, so it is separate from the test. */
import { PermanentError, TemporaryError } from "../../src/parts/outcome.ts";
import { offload } from "../../src/runtime/offload.ts";

/** Each thread loads this module, and so has a value of its own. */
const THREAD = crypto.randomUUID();

class QuotaError extends PermanentError {
  override name = "QuotaError";
  override readonly code = "QuotaExceeded";
}

const TASKS = {
  double: (number: number) => number * 2,
  /**
   * Computes until the first of two shared numbers is set; the second one counts the threads that
   * have started.
   */
  compute(shared: Int32Array): string {
    Atomics.add(shared, 1, 1);
    while (Atomics.load(shared, 0) === 0) { /* busy */ }
    return THREAD;
  },
  fail(kind: string): Promise<never> {
    if (kind === "permanent") throw new PermanentError("never");
    if (kind === "temporary") throw new TemporaryError("later", { retry: "30s" });
    if (kind === "quota") throw new QuotaError("quota exceeded");
    if (kind === "type") return Promise.reject(new TypeError("wrong type"));
    throw kind;
  },
  /** Crashes the thread with an uncaught error. */
  crash(_: undefined): Promise<never> {
    setTimeout(() => {
      throw new Error("crashed");
    });
    return new Promise(() => {});
  },
};

/** Creates the argument of `compute`, which runs until {@linkcode release}. */
export function gate(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(8));
}

/** Ends the tasks that wait for a gate. */
export function release(gate: Int32Array): void {
  Atomics.store(gate, 0, 1);
}

/** Returns how many tasks of a gate have started. */
export function started(gate: Int32Array): number {
  return Atomics.load(gate, 1);
}

export const work = offload(import.meta.url, TASKS);
export const pair = offload(import.meta.url, { compute: TASKS.compute }, { threads: 2 });
