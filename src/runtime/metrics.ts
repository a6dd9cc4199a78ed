/**
 * The metrics of an operator. Events are counted as they happen, and state is read at each scrape.
 */
import { PRIORITIES, type Priority } from "../queue/work_queue.ts";
import { METRICS } from "../base/metric_list.ts";
import {
  type Counter,
  counterOf,
  type Gauge,
  gaugeOf,
  type Histogram,
  histogramOf,
  newRegistry,
  type Registry,
} from "./_prometheus.ts";
import type { HotLoop } from "./hot_loops.ts";

/** Maximum number of hot loops per controller that have a series of their own. */
const MAX_HOT_LOOP_SERIES = 20;

/** Labels of the series for further loops and for loops without a field. */
const OTHER_LOOPS = { kind: "", field: "", manager: "", other_manager: "" };

/** Result of a reconcile, as controller-runtime names it. */
export type RunResult = "success" | "error" | "requeue" | "requeue_after";

const RESULTS: readonly RunResult[] = ["success", "error", "requeue", "requeue_after"];

/** State of a controller, read for each scrape. */
export interface ControllerState {
  readonly concurrency: number;
  readonly counts: {
    readonly skippedWrites: number;
    readonly ownEvents: number;
    readonly delayedReconciles: number;
  };
  queue(): { readonly adds: number; readonly retries: number; depthOf(priority: Priority): number };
  isDegraded(): boolean;
  /** Number of paused objects. */
  paused(): number;
  /** The hot loops of the controller. */
  hotLoops(): readonly HotLoop[];
  /** Seconds since the start of each running reconcile. */
  runSeconds(): readonly number[];
}

/** State of a watch, read for each scrape. */
export interface WatchState {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly objects: number;
  readonly bytes: number;
  /** Seconds. */
  readonly staleness: number;
  readonly restarts: number;
}

/** Counts the reconciles of a controller. */
export interface ControllerMetrics {
  /** Counts a reconcile that ended. */
  reconciled(result: RunResult, seconds: number): void;
  /** Records how many seconds an object waited for its reconcile. */
  waited(seconds: number): void;
  terminalError(): void;
  panic(): void;
  timeout(): void;
}

/** Counts the requests of a webhook. */
export interface WebhookMetrics {
  began(): void;
  /** Counts a response. */
  ended(code: string, seconds: number): void;
  /** Counts a failure of the webhook's function. */
  panic(): void;
}

/** The metrics of one operator. */
export class Metrics {
  readonly registry: Registry = newRegistry();
  readonly #counters = new Map<string, Counter<string>>();
  readonly #gauges = new Map<string, Gauge<string>>();
  readonly #histograms = new Map<string, Histogram<string>>();
  readonly #readers: (() => void)[] = [];

  constructor() {
    for (const metric of Object.values(METRICS)) {
      if (metric.type === "counter") this.#counters.set(metric.name, counterOf(this.registry, metric));
      else if (metric.type === "gauge") this.#gauges.set(metric.name, gaugeOf(this.registry, metric));
      else this.#histograms.set(metric.name, histogramOf(this.registry, metric));
    }
  }

  /** Returns all metrics in Prometheus' text format. */
  async text(): Promise<string> {
    // Removes the series of loops that have ended.
    this.#gauge("hotLoops").reset();
    for (const read of this.#readers) read();
    return await this.registry.metrics();
  }

  /** Content type of {@linkcode Metrics.text}. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** Adds a function that runs before each scrape. */
  onRead(read: () => void): void {
    this.#readers.push(read);
  }

  /** Counts the response of an API request. */
  request(method: string, code: string, host: string): void {
    this.#counter("requests").inc({ code, method, host });
  }

  /** Counts an Event by its result. */
  event(result: "written" | "failed" | "dropped"): void {
    this.#counter("events").inc({ result });
  }

  /** Counts an uncaught error of user code. */
  strayError(): void {
    this.#counter("strayErrors").inc();
  }

  /** Sets a gauge. */
  set(metric: "loopLag" | "operatorPaused" | "memory" | "started" | "heap", value: number): void {
    this.#gauge(metric).set(value);
  }

  /** Sets a counter to a value that the system counts. */
  setCount(metric: "cpu", value: number): void {
    this.#count(metric, {}, value);
  }

  /** Sets the metrics of leader election. */
  leadership(name: string, isLeading: boolean, slowPaths: number): void {
    this.#gauge("leading").set({ name }, isLeading ? 1 : 0);
    this.#count("slowPaths", { name }, slowPaths);
  }

  /** Sets the metrics of all watches, and removes the series of watches that have ended. */
  watches(states: readonly WatchState[]): void {
    for (const metric of ["staleness", "objects", "bytes"] as const) this.#gauge(metric).reset();
    this.#counter("restarts").reset();
    for (const { objects, bytes, staleness, restarts, ...labels } of states) {
      this.#gauge("objects").set(labels, objects);
      this.#gauge("bytes").set(labels, bytes);
      this.#gauge("staleness").set(labels, staleness);
      this.#counter("restarts").inc(labels, restarts);
    }
  }

  /** Returns the counters of a controller. */
  controller(controller: string, state: ControllerState): ControllerMetrics {
    const labels = { controller };
    const queue = { name: controller, controller };
    // Every result has a series from the start, because a rate needs an initial value.
    const results = Object.fromEntries(
      RESULTS.map((result) => [result, this.#counter("reconciles").labels({ controller, result })]),
    ) as Record<RunResult, Counter.Internal>;
    for (const result of Object.values(results)) result.inc(0);
    const names = ["errors", "terminalErrors", "panics", "timeouts"] as const;
    const [errors, terminalErrors, panics, timeouts] = names.map((name) => this.#counter(name).labels(labels)) as [
      Counter.Internal,
      Counter.Internal,
      Counter.Internal,
      Counter.Internal,
    ];
    for (const each of [errors, terminalErrors, panics, timeouts]) each.inc(0);
    const runSeconds = this.#histogram("runSeconds").labels(labels);
    const workSeconds = this.#histogram("workSeconds").labels(queue);
    const queueSeconds = this.#histogram("queueSeconds").labels(queue);
    this.#readers.push(() => this.#readController(controller, state));
    return {
      reconciled(result, seconds) {
        results[result].inc();
        if (result === "error") errors.inc();
        runSeconds.observe(seconds);
        workSeconds.observe(seconds);
      },
      waited: (seconds) => queueSeconds.observe(seconds),
      terminalError: () => terminalErrors.inc(),
      panic: () => panics.inc(),
      timeout: () => timeouts.inc(),
    };
  }

  /** Returns the counters of the webhook with a path. */
  webhook(webhook: string): WebhookMetrics {
    const labels = { webhook };
    const seconds = this.#histogram("webhookSeconds").labels(labels);
    const inFlight = this.#gauge("webhooksInFlight").labels(labels);
    const panics = this.#counter("webhookPanics").labels(labels);
    inFlight.set(0);
    panics.inc(0);
    const requests = this.#counter("webhookRequests");
    const byCode = new Map(["200", "500"].map((code) => [code, requests.labels({ webhook, code })]));
    for (const counter of byCode.values()) counter.inc(0);
    return {
      began: () => inFlight.inc(),
      ended: (code, duration) => {
        inFlight.dec();
        seconds.observe(duration);
        (byCode.get(code) ?? requests.labels({ webhook, code })).inc();
      },
      panic: () => panics.inc(),
    };
  }

  /** Sets the remaining validity of a certificate, in seconds. */
  certificate(certificate: "server" | "authority", seconds: number): void {
    this.#gauge("certificateExpiry").set({ certificate }, seconds);
  }

  /** Counts a conversion that failed. */
  conversionPanic(): void {
    this.#counter("conversionPanics").inc();
  }

  /** Counts a check of certificate files. */
  certificateRead(isGood: boolean): void {
    this.#counter("certificateReads").inc();
    if (!isGood) this.#counter("certificateReadErrors").inc();
  }

  /** Counts a rotated certificate. */
  rotation(): void {
    this.#counter("certificateRotations").inc();
  }

  #readController(controller: string, state: ControllerState): void {
    const labels = { controller };
    const queue = { name: controller, controller };
    const running = state.runSeconds();
    const due = state.queue();
    this.#gauge("concurrency").set(labels, state.concurrency);
    this.#gauge("active").set(labels, running.length);
    this.#gauge("missingRbac").set(labels, state.isDegraded() ? 1 : 0);
    this.#gauge("paused").set(labels, state.paused());
    this.#gauge("unfinished").set(queue, running.reduce((sum, seconds) => sum + seconds, 0));
    this.#gauge("longest").set(queue, Math.max(0, ...running));
    for (const priority of PRIORITIES) this.#gauge("depth").set({ ...queue, priority }, due.depthOf(priority));
    this.#count("adds", queue, due.adds);
    this.#count("retries", queue, due.retries);
    this.#count("skippedWrites", labels, state.counts.skippedWrites);
    this.#count("ownEvents", labels, state.counts.ownEvents);
    this.#count("delayedReconciles", labels, state.counts.delayedReconciles);
    this.#readHotLoops(controller, state.hotLoops());
  }

  /**
   * Sets the gauge of hot loops. Names of fields may come from objects, such as the keys of a
   * ConfigMap, so the number of series is limited.
   */
  #readHotLoops(controller: string, loops: readonly HotLoop[]): void {
    const gauge = this.#gauge("hotLoops");
    gauge.set({ controller, ...OTHER_LOOPS }, 0);
    const seen = new Set<string>();
    for (const { kind, field, manager, otherManager } of loops) {
      const labels = { kind, field, manager, other_manager: otherManager };
      const identity = JSON.stringify(labels);
      const hasOwnSeries = field !== "" && (seen.has(identity) || seen.size < MAX_HOT_LOOP_SERIES);
      if (hasOwnSeries) seen.add(identity);
      gauge.inc({ controller, ...(hasOwnSeries ? labels : OTHER_LOOPS) });
    }
  }

  /**
   * Sets a counter by removing it first, because counters of prom-client only grow.
   */
  #count(metric: keyof typeof METRICS, labels: Record<string, string>, value: number): void {
    const counter = this.#counter(metric);
    counter.remove(labels);
    counter.inc(labels, value);
  }

  #counter(metric: keyof typeof METRICS): Counter<string> {
    return this.#counters.get(METRICS[metric].name)!;
  }

  #gauge(metric: keyof typeof METRICS): Gauge<string> {
    return this.#gauges.get(METRICS[metric].name)!;
  }

  #histogram(metric: keyof typeof METRICS): Histogram<string> {
    return this.#histograms.get(METRICS[metric].name)!;
  }
}
