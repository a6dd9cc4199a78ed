/** What a process takes of its machine. Read from Deno: `/proc` is not to be seen in the sandbox. */
import process from "node:process";
import type { Metrics } from "../runtime/metrics.ts";
import type { LoopLag } from "./loop_lag.ts";

/**
 * Adds the process to an operator's metrics, where the operator is the program.
 *
 * @param metrics The operator's.
 * @param lag By how much its event loop is late.
 */
export function addProcessMetrics(metrics: Metrics, lag: LoopLag): void {
  metrics.set("started", (Date.now() - performance.now()) / 1000);
  metrics.onRead(() => {
    const { rss, heapUsed } = Deno.memoryUsage();
    const { user, system } = process.cpuUsage();
    metrics.set("memory", rss);
    metrics.set("heap", heapUsed);
    metrics.setCount("cpu", (user + system) / 1e6);
    metrics.set("loopLag", lag.milliseconds / 1000);
  });
}
