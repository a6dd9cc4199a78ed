/** Makes the metrics of user code in the registry of their operator. */
import { METRICS } from "../base/metric_list.ts";
import type { Counter, Gauge, Histogram, Metrics } from "../parts/metrics.ts";
import { counterOf, gaugeOf, histogramOf, type Registry } from "./_prometheus.ts";

// As prom-client and Prometheus' client libraries have them.
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;
const TAKEN = new Set(Object.values(METRICS).map(({ name }) => name));

interface Made {
  readonly form: string;
  readonly metric: unknown;
}

/** What is asked for of a metric. */
interface Asked {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

/**
 * Metrics of user code.
 *
 * @param registry The operator's registry, which is served.
 */
export function ownMetrics(registry: Registry): Metrics {
  const made = new Map<string, Made>();
  const once = <T>(asked: Asked, make: () => T): T => {
    const form = JSON.stringify([asked.type, asked.labels, asked.buckets]);
    const held = made.get(asked.name);
    // Two services may count by one metric.
    if (held?.form === form) return held.metric as T;
    refuse(asked, held !== undefined);
    const metric = make();
    made.set(asked.name, { form, metric });
    return metric;
  };
  return {
    counter(name, help, { labels = [] } = {}) {
      const asked: Asked = { type: "counter", name, help, labels };
      return once<Counter<never>>(asked, () => {
        const counter = counterOf(registry, asked);
        return {
          add(amount: number, values: Readonly<Record<string, string>> = {}) {
            if (!(amount >= 0)) throw new RangeError(`Cannot add ${amount} to "${name}": a counter only grows`);
            counter.inc(values, amount);
          },
        };
      });
    },
    gauge(name, help, { labels = [] } = {}) {
      const asked: Asked = { type: "gauge", name, help, labels };
      return once<Gauge<never>>(asked, () => {
        const gauge = gaugeOf(registry, asked);
        return { set: (value: number, values: Readonly<Record<string, string>> = {}) => gauge.set(values, value) };
      });
    },
    histogram(name, help, { labels = [], buckets = SECONDS } = {}) {
      const asked: Asked = { type: "histogram", name, help, labels, buckets };
      return once<Histogram<never>>(asked, () => {
        const histogram = histogramOf(registry, asked);
        return {
          observe: (value: number, values: Readonly<Record<string, string>> = {}) => histogram.observe(values, value),
        };
      });
    },
  };
}

function refuse({ name, help, labels, buckets = [] }: Asked, isOther: boolean): void {
  const because = (why: string): never => {
    throw new TypeError(`Cannot make metric "${name}": ${why}`);
  };
  if (!NAME.test(name)) because("a name has letters, digits, underscores and colons, and begins with no digit");
  if (help === "") because("it has no help: say what it tells");
  if (isOther) because("there is one of that name with another type, other labels or other buckets");
  if (TAKEN.has(name)) because("the runtime has one of that name: begin with a word of your own");
  const odd = labels.find((label) => !LABEL.test(label));
  if (odd !== undefined) because(`label "${odd}" is none: letters, digits and underscores, not two of them at first`);
  if (buckets.some((bound, i) => i > 0 && !(bound > buckets[i - 1]!))) because("its buckets do not grow");
}
