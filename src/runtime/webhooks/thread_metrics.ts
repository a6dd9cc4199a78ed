/** What is counted in a thread of webhooks: the program counts it, since nobody asks a thread for its metrics. */
import { Metrics } from "../metrics.ts";

/** What a thread tells the program to count: the call of {@linkcode Metrics} that does. */
export type Counted =
  | { readonly count: "conversionPanic" }
  | { readonly count: "strayError" }
  | { readonly count: "request"; readonly of: readonly [method: string, code: string, host: string] };

/** The metrics of a thread: what is no state of the thread itself is told to the program. */
export class ThreadMetrics extends Metrics {
  readonly #tell: (counted: Counted) => void;

  /** @param tell Tells the program. */
  constructor(tell: (counted: Counted) => void) {
    super();
    this.#tell = tell;
  }

  override conversionPanic(): void {
    this.#tell({ count: "conversionPanic" });
  }

  override strayError(): void {
    this.#tell({ count: "strayError" });
  }

  override request(...of: [method: string, code: string, host: string]): void {
    this.#tell({ count: "request", of });
  }
}

/**
 * Counts in the program what a thread told.
 *
 * @param metrics The program's metrics.
 * @param counted What the thread told.
 */
export function countTold(metrics: Metrics, counted: Counted): void {
  if (counted.count === "request") metrics.request(...counted.of);
  else metrics[counted.count]();
}
