import assert from "node:assert/strict";
import { METRICS } from "../base/metric_list.ts";
import type { HotLoop } from "./hot_loops.ts";
import { Metrics } from "./metrics.ts";

Deno.test("METRICS has unique names and no label for object names", () => {
  const names = Object.values(METRICS).map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const metric of Object.values(METRICS)) {
    assert(!metric.labels.includes("object") && !metric.labels.includes("uid"), metric.name);
    // In client-go's queue metrics, the label `name` is the name of the queue, which is the
    // controller's.
    if (metric.labels.includes("name")) assert.match(metric.name, /^(workqueue|leader_election)_/);
    assert.match(metric.name, /^[a-z_]+$/);
    if (metric.type === "counter") assert.match(metric.name, /_total$/);
  }
});

Deno.test("Metrics has a series per result from the start, and registries count separately", async () => {
  const one = new Metrics();
  const other = new Metrics();
  const notes = one.controller("notes", controllerState());
  other.controller("notes", controllerState());
  notes.reconciled("requeue_after", 0.2);
  const lines = (await one.text()).split("\n");
  for (
    const line of [
      'controller_runtime_reconcile_total{controller="notes",result="success"} 0',
      'controller_runtime_reconcile_total{controller="notes",result="requeue_after"} 1',
      'controller_runtime_reconcile_errors_total{controller="notes"} 0',
      'controller_runtime_reconcile_time_seconds_bucket{le="0.2",controller="notes"} 1',
      'controller_runtime_reconcile_time_seconds_bucket{le="0.15",controller="notes"} 0',
      'controller_runtime_max_concurrent_reconciles{controller="notes"} 10',
      'controller_runtime_active_workers{controller="notes"} 2',
      'workqueue_depth{name="notes",controller="notes",priority="initial"} 4',
      'workqueue_adds_total{name="notes",controller="notes"} 7',
      'workqueue_longest_running_processor_seconds{name="notes",controller="notes"} 3',
      'workqueue_unfinished_work_seconds{name="notes",controller="notes"} 4',
      'op_skipped_writes_total{controller="notes"} 5',
    ]
  ) assert(lines.includes(line), `${line}\nis not in\n${lines.join("\n")}`);
  assert((await other.text()).includes('result="requeue_after"} 0'));
  assert(
    (await one.text()).includes('workqueue_adds_total{name="notes",controller="notes"} 7'),
    "a second scrape does not count again",
  );
});

function controllerState() {
  return {
    concurrency: 10,
    counts: { skippedWrites: 5, ownEvents: 6, delayedReconciles: 3 },
    hotLoops: (): HotLoop[] => [],
    queue: () => ({ adds: 7, retries: 1, depthOf: (priority: string) => priority === "initial" ? 4 : 0 }),
    isDegraded: () => false,
    paused: () => 0,
    runSeconds: () => [1, 3],
  };
}
