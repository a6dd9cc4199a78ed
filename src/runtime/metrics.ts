/**
 * What an operator counts. What changes often is counted where it happens; what is a state is read
 * when somebody asks.
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

/** Fields of a controller's hot loops that are series of their own. */
const MOST_FIELDS = 20;

/** The labels of a loop without a field, or with one too many. */
const NO_FIELD = { kind: "", field: "", manager: "", other_manager: "" };

/** How a run ended, in controller-runtime's words. */
export type RunResult = "success" | "error" | "requeue" | "requeue_after";

const RESULTS: readonly RunResult[] = ["success", "error", "requeue", "requeue_after"];

/** What the registry reads of a controller when it is asked. */
export interface ControllerState {
  readonly concurrency: number;
  readonly counts: {
    readonly skippedWrites: number;
    readonly ownEvents: number;
    readonly delayedReconciles: number;
  };
  queue(): { readonly adds: number; readonly retries: number; depthOf(priority: Priority): number };
  isDegraded(): boolean;
  /** How many objects are left alone, as they ask for. */
  paused(): number;
  /** Objects that are reconciled in a hot loop. */
  hotLoops(): readonly HotLoop[];
  /** For how many seconds each run that goes on does. */
  runSeconds(): readonly number[];
}

/** What the registry reads of a watch when it is asked. */
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

/** What is counted of a controller's runs. */
export interface ControllerMetrics {
  /** A run ended. */
  ran(result: RunResult, seconds: number): void;
  /** An object was due for so many seconds before its run. */
  waited(seconds: number): void;
  terminalError(): void;
  panic(): void;
  timeout(): void;
}

/** What is counted of a webhook. */
export interface WebhookMetrics {
  began(): void;
  /** It was answered with a status. */
  ended(code: string, seconds: number): void;
  /** Its function failed. */
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

  /** All of it as Prometheus' text. */
  async text(): Promise<string> {
    // A loop that ended is a series that is gone.
    this.#gauge("hotLoops").reset();
    for (const read of this.#readers) read();
    return await this.registry.metrics();
  }

  /** The type of the text, for a `Content-Type`. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** Adds what is read when somebody asks. */
  onRead(read: () => void): void {
    this.#readers.push(read);
  }

  /** Counts a request's answer. */
  request(method: string, code: string, host: string): void {
    this.#counter("requests").inc({ code, method, host });
  }

  /** Counts an event by what became of it. */
  event(result: "written" | "failed" | "dropped"): void {
    this.#counter("events").inc({ result });
  }

  /** Counts an error of user code that no run caught. */
  strayError(): void {
    this.#counter("strayErrors").inc();
  }

  /** Sets a gauge. */
  set(metric: "loopLag" | "memory" | "started" | "heap", value: number): void {
    this.#gauge(metric).set(value);
  }

  /** Sets a counter to what was counted elsewhere. */
  setCount(metric: "cpu", value: number): void {
    this.#count(metric, {}, value);
  }

  /** Sets what is known of leadership. */
  leadership(name: string, isLeading: boolean, slowPaths: number): void {
    this.#gauge("leading").set({ name }, isLeading ? 1 : 0);
    this.#count("slowPaths", { name }, slowPaths);
  }

  /** Sets what is known of the watches. Those that are there no longer are no longer told. */
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

  /** What is counted of a controller; its state is read when somebody asks. */
  controller(controller: string, state: ControllerState): ControllerMetrics {
    const labels = { controller };
    const queue = { name: controller, controller };
    // A result that never came is told as 0: a rate needs a beginning.
    const results = Object.fromEntries(
      RESULTS.map((result) => [result, this.#counter("reconciles").labels({ controller, result })]),
    ) as Record<RunResult, Counter.Internal>;
    for (const result of Object.values(results)) result.inc(0);
    const simple = ["errors", "terminalErrors", "panics", "timeouts"] as const;
    const [errors, terminalErrors, panics, timeouts] = simple.map((name) => this.#counter(name).labels(labels)) as [
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
      ran(result, seconds) {
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

  /** What is counted of a webhook, by its path. */
  webhook(webhook: string): WebhookMetrics {
    const labels = { webhook };
    const seconds = this.#histogram("webhookSeconds").labels(labels);
    const inFlight = this.#gauge("webhooksInFlight").labels(labels);
    const panics = this.#counter("webhookPanics").labels(labels);
    inFlight.set(0);
    panics.inc(0);
    const requests = this.#counter("webhookRequests");
    const answers = new Map(["200", "500"].map((code) => [code, requests.labels({ webhook, code })]));
    for (const answered of answers.values()) answered.inc(0);
    return {
      began: () => inFlight.inc(),
      ended: (code, took) => {
        inFlight.dec();
        seconds.observe(took);
        (answers.get(code) ?? requests.labels({ webhook, code })).inc();
      },
      panic: () => panics.inc(),
    };
  }

  /** Sets for how many seconds a certificate is still good. */
  certificate(certificate: "server" | "authority", seconds: number): void {
    this.#gauge("certificateExpiry").set({ certificate }, seconds);
  }

  /** Counts a conversion that failed. */
  conversionPanic(): void {
    this.#counter("conversionPanics").inc();
  }

  /** Counts a look at a certificate in files. */
  certificateRead(isGood: boolean): void {
    this.#counter("certificateReads").inc();
    if (!isGood) this.#counter("certificateReadErrors").inc();
  }

  /** Counts another certificate. */
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
   * Fields may have names that come from objects, such as the keys of a ConfigMap: so many loops
   * are told apart, and no more.
   */
  #readHotLoops(controller: string, loops: readonly HotLoop[]): void {
    const gauge = this.#gauge("hotLoops");
    gauge.set({ controller, ...NO_FIELD }, 0);
    const seen = new Set<string>();
    for (const { kind, field, manager, otherManager } of loops) {
      const labels = { kind, field, manager, other_manager: otherManager };
      const identity = JSON.stringify(labels);
      const isTold = field !== "" && (seen.has(identity) || seen.size < MOST_FIELDS);
      if (isTold) seen.add(identity);
      gauge.inc({ controller, ...(isTold ? labels : NO_FIELD) });
    }
  }

  /**
   * A counter that is kept elsewhere is set by the way round of `remove`: prom-client's counters
   * only grow.
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
