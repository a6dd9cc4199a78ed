/** Tasks that run in threads. */
import { PermanentError, TemporaryError } from "../../src/parts/outcome.ts";
import { offload } from "../../src/runtime/offload.ts";

/** Differs from thread to thread. */
const THREAD = crypto.randomUUID();

const TASKS = {
  double: (number: number) => number * 2,
  /**
   * Computes until the first of two shared numbers is set; the second one counts the threads that
   * have started.
   */
  compute(shared: Int32Array): string {
    Atomics.add(shared, 1, 1);
    while (Atomics.load(shared, 0) === 0) { /* it computes */ }
    return THREAD;
  },
  fail(how: string): Promise<never> {
    if (how === "permanent") throw new PermanentError("Never");
    if (how === "temporary") throw new TemporaryError("Later", { retry: "30s" });
    if (how === "type") return Promise.reject(new TypeError("Wrong"));
    throw how;
  },
  /** Crashes the thread with an uncaught error. */
  crash(_: undefined): Promise<never> {
    setTimeout(() => {
      throw new Error("Crashed");
    });
    return new Promise(() => {});
  },
};

/** Creates the gate of a task, which runs until {@linkcode release}. */
export function gate(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(8));
}

/** Ends the tasks that wait for a gate. */
export function release(gate: Int32Array): void {
  Atomics.store(gate, 0, 1);
}

/** Returns how many tasks of a gate have started. */
export function begun(gate: Int32Array): number {
  return Atomics.load(gate, 1);
}

export const work = offload(import.meta.url, TASKS);
export const pair = offload(import.meta.url, { compute: TASKS.compute }, { threads: 2 });
