/** Creates the metrics of user code in the registry of their operator. */
import { METRICS } from "../base/metric_list.ts";
import type { Counter, Gauge, Histogram, Metrics } from "../parts/metrics.ts";
import { counterOf, gaugeOf, histogramOf, type Registry } from "./_prometheus.ts";

// The defaults of prom-client and Prometheus' client libraries.
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;
const RUNTIME_METRICS = new Set(Object.values(METRICS).map(({ name }) => name));

/** A metric that user code has created. */
interface CreatedMetric {
  /** Type, labels and buckets. They must be the same when the metric is created again. */
  readonly form: string;
  readonly metric: unknown;
}

/** Definition of a metric. */
interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

/**
 * Creates the metrics API for user code.
 *
 * @param registry The registry of the operator.
 */
export function customMetrics(registry: Registry): Metrics {
  const created = new Map<string, CreatedMetric>();
  const once = <T>(definition: MetricDefinition, create: () => T): T => {
    const form = JSON.stringify([definition.type, definition.labels, definition.buckets]);
    const existing = created.get(definition.name);
    // Several services may use the same metric.
    if (existing?.form === form) return existing.metric as T;
    checkDefinition(definition, existing !== undefined);
    const metric = create();
    created.set(definition.name, { form, metric });
    return metric;
  };
  return {
    counter(name, help, { labels = [] } = {}) {
      const definition: MetricDefinition = { type: "counter", name, help, labels };
      return once<Counter<never>>(definition, () => {
        const counter = counterOf(registry, definition);
        return {
          add(amount: number, values: Readonly<Record<string, string>> = {}) {
            if (!(amount >= 0)) {
              throw new RangeError(`Counter "${name}": the amount must not be negative, got ${amount}`);
            }
            counter.inc(values, amount);
          },
        };
      });
    },
    gauge(name, help, { labels = [] } = {}) {
      const definition: MetricDefinition = { type: "gauge", name, help, labels };
      return once<Gauge<never>>(definition, () => {
        const gauge = gaugeOf(registry, definition);
        return { set: (value: number, values: Readonly<Record<string, string>> = {}) => gauge.set(values, value) };
      });
    },
    histogram(name, help, { labels = [], buckets = SECONDS } = {}) {
      const definition: MetricDefinition = { type: "histogram", name, help, labels, buckets };
      return once<Histogram<never>>(definition, () => {
        const histogram = histogramOf(registry, definition);
        return {
          observe: (value: number, values: Readonly<Record<string, string>> = {}) => histogram.observe(values, value),
        };
      });
    },
  };
}

function checkDefinition({ name, help, labels, buckets = [] }: MetricDefinition, isOther: boolean): void {
  const reject = (reason: string): never => {
    throw new TypeError(`Metric "${name}": ${reason}`);
  };
  if (!NAME.test(name)) {
    reject("the name may have only letters, digits, underscores and colons, and must not begin with a digit");
  }
  if (help === "") reject("help is empty. Describe what the metric measures");
  if (isOther) reject("a metric of that name has another type, other labels or other buckets");
  if (RUNTIME_METRICS.has(name)) reject("the runtime has a metric of that name. Add a prefix");
  const invalid = labels.find((label) => !LABEL.test(label));
  if (invalid !== undefined) {
    reject(`label "${invalid}" is invalid. Use letters, digits and underscores, without two underscores at the start`);
  }
  if (buckets.some((bound, i) => i > 0 && !(bound > buckets[i - 1]!))) reject("buckets must be in ascending order");
}
