/** Metrics of an operator's own code, served next to those of the runtime. */

/** Options of a metric. */
export interface MetricOptions<Label extends string = string> {
  /**
   * Names of the labels. Never use the name of an object as a label value: each value creates a
   * time series that is never removed. @default {[]}
   */
  readonly labels?: readonly Label[];
}

/** Options of a histogram. */
export interface HistogramOptions<Label extends string = string> extends MetricOptions<Label> {
  /** Upper bounds in the metric's unit, in ascending order. @default {5 ms to 10 s, in seconds} */
  readonly buckets?: readonly number[];
}

/** The values of a metric's labels. Empty if it has none. */
export type LabelValues<Label extends string> = [Label] extends [never] ? [] : [
  labels: Readonly<Record<Label, string>>,
];

/** A value that only increases. */
export interface Counter<Label extends string = never> {
  /** Adds an amount. @throws {RangeError} If the amount is negative. */
  add(amount: number, ...labels: LabelValues<Label>): void;
}

/** A value that can increase and decrease. */
export interface Gauge<Label extends string = never> {
  /** Sets the value. */
  set(value: number, ...labels: LabelValues<Label>): void;
}

/** A distribution of values, such as durations. */
export interface Histogram<Label extends string = never> {
  /** Adds one value. */
  observe(value: number, ...labels: LabelValues<Label>): void;
}

/**
 * Creates metrics that `/metrics` serves next to those of the runtime. Creating one again with the
 * same name returns the same metric.
 *
 * @example Usage
 * ```ts
 * import { controller, operator, type Counter } from "@op/sdk";
 * import { Namespace } from "@op/sdk/kinds";
 *
 * interface Services {
 *   readonly seen: Counter<"phase">;
 * }
 *
 * const namespaces = controller.with<Services>()(Namespace, {
 *   reconcile({ status }, { services }) {
 *     services.seen.add(1, { phase: status?.phase ?? "unknown" });
 *   },
 * });
 * const op = operator({
 *   name: "names",
 *   parts: { namespaces },
 *   services: ({ metrics }) => ({
 *     seen: metrics.counter("namespaces_seen_total", "Number of reconciled namespaces", {
 *       labels: ["phase"],
 *     }),
 *   }),
 * });
 * ```
 */
export interface Metrics {
  /**
   * Creates a counter. By convention, its name ends in `_total`.
   *
   * @throws {TypeError} If the name or a label is invalid, or another metric has the name.
   */
  counter<const Label extends string = never>(
    name: string,
    help: string,
    options?: MetricOptions<Label>,
  ): Counter<Label>;
  /**
   * Creates a gauge.
   *
   * @throws {TypeError} If the name or a label is invalid, or another metric has the name.
   */
  gauge<const Label extends string = never>(
    name: string,
    help: string,
    options?: MetricOptions<Label>,
  ): Gauge<Label>;
  /**
   * Creates a histogram. By convention, its name ends in its unit, such as `_seconds`.
   *
   * @throws {TypeError} If the name or a label is invalid, or another metric has the name.
   */
  histogram<const Label extends string = never>(
    name: string,
    help: string,
    options?: HistogramOptions<Label>,
  ): Histogram<Label>;
}
