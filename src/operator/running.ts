/** A running operator: informer caches, controller loops, startup and shutdown. */
import { aborted, type Linked, linked } from "../base/abort.ts";
import { type Clock, sleep, systemClock } from "../base/clock.ts";
import { Client, type ClientOptions } from "../kube/client.ts";
import { ConnectionProbe } from "../kube/connection_probe.ts";
import { RateLimit } from "../kube/rate_limit.ts";
import { AccessCheck, controllerAccess } from "../runtime/access_check.ts";
import { ControllerLoop } from "../runtime/controller_loop.ts";
import { Elector } from "../runtime/elector.ts";
import { EventRecorder } from "../runtime/events.ts";
import { Informers } from "../runtime/informers.ts";
import { HotLoops } from "../runtime/hot_loops.ts";
import type { Logger } from "../runtime/logger.ts";
import { Metrics } from "../runtime/metrics.ts";
import { customMetrics } from "../runtime/custom_metrics.ts";
import { scopeOf } from "../runtime/scope.ts";
import { Tracing } from "../runtime/tracing.ts";
import { ReportedFailures } from "../runtime/reported_failures.ts";
import { reviewMemoryWithin, WebhookHandler } from "../runtime/webhooks/handler.ts";
import { webhookRbacRules } from "../parts/rbac.ts";
import { needsRunner, type Runner, type Units, withoutRunners } from "../parts/units.ts";
import { logWithListener, operatorLog } from "./log.ts";
import { definitionOf, type OperatorDefinition } from "./operator_definition.ts";
import type { Operator } from "./operator_value.ts";
import { controllerLine, leaderLine, rbacLines, type ReadinessLine, watchLines } from "./readiness.ts";
import { processTracer } from "./process_tracer.ts";
import type { StartOptions } from "./run_options.ts";
import { checkScope } from "./run_settings.ts";
import { Services } from "./services.ts";
import { WebhookServer } from "./webhook_server.ts";

export type { ReadinessLine };

// The time in milliseconds that services may take to close after the deadline of the reconciles.
// The pod is killed 5 s after that deadline.
const CLOSING_TIME = 2000;

// The shortest delay to log, and the shortest time between two log lines, in milliseconds.
// client-go also logs delays of 1 s and more (k8s.io/client-go rest/request.go,
// extraLongThrottleLatency).
const LOGGED_DELAY = 1000;
const DELAY_LOG_PAUSE = 60_000;

/** The option that skips the units of a component. */
const SKIPPED_BY: { readonly [R in Runner]: "skipControllers" | "skipWebhooks" } = {
  controllerLoop: "skipControllers",
  webhookServer: "skipWebhooks",
};

/** A running operator. */
export interface Running extends AsyncDisposable {
  /** Settles when the operator has stopped. */
  readonly ended: Promise<void>;
  /**
   * Increases with every event. While it is constant, the operator does nothing except wait for
   * time to pass.
   */
  readonly activity: number;
  /** Descriptions of the current work. */
  readonly busy: readonly string[];
  /** Objects that are requeued repeatedly and wait for the next reconcile, each with the reason. */
  readonly delayed: readonly string[];
  /**
   * The number of reconciles in `sleep`, and of requests that wait for the server's Retry-After.
   */
  readonly waiting: number;
  /** Whether this process reconciles: it leads, or there is no leader election. */
  readonly isLeading: boolean;
  readonly metrics: Metrics;
  /** Handles webhook requests, or `undefined` without webhooks. */
  readonly webhooks: WebhookHandler | undefined;
  /** The port of the webhooks, or `undefined` if they are not served. */
  readonly webhookPort: number | undefined;
  /** Returns a line for each watch, controller and RBAC permission, and one for leadership. */
  readiness(): ReadinessLine[];
  /**
   * Pauses or resumes the operator. While it is paused, no reconcile starts; running ones finish.
   */
  pause(isPaused: boolean): void;
}

/**
 * Starts an operator.
 *
 * @param operator The operator.
 * @param options The connection to the API server, and settings of this process.
 * @throws {SettingError} If a namespace or the selector in the options is invalid.
 */
export function startOperator(operator: Operator, options: StartOptions): Running {
  checkScope(options);
  return new RunningOperator(definitionOf(operator), options);
}

/**
 * Returns a name that is unique among all processes, past and present.
 *
 * @param host The name of the machine or pod.
 */
export function instanceOf(host: string): string {
  return `${host}_${crypto.randomUUID()}`;
}

/**
 * An operator that runs in this process. The constructor creates its components, then runs them;
 * {@linkcode Running.ended} settles when they have stopped.
 */
class RunningOperator implements Running {
  readonly metrics: Metrics;
  readonly webhooks: WebhookHandler | undefined;
  readonly ended: Promise<void>;
  readonly #operator: OperatorDefinition;
  readonly #options: StartOptions;
  /** The units that this process runs. */
  readonly #units: Units;
  readonly #clock: Clock;
  readonly #random: () => number;
  /**
   * The name of this process in the Lease and in Events. A pod that restarts has the same host
   * name, but it must not mistake the Lease of its previous process for its own.
   */
  readonly #instance: string;
  readonly #log: Logger;
  readonly #tracing: Tracing | undefined;
  /** Detects dead connections. */
  readonly #probe: ConnectionProbe;
  readonly #clientOptions: ClientOptions;
  /** The client for requests that do not depend on leadership. */
  readonly #unfencedClient: Client;
  /** The client for requests that only the leader may send. */
  readonly #client: Client;
  readonly #elector: Elector | undefined;
  readonly #informers: Informers;
  readonly #events: EventRecorder;
  readonly #services = new Services();
  /** Resolved when the services exist. */
  readonly #servicesReady = Promise.withResolvers<void>();
  readonly #loops: readonly ControllerLoop[];
  /** The checks of the webhooks' own RBAC permissions, by the key of the part. */
  readonly #webhookChecks: ReadonlyMap<string, AccessCheck>;
  readonly #checks: readonly AccessCheck[];
  readonly #webhookServer: WebhookServer | undefined;
  /** Aborted to stop the operator. */
  readonly #stop: Linked;
  /** Aborted when the operator has stopped. */
  readonly #stopped = new AbortController();

  constructor(operator: OperatorDefinition, options: StartOptions) {
    const { clock = systemClock, random = Math.random, identity: host = operator.name, metrics = new Metrics() } =
      options;
    this.#operator = operator;
    this.#options = options;
    this.#units = unitsToRun(operator.units, options);
    this.#clock = clock;
    this.#random = random;
    this.#instance = options.instance ?? instanceOf(host);
    this.#log = this.#createLog();
    this.metrics = metrics;
    const tracer = processTracer(operator);
    this.#tracing = tracer && new Tracing(tracer);
    this.#probe = this.#createProbe();
    this.#clientOptions = this.#createClientOptions();
    this.#unfencedClient = new Client(options.connection, this.#clientOptions);
    this.#elector = this.#createElector();
    this.#client = this.#createClient();
    this.#informers = this.#createInformers();
    this.#events = this.#createEvents();
    this.#loops = this.#createLoops();
    this.#webhookChecks = this.#createWebhookChecks();
    this.#checks = [...this.#createControllerChecks(), ...this.#webhookChecks.values()];
    this.webhooks = this.#createWebhooks();
    this.#webhookServer = this.#createWebhookServer();
    metrics.onRead(() => this.#measure());
    this.#stop = linked(options.signal === undefined ? [] : [options.signal]);
    this.ended = this.#run().finally(() => {
      this.#stopped.abort(new DOMException("The operator has stopped", "AbortError"));
      this.#stop[Symbol.dispose]();
    });
  }

  get activity(): number {
    return sum(this.#loops) + sum(this.#informers.all()) + sum(this.#checks) + this.#events.activity +
      (this.#elector?.activity ?? 0) + (this.webhooks?.activity ?? 0) + (this.#webhookServer?.activity ?? 0);
  }

  get busy(): string[] {
    return this.#loops.flatMap((loop) => loop.busy);
  }

  get delayed(): string[] {
    return this.#loops.flatMap((loop) => loop.delayed);
  }

  get waiting(): number {
    return this.#client.waiting + this.#loops.reduce((total, { sleeping }) => total + sleeping, 0);
  }

  get isLeading(): boolean {
    return this.#elector?.isLeading ?? true;
  }

  get webhookPort(): number | undefined {
    return this.#webhookServer?.port;
  }

  readiness(): ReadinessLine[] {
    return [
      ...(this.#webhookServer === undefined ? [] : [this.#webhookServer.line]),
      ...watchLines(this.#informers),
      ...this.#loops.map(controllerLine),
      ...rbacLines(this.#checks),
      ...(this.#elector === undefined ? [] : [leaderLine(this.#elector)]),
    ];
  }

  pause(isPaused: boolean): void {
    for (const loop of this.#loops) loop.hold("pause", isPaused ? "is paused" : undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new DOMException("The operator is stopped", "AbortError"));
    await this.ended;
  }

  #createLog(): Logger {
    const { onLog } = this.#options;
    const log = operatorLog(this.#operator.name);
    return (onLog === undefined ? log : logWithListener(log, onLog)).with({ operatorID: this.#instance });
  }

  #createProbe(): ConnectionProbe {
    return new ConnectionProbe({
      connection: this.#options.connection,
      clock: this.#clock,
      userAgent: userAgentOf(this.#operator),
      onDead: (error) => this.#log.warn("Dead connection closed", { error: error.message }),
    });
  }

  #createClientOptions(): ClientOptions {
    const { connection, rateLimit } = this.#options;
    const { host } = new URL(connection.url);
    const clock = this.#clock;
    return {
      clock,
      userAgent: userAgentOf(this.#operator),
      probe: this.#probe,
      interceptor: this.#tracing?.call,
      rateLimit: rateLimit && new RateLimit({ ...rateLimit, clock, onDelay: this.#delayLog() }),
      onResponse: (method, code) => this.metrics.request(method, code, host),
    };
  }

  /** Logs long delays by the client-side rate limit, at most once a minute. */
  #delayLog(): (delayMs: number) => void {
    let next = -Infinity;
    return (delayMs) => {
      if (delayMs < LOGGED_DELAY || this.#clock.elapsed() < next) return;
      next = this.#clock.elapsed() + DELAY_LOG_PAUSE;
      this.#log.warn("Requests delayed by the client-side rate limit", { delayMs, ...this.#options.rateLimit });
    };
  }

  #createElector(): Elector | undefined {
    const { leaderElection } = this.#operator;
    const { connection, leaderElection: isElected = leaderElection.when === "always" } = this.#options;
    if (!isElected) return undefined;
    const { id, namespace = connection.namespace ?? "default", ...times } = leaderElection;
    return new Elector({
      ...times,
      name: id,
      namespace,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      client: this.#unfencedClient,
      identity: this.#instance,
    });
  }

  #createClient(): Client {
    if (this.#elector === undefined) return this.#unfencedClient;
    return new Client(this.#options.connection, { ...this.#clientOptions, fence: this.#elector.fence });
  }

  #createInformers(): Informers {
    return new Informers({
      client: this.#client,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      operator: this.#operator.name,
      namespaces: this.#options.namespaces,
    });
  }

  #createEvents(): EventRecorder {
    return new EventRecorder({
      client: this.#client,
      clock: this.#clock,
      log: this.#log,
      instance: this.#instance,
      onEnd: (result) => this.metrics.event(result),
    });
  }

  #createLoops(): ControllerLoop[] {
    const { name, units } = this.#operator;
    const { selector, observe } = this.#options;
    const shared = {
      controllers: units.controllers,
      client: this.#client,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      informers: this.#informers,
      failures: new ReportedFailures(),
      hotLoops: new HotLoops(),
      metrics: this.metrics,
      events: this.#events,
      tracing: this.#tracing,
      observe,
      selector,
      services: () => this.#services.value,
    };
    const loops = [...this.#units.controllers].map(([key, controller]) =>
      new ControllerLoop(scopeOf(name, key, controller, shared))
    );
    if (this.#createsServices) {
      for (const loop of loops) loop.hold("services", "waits for the operator's services");
    }
    return loops;
  }

  #createControllerChecks(): AccessCheck[] {
    const { checkAccess = true, namespaces } = this.#options;
    return checkAccess ? this.#loops.map((loop) => controllerAccess(loop, this.#unfencedClient, namespaces)) : [];
  }

  #createWebhookChecks(): Map<string, AccessCheck> {
    const { checkAccess = true, namespaces } = this.#options;
    const checks = new Map<string, AccessCheck>();
    for (const [key, webhook] of checkAccess ? this.#units.webhooks : []) {
      const rules = webhookRbacRules(webhook);
      if (rules.length === 0) continue;
      const check = new AccessCheck({
        client: this.#unfencedClient,
        clock: this.#clock,
        random: this.#random,
        log: this.#log.with({ webhook: key }),
        rules,
        namespaces,
      });
      checks.set(key, check);
    }
    return checks;
  }

  #createWebhooks(): WebhookHandler | undefined {
    const { webhooks } = this.#operator;
    const { observe, memoryLimit, serveWebhooks = false, reviewThreads } = this.#options;
    if (!needsRunner(this.#units, "webhookServer")) return undefined;
    return new WebhookHandler({
      units: this.#units,
      // Reviews do not write, so all replicas answer them, whether they lead or not.
      client: this.#unfencedClient,
      clock: this.#clock,
      log: this.#log,
      metrics: this.metrics,
      tracing: this.#tracing,
      observe,
      services: () => this.#services.value,
      caches: [...this.#units.webhooks.values()].flatMap(({ reads }) => reads.map((kind) => this.#informers.of(kind))),
      onForbidden: (part) => this.#webhookChecks.get(part)?.denied(),
      signal: this.#stopped.signal,
      ready: this.#servicesReady.promise,
      limits: {
        ...(memoryLimit === undefined ? {} : { memoryBytes: reviewMemoryWithin(memoryLimit) }),
        ...webhooks.limits,
      },
      isServed: serveWebhooks,
      threads: reviewThreads,
    });
  }

  #createWebhookServer(): WebhookServer | undefined {
    const { connection, serveWebhooks, certificateTimes } = this.#options;
    if (this.webhooks === undefined || !serveWebhooks) return undefined;
    return new WebhookServer({
      operator: this.#operator,
      serving: this.#operator.webhooks,
      handler: this.webhooks,
      client: this.#unfencedClient,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      metrics: this.metrics,
      identity: this.#instance,
      namespace: connection.namespace ?? "default",
      times: certificateTimes,
    });
  }

  /** Whether the operator creates services, which reconciles wait for. */
  get #createsServices(): boolean {
    return this.#operator.services !== undefined && !("services" in this.#options);
  }

  /** Updates the metrics that are computed when they are read. */
  #measure(): void {
    this.metrics.watches(this.#informers.states());
    const { name, isLeading, slowPaths } = this.#elector ?? {};
    if (name !== undefined) this.metrics.leadership(name, isLeading!, slowPaths!);
  }

  /** Runs all components until the operator is stopped. */
  async #run(): Promise<void> {
    // An unexpected error also stops the operator: without a watch, its cache would become stale.
    using stop = linked([this.#stop.signal]);
    const { signal } = stop;
    // Watches continue while reconciles finish, so that these read their own writes.
    const watches = new AbortController();
    const watching = this.#watch(watches.signal);
    watching.catch((error) => {
      this.#log.error("Operator failed", { error });
      stop.abort(error);
    });
    this.#log.info("Operator started", { version: this.#operator.version });
    using deadline = this.#deadlineAfter(signal);
    let serving: Promise<void> | undefined;
    try {
      if (await this.#createServices(signal, deadline.signal)) {
        serving = this.#webhookServer?.run(watches.signal);
        await this.#reconcile(signal, deadline.signal);
        // Webhooks are served to the end: the API server may still call them while other replicas
        // take over.
        await this.#webhookServer?.stop(deadline.signal);
      }
    } finally {
      watches.abort();
      // Services are closed even if a watch failed; its error is reported after that.
      await watching.catch(() => undefined);
      await serving;
      await this.#webhookServer?.stop(AbortSignal.abort());
      await this.#closeServices(deadline.signal);
    }
    await watching;
    this.#log.info("Operator stopped", { isClean: !deadline.signal.aborted });
  }

  async #watch(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#informers.run(signal),
      this.#probe.run(signal),
      ...this.#checks.map((check) => check.run(signal)),
    ]);
  }

  /** Returns a signal that is aborted when the time for a graceful shutdown has passed. */
  #deadlineAfter(signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
    const deadline = new AbortController();
    let timer: Disposable | undefined;
    aborted(signal).then(() => {
      timer = this.#clock.after(
        this.#operator.gracefulShutdownTimeout,
        () => deadline.abort(new DOMException("The graceful shutdown timeout has passed", "AbortError")),
      );
    });
    return { signal: deadline.signal, [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
  }

  /** Creates the services. Returns `false` if the operator was stopped before they existed. */
  async #createServices(signal: AbortSignal, deadline: AbortSignal): Promise<boolean> {
    const options = this.#options;
    const create = "services" in options ? () => options.services : this.#operator.services;
    const context = { signal, log: this.#log, clock: this.#clock, metrics: customMetrics(this.metrics.registry) };
    if (!await this.#services.create(create, context, deadline)) return false;
    this.#servicesReady.resolve();
    for (const loop of this.#loops) loop.hold("services", undefined);
    return true;
  }

  /** Closes the services, unless the caller of {@linkcode startOperator} provided them. */
  async #closeServices(deadline: AbortSignal): Promise<void> {
    if (!this.#createsServices) return;
    const closed = new AbortController();
    await this.#services.close(this.#log, this.#closingTime(deadline, closed.signal));
    closed.abort();
  }

  /**
   * Settles when the services must be closed: {@linkcode CLOSING_TIME} after the deadline, so that
   * they also have time to close if the reconciles used all of it.
   */
  async #closingTime(deadline: AbortSignal, closed: AbortSignal): Promise<void> {
    await aborted(deadline);
    await sleep(this.#clock, CLOSING_TIME, closed).catch(() => undefined);
  }

  /** Reconciles, while this process leads, until the signal is aborted. */
  async #reconcile(signal: AbortSignal, deadline: AbortSignal): Promise<void> {
    const lead = async (term: AbortSignal): Promise<void> => {
      using over = linked([signal, term]);
      await Promise.all([aborted(over.signal), ...this.#loops.map((loop) => loop.run(signal, deadline, term))]);
      // Events are fenced like all writes, so they are sent before the Lease is released.
      if (!term.aborted) await Promise.race([this.#events.flush(), aborted(deadline)]);
    };
    // The Lease is held until the last reconcile has finished.
    await (this.#elector === undefined ? lead(new AbortController().signal) : this.#elector.run(signal, lead));
  }
}

/** Returns the units that a process runs: all except those that its options skip. */
function unitsToRun(units: Units, options: StartOptions): Units {
  const runners = Object.keys(SKIPPED_BY) as Runner[];
  return withoutRunners(units, runners.filter((runner) => options[SKIPPED_BY[runner]]));
}

function userAgentOf({ name, version }: OperatorDefinition): string {
  return `${name}/${version}`;
}

function sum(list: readonly { readonly activity: number }[]): number {
  return list.reduce((total, { activity }) => total + activity, 0);
}
