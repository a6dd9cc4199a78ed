/**
 * Metrics of webhook threads. The main thread counts for them, because only its metrics are
 * scraped.
 */
import { Metrics } from "../metrics.ts";

/** A call of {@linkcode Metrics} that a thread sends to the main thread. */
export type Counted =
  | { readonly count: "conversionPanic" }
  | { readonly count: "strayError" }
  | { readonly count: "request"; readonly of: readonly [method: string, code: string, host: string] };

/** The metrics of a thread. They are counted by the main thread. */
export class ThreadMetrics extends Metrics {
  readonly #send: (counted: Counted) => void;

  /** @param send Sends a call to the main thread. */
  constructor(send: (counted: Counted) => void) {
    super();
    this.#send = send;
  }

  override conversionPanic(): void {
    this.#send({ count: "conversionPanic" });
  }

  override strayError(): void {
    this.#send({ count: "strayError" });
  }

  override request(...of: [method: string, code: string, host: string]): void {
    this.#send({ count: "request", of });
  }
}

/**
 * Makes a call that a thread sent.
 *
 * @param metrics The main thread's metrics.
 * @param counted The call.
 */
export function countForThread(metrics: Metrics, counted: Counted): void {
  if (counted.count === "request") metrics.request(...counted.of);
  else metrics[counted.count]();
}
