import assert from "node:assert/strict";
import { Metrics } from "./metrics.ts";
import { ownMetrics } from "./custom_metrics.ts";

Deno.test("metrics of one's own stand beside those of the runtime, with their labels", async () => {
  const all = new Metrics();
  const own = ownMetrics(all.registry);
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

Deno.test("a metric of one's own that is made again is the same", async () => {
  const all = new Metrics();
  const own = ownMetrics(all.registry);
  for (let start = 0; start < 2; start++) own.counter("starts_total", "Starts").add(1);
  assert.match(await all.text(), /^starts_total 2$/m);
});

const REFUSED: readonly [name: string, make: (own: ReturnType<typeof ownMetrics>) => unknown, why: RegExp][] = [
  ["a name that Prometheus does not take", (own) => own.gauge("a-b", "Things"), /Cannot make metric "a-b": a name has/],
  [
    "a name of the runtime's",
    (own) => own.counter("workqueue_adds_total", "Things"),
    /the runtime has one of that name/,
  ],
  ["one that says nothing", (own) => own.gauge("a", ""), /it has no help: say what it tells/],
  [
    "one of another type",
    (own) => [own.counter("a", "Things"), own.gauge("a", "Things")],
    /one of that name with another type/,
  ],
  ["other labels", (own) => [own.gauge("a", "Things"), own.gauge("a", "Things", { labels: ["b"] })], /other labels/],
  ["a label that is none", (own) => own.gauge("a", "Things", { labels: ["x-y"] }), /label "x-y" is none/],
  ["buckets that do not grow", (own) => own.histogram("a", "Things", { buckets: [1, 1] }), /its buckets do not grow/],
  ["a counter that shrinks", (own) => own.counter("a_total", "Things").add(-1), /Cannot add -1 to "a_total"/],
];

for (const [name, make, why] of REFUSED) {
  Deno.test(`metrics of one's own refuse ${name}`, () => {
    assert.throws(() => make(ownMetrics(new Metrics().registry)), why);
  });
}
