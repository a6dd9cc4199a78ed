/**
 * Imports single files of `prom-client`, because its main module loads parts that an operator does
 * not need (decision 1).
 */
import type { Counter, Gauge, Histogram, Registry } from "prom-client";
import CounterClass from "prom-client/lib/counter.js";
import GaugeClass from "prom-client/lib/gauge.js";
import HistogramClass from "prom-client/lib/histogram.js";
import RegistryClass from "prom-client/lib/registry.js";
import type { Metric } from "../base/metric_list.ts";

export type { Counter, Gauge, Histogram, Registry };

/** Creates a registry. Each operator has its own, so several in one process count separately. */
export function newRegistry(): Registry {
  return new (RegistryClass as unknown as new () => Registry)();
}

/** Creates a counter. */
export function counterOf(registry: Registry, metric: Metric): Counter<string> {
  return new (CounterClass as unknown as typeof Counter)(configOf(registry, metric));
}

/** Creates a gauge. */
export function gaugeOf(registry: Registry, metric: Metric): Gauge<string> {
  return new (GaugeClass as unknown as typeof Gauge)(configOf(registry, metric));
}

/** Creates a histogram. */
export function histogramOf(registry: Registry, metric: Metric): Histogram<string> {
  const { buckets = [] } = metric;
  return new (HistogramClass as unknown as typeof Histogram)({ ...configOf(registry, metric), buckets: [...buckets] });
}

function configOf(registry: Registry, { name, help, labels }: Metric) {
  return { name, help, labelNames: [...labels], registers: [registry] };
}
