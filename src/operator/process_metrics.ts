/** Metrics of the process. They are read from Deno, because the sandbox cannot read `/proc`. */
import process from "node:process";
import type { Metrics } from "../runtime/metrics.ts";
import type { LoopLag } from "./loop_lag.ts";

/**
 * Adds metrics of the process to those of the operator. Only used if the operator runs as a
 * program.
 *
 * @param metrics The operator's metrics.
 * @param lag The delay of the event loop.
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
