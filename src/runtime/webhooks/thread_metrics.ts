/**
 * Metrics of webhook threads. The threads send them to the main thread, because only its metrics
 * are scraped.
 */
import { Metrics } from "../metrics.ts";

/** A call of {@linkcode Metrics} that a thread sends to the main thread. */
export type MetricCall =
  | { readonly count: "conversionPanic" }
  | { readonly count: "strayError" }
  | { readonly count: "request"; readonly of: readonly [method: string, code: string, host: string] };

/** The metrics of a thread. Each call is sent to the main thread, which counts it. */
export class ThreadMetrics extends Metrics {
  readonly #send: (call: MetricCall) => void;

  /** @param send Sends a call to the main thread. */
  constructor(send: (call: MetricCall) => void) {
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
 * Applies a call that a thread sent to the main thread's metrics.
 *
 * @param metrics The main thread's metrics.
 * @param call The call.
 */
export function countForThread(metrics: Metrics, call: MetricCall): void {
  if (call.count === "request") metrics.request(...call.of);
  else metrics[call.count]();
}
