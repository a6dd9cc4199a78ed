import assert from "node:assert/strict";
import { Metrics } from "./metrics.ts";
import { customMetrics } from "./custom_metrics.ts";

Deno.test("custom metrics are served with those of the runtime", async () => {
  const all = new Metrics();
  const metrics = customMetrics(all.registry);
  const dropped = metrics.counter("users_dropped_total", "Users dropped", { labels: ["database"] });
  dropped.add(1, { database: "shop" });
  dropped.add(2, { database: "shop" });
  metrics.gauge("databases_open", "Databases open").set(4);
  metrics.histogram("backup_seconds", "How long backups took", { buckets: [1, 60] }).observe(7);
  const text = await all.text();
  for (
    const line of [
      "# HELP users_dropped_total Users dropped",
      "# TYPE users_dropped_total counter",
      'users_dropped_total{database="shop"} 3',
      "databases_open 4",
      'backup_seconds_bucket{le="1"} 0',
      'backup_seconds_bucket{le="60"} 1',
      "backup_seconds_sum 7",
    ]
  ) {
    assert(text.split("\n").includes(line), `${line} is not in ${text}`);
  }
});

Deno.test("a custom metric that is defined twice has one value", async () => {
  const all = new Metrics();
  const metrics = customMetrics(all.registry);
  for (let start = 0; start < 2; start++) metrics.counter("starts_total", "Starts").add(1);
  assert.match(await all.text(), /^starts_total 2$/m);
});

const INVALID: readonly [
  name: string,
  define: (metrics: ReturnType<typeof customMetrics>) => unknown,
  message: RegExp,
][] = [
  [
    "a name that Prometheus does not accept",
    (metrics) => metrics.gauge("a-b", "Things"),
    /Metric "a-b": the name may have only/,
  ],
  [
    "a name of a runtime metric",
    (metrics) => metrics.counter("workqueue_adds_total", "Things"),
    /the runtime has a metric of that name/,
  ],
  ["a metric without help", (metrics) => metrics.gauge("a", ""), /help is empty/],
  [
    "a name of a metric of another type",
    (metrics) => [metrics.counter("a", "Things"), metrics.gauge("a", "Things")],
    /has another type/,
  ],
  [
    "other labels",
    (metrics) => [metrics.gauge("a", "Things"), metrics.gauge("a", "Things", { labels: ["b"] })],
    /other labels/,
  ],
  ["an invalid label", (metrics) => metrics.gauge("a", "Things", { labels: ["x-y"] }), /label "x-y" is invalid/],
  [
    "buckets that are not in ascending order",
    (metrics) => metrics.histogram("a", "Things", { buckets: [1, 1] }),
    /buckets must be in ascending order/,
  ],
  [
    "a negative amount of a counter",
    (metrics) => metrics.counter("a_total", "Things").add(-1),
    /must not be negative, got -1/,
  ],
];

for (const [name, define, message] of INVALID) {
  Deno.test(`custom metrics reject ${name}`, () => {
    assert.throws(() => define(customMetrics(new Metrics().registry)), message);
  });
}
