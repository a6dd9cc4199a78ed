/** Tasks that are computed in threads. */
import { PermanentError, TemporaryError } from "../../src/parts/outcome.ts";
import { offload } from "../../src/runtime/offload.ts";

const TASKS = {
  double: (number: number) => number * 2,
  /** Computes for so many milliseconds; answers when it began and ended. */
  compute(milliseconds: number): { readonly from: number; readonly to: number } {
    const from = Date.now();
    while (Date.now() < from + milliseconds) { /* it computes */ }
    return { from, to: Date.now() };
  },
  fail(how: string): Promise<never> {
    if (how === "permanent") throw new PermanentError("Never");
    if (how === "temporary") throw new TemporaryError("Later", { retry: "30s" });
    if (how === "type") return Promise.reject(new TypeError("Wrong"));
    throw how;
  },
  /** Ends the thread by what nobody catches. */
  crash(_: undefined): Promise<never> {
    setTimeout(() => {
      throw new Error("Crashed");
    });
    return new Promise(() => {});
  },
};

export const work = offload(import.meta.url, TASKS);
export const pair = offload(import.meta.url, { compute: TASKS.compute }, { threads: 2 });
