import assert from "node:assert/strict";
import { Metrics } from "./metrics.ts";
import { customMetrics } from "./custom_metrics.ts";

Deno.test("custom metrics are served with those of the runtime", async () => {
  const all = new Metrics();
  const own = customMetrics(all.registry);
  const dropped = own.counter("users_dropped_total", "Users dropped", { labels: ["database"] });
  dropped.add(1, { database: "shop" });
  dropped.add(2, { database: "shop" });
  own.gauge("databases_open", "Databases open").set(4);
  own.histogram("backup_seconds", "How long backups took", { buckets: [1, 60] }).observe(7);
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

Deno.test("a custom metric that is defined twice is the same", async () => {
  const all = new Metrics();
  const own = customMetrics(all.registry);
  for (let start = 0; start < 2; start++) own.counter("starts_total", "Starts").add(1);
  assert.match(await all.text(), /^starts_total 2$/m);
});

const REFUSED: readonly [name: string, make: (own: ReturnType<typeof customMetrics>) => unknown, why: RegExp][] = [
  [
    "a name that Prometheus does not accept",
    (own) => own.gauge("a-b", "Things"),
    /Metric "a-b": the name may have only/,
  ],
  [
    "a name of a runtime metric",
    (own) => own.counter("workqueue_adds_total", "Things"),
    /the runtime has a metric of that name/,
  ],
  ["a metric without help", (own) => own.gauge("a", ""), /help is empty/],
  [
    "a name of a metric of another type",
    (own) => [own.counter("a", "Things"), own.gauge("a", "Things")],
    /has another type/,
  ],
  ["other labels", (own) => [own.gauge("a", "Things"), own.gauge("a", "Things", { labels: ["b"] })], /other labels/],
  ["an invalid label", (own) => own.gauge("a", "Things", { labels: ["x-y"] }), /label "x-y" is invalid/],
  [
    "buckets that are not in ascending order",
    (own) => own.histogram("a", "Things", { buckets: [1, 1] }),
    /buckets must be in ascending order/,
  ],
  ["a negative amount of a counter", (own) => own.counter("a_total", "Things").add(-1), /must not be negative, got -1/],
];

for (const [name, make, why] of REFUSED) {
  Deno.test(`custom metrics reject ${name}`, () => {
    assert.throws(() => make(customMetrics(new Metrics().registry)), why);
  });
}
