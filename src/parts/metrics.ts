/** Metrics that an operator's own code counts, served beside those of the runtime. */

/** Options of a metric of one's own. */
export interface MetricOptions<Label extends string = string> {
  /** Its labels. Never the name of an object: each value is a series that stays. @default {none} */
  readonly labels?: readonly Label[];
}

/** Options of a histogram of one's own. */
export interface HistogramOptions<Label extends string = string> extends MetricOptions<Label> {
  /** Upper bounds, in its unit, each above the one before. @default {5 ms to 10 s, in seconds} */
  readonly buckets?: readonly number[];
}

/** A value for each label; nothing where there are none. */
export type LabelValues<Label extends string> = [Label] extends [never] ? [] : [
  labels: Readonly<Record<Label, string>>,
];

/** What only grows. */
export interface Counter<Label extends string = never> {
  /** Adds to it. @throws {RangeError} If the amount is negative. */
  add(amount: number, ...labels: LabelValues<Label>): void;
}

/** What goes up and down. */
export interface Gauge<Label extends string = never> {
  /** Says how much there is. */
  set(value: number, ...labels: LabelValues<Label>): void;
}

/** How often there was how much, such as seconds. */
export interface Histogram<Label extends string = never> {
  /** Adds one value. */
  observe(value: number, ...labels: LabelValues<Label>): void;
}

/**
 * Makes metrics of one's own, which `/metrics` serves beside those of the runtime. One that is made again by the same name is the same.
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
 *     seen: metrics.counter("namespaces_seen_total", "Namespaces that were looked at", { labels: ["phase"] }),
 *   }),
 * });
 * ```
 */
export interface Metrics {
  /** Makes a counter; its name ends in `_total` by convention. @throws {TypeError} If the name cannot be had. */
  counter<const Label extends string = never>(
    name: string,
    help: string,
    options?: MetricOptions<Label>,
  ): Counter<Label>;
  /** Makes a gauge. @throws {TypeError} If the name cannot be had. */
  gauge<const Label extends string = never>(
    name: string,
    help: string,
    options?: MetricOptions<Label>,
  ): Gauge<Label>;
  /** Makes a histogram; its name ends in its unit by convention, such as `_seconds`. @throws {TypeError} If the name cannot be had. */
  histogram<const Label extends string = never>(
    name: string,
    help: string,
    options?: HistogramOptions<Label>,
  ): Histogram<Label>;
}
