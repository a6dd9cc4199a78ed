/**
 * The components of a running operator: clients, informer caches, controller loops, webhooks. They
 * are created when the operator is connected, and send no request before they run.
 */
import { aborted, linked } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { isoTime } from "../base/iso_time.ts";
import { Client, type ClientOptions } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import { ConnectionProbe } from "../kube/connection_probe.ts";
import { RateLimit } from "../kube/rate_limit.ts";
import { webhookRbacRules } from "../parts/rbac.ts";
import { needsRunner, type Runner, type Units, withoutRunners } from "../parts/units.ts";
import { AccessCheck, controllerAccess } from "../runtime/access_check.ts";
import { ControllerLoop } from "../runtime/controller_loop.ts";
import { controllerScope } from "../runtime/controller_scope.ts";
import type { handlerScopes } from "../runtime/handlers/handler_scope.ts";
import { Elector } from "../runtime/elector.ts";
import { EventRecorder } from "../runtime/events.ts";
import { HotLoops } from "../runtime/hot_loops.ts";
import { type OperatorPause, shownPause } from "../runtime/lease_annotations.ts";
import { Informers } from "../runtime/informers.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { ReportedFailures } from "../runtime/reported_failures.ts";
import { Tracing } from "../runtime/tracing.ts";
import { reviewMemoryWithin, WebhookHandler } from "../runtime/webhooks/handler.ts";
import { gracefulDeadline } from "./graceful_deadline.ts";
import type { OperatorDefinition } from "./operator_definition.ts";
import { processTracer } from "./process_tracer.ts";
import { controllerLine, leaderLine, rbacLines, type ReadinessLine, watchLines } from "./readiness.ts";
import type { StartOptions } from "./run_options.ts";
import { WebhookServer } from "./webhook_server.ts";

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

/** Creates the scope of a loop that runs the handlers of a kind. */
export type ScopeOfHandlers = Awaited<ReturnType<typeof handlerScopes>>;

/** The dependencies of {@linkcode Components}. */
export interface ComponentsContext {
  readonly operator: OperatorDefinition;
  readonly options: StartOptions;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: () => number;
  /** The name of this process in the Lease and in Events. */
  readonly instance: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Returns the services. */
  readonly services: () => unknown;
  /** Resolved when the services exist. */
  readonly servicesReady: Promise<void>;
  /** Aborted when the operator has stopped. */
  readonly stopped: AbortSignal;
  /** Present if the operator has handlers. */
  readonly handlerScope: ScopeOfHandlers | undefined;
}

/** The components of a running operator. */
export class Components {
  readonly informers: Informers;
  readonly loops: readonly ControllerLoop[];
  readonly elector: Elector | undefined;
  /** Handles webhook requests; `undefined` without webhooks. */
  readonly webhooks: WebhookHandler | undefined;
  /** Serves the webhooks; `undefined` if they are not served. */
  readonly webhookServer: WebhookServer | undefined;
  readonly events: EventRecorder;
  readonly #context: ComponentsContext;
  readonly #operator: OperatorDefinition;
  readonly #options: StartOptions;
  readonly #connection: Connection;
  /** The units that this process runs. */
  readonly #units: Units;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #instance: string;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #tracing: Tracing | undefined;
  /** Detects dead connections. */
  readonly #probe: ConnectionProbe;
  readonly #clientOptions: ClientOptions;
  /** The client for requests that do not depend on leadership. */
  readonly #unfencedClient: Client;
  /** The client for requests that only the leader may send. */
  readonly #client: Client;
  /** The checks of the webhooks' own RBAC permissions, by the key of the part. */
  readonly #webhookChecks: ReadonlyMap<string, AccessCheck>;
  readonly #checks: readonly AccessCheck[];
  /** Whether the operator is paused by a setting. */
  #isPaused = false;

  /** @throws {Error} If the webhooks cannot be served on their port. */
  constructor(context: ComponentsContext) {
    const { operator, options, connection, clock, random, instance, log, metrics } = context;
    this.#context = context;
    this.#operator = operator;
    this.#options = options;
    this.#connection = connection;
    this.#units = unitsToRun(operator.units, options);
    this.#clock = clock;
    this.#random = random;
    this.#instance = instance;
    this.#log = log;
    this.#metrics = metrics;
    const tracer = processTracer(operator);
    this.#tracing = tracer && new Tracing(tracer);
    this.#probe = this.#createProbe();
    this.#clientOptions = this.#createClientOptions();
    this.#unfencedClient = new Client(connection, this.#clientOptions);
    this.elector = this.#createElector();
    this.#client = this.#createClient();
    this.informers = this.#createInformers();
    this.events = this.#createEvents();
    this.loops = this.#createLoops();
    this.#webhookChecks = this.#createWebhookChecks();
    this.#checks = [...this.#createControllerChecks(), ...this.#webhookChecks.values()];
    this.webhooks = this.#createWebhooks();
    this.webhookServer = this.#createWebhookServer();
    metrics.onRead(() => this.#measure());
  }

  /** Increases with every event. */
  get activity(): number {
    return sum(this.loops) + sum(this.informers.all()) + sum(this.#checks) + this.events.activity +
      (this.elector?.activity ?? 0) + (this.webhooks?.activity ?? 0) + (this.webhookServer?.activity ?? 0);
  }

  /**
   * The number of reconciles in `sleep`, and of requests that wait for the server's Retry-After.
   */
  get waiting(): number {
    return this.#client.waiting + this.loops.reduce((total, { sleeping }) => total + sleeping, 0);
  }

  /** Resolves when the caches are filled and the webhooks are served. */
  async ready(): Promise<void> {
    await Promise.all([this.informers.synced(), this.webhookServer?.served]);
  }

  /** Returns a line for each watch, controller and RBAC permission, and one for leadership. */
  readiness(): ReadinessLine[] {
    return [
      ...(this.webhookServer === undefined ? [] : [this.webhookServer.line]),
      ...watchLines(this.informers),
      ...this.loops.map(controllerLine),
      ...rbacLines(this.#checks),
      ...(this.elector === undefined ? [] : [leaderLine(this.elector)]),
    ];
  }

  /** Pauses or resumes the controllers. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    for (const loop of this.loops) loop.hold("pause", isPaused ? "is paused" : undefined);
  }

  /** Fills the caches and checks RBAC permissions until the signal is aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.informers.run(signal),
      this.#probe.run(signal),
      ...this.#checks.map((check) => check.run(signal)),
    ]);
  }

  /**
   * Reconciles, while this process leads.
   *
   * @param signal When aborted, no more reconciles start.
   * @param deadline When aborted, the reconciles that are still running are aborted.
   */
  async reconcile(signal: AbortSignal, deadline: AbortSignal): Promise<void> {
    const lead = async (term: AbortSignal, yielding: AbortSignal): Promise<void> => {
      using stop = linked([signal, yielding]);
      using over = linked([stop.signal, term]);
      // A process that yields has as much time as one that stops.
      using yielded = gracefulDeadline(this.#clock, yielding, this.#operator.gracefulShutdownTimeout);
      using limit = linked([deadline, yielded.signal]);
      const loops = this.loops.map((loop) => loop.run(stop.signal, limit.signal, term));
      await Promise.all([aborted(over.signal), ...loops]);
      // Events are fenced like all writes, so they are sent before the Lease is released.
      if (!term.aborted) await Promise.race([this.events.flush(), aborted(limit.signal)]);
    };
    const never = new AbortController().signal;
    // The Lease is held until the last reconcile has finished.
    await (this.elector === undefined ? lead(never, never) : this.elector.run(signal, lead));
    for (const loop of this.loops) loop.close();
  }

  /** Applies the pause in the Lease. */
  #onPause(pause: OperatorPause | undefined): void {
    if (pause === undefined) this.#log.info("Operator resumed");
    else {
      const { by, until } = pause;
      this.#log.info("Operator paused", { by, ...(until === undefined ? {} : { until: isoTime(until) }) });
    }
    for (const loop of this.loops) loop.hold("lease", pause && `is ${shownPause(pause)}`);
  }

  #createProbe(): ConnectionProbe {
    return new ConnectionProbe({
      connection: this.#connection,
      clock: this.#clock,
      userAgent: userAgentOf(this.#operator),
      onDead: (error) => this.#log.warn("Dead connection closed", { error: error.message }),
    });
  }

  #createClientOptions(): ClientOptions {
    const { rateLimit } = this.#options;
    const { host } = new URL(this.#connection.url);
    const clock = this.#clock;
    return {
      clock,
      userAgent: userAgentOf(this.#operator),
      probe: this.#probe,
      interceptor: this.#tracing?.call,
      rateLimit: rateLimit && new RateLimit({ ...rateLimit, clock, onDelay: this.#delayLog() }),
      onResponse: (method, code) => this.#metrics.request(method, code, host),
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
    const { namespace: ownNamespace = "default", isInPod = false } = this.#connection;
    const { when, id, namespace = ownNamespace, priority, takeOver, ...times } = this.#operator.leaderElection;
    const { leaderElection = when === "always" || (when === "in a pod" && isInPod), skipControllers } = this.#options;
    if (!leaderElection || skipControllers) return undefined;
    return new Elector({
      ...times,
      name: id,
      namespace,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      client: this.#unfencedClient,
      identity: this.#instance,
      coordination: {
        operator: this.#operator.name,
        priority,
        takeOver,
        onPause: (pause) => this.#onPause(pause),
      },
    });
  }

  #createClient(): Client {
    if (this.elector === undefined) return this.#unfencedClient;
    return new Client(this.#connection, { ...this.#clientOptions, fence: this.elector.fence });
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
      onEnd: (result) => this.#metrics.event(result),
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
      informers: this.informers,
      failures: new ReportedFailures(),
      hotLoops: new HotLoops(),
      metrics: this.#metrics,
      events: this.events,
      tracing: this.#tracing,
      observe,
      selector,
      services: this.#context.services,
      lastRenewedAt: () => this.elector?.lastRenewedAt,
    };
    return [...this.#units.controllers].map(([key, unit]) =>
      new ControllerLoop(
        unit.part === "handlers"
          ? this.#context.handlerScope!(name, key, unit, shared)
          : controllerScope(name, key, unit, shared),
      )
    );
  }

  #createControllerChecks(): AccessCheck[] {
    const { checkAccess = true, namespaces } = this.#options;
    return checkAccess ? this.loops.map((loop) => controllerAccess(loop, this.#unfencedClient, namespaces)) : [];
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
      metrics: this.#metrics,
      tracing: this.#tracing,
      observe,
      services: this.#context.services,
      caches: [...this.#units.webhooks.values()].flatMap(({ reads }) => reads.map((kind) => this.informers.of(kind))),
      onForbidden: (part) => this.#webhookChecks.get(part)?.denied(),
      signal: this.#context.stopped,
      ready: this.#context.servicesReady,
      limits: {
        ...(memoryLimit === undefined ? {} : { memoryBytes: reviewMemoryWithin(memoryLimit) }),
        ...webhooks.limits,
      },
      isServed: serveWebhooks,
      threads: reviewThreads,
    });
  }

  #createWebhookServer(): WebhookServer | undefined {
    const { serveWebhooks, certificateTimes } = this.#options;
    if (this.webhooks === undefined || !serveWebhooks) return undefined;
    return new WebhookServer({
      operator: this.#operator,
      serving: this.#operator.webhooks,
      handler: this.webhooks,
      client: this.#unfencedClient,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      metrics: this.#metrics,
      identity: this.#instance,
      namespace: this.#connection.namespace ?? "default",
      times: certificateTimes,
    });
  }

  /** Updates the metrics that are computed when they are read. */
  #measure(): void {
    this.#metrics.watches(this.informers.states());
    const { name, isLeading, slowPaths } = this.elector ?? {};
    if (name !== undefined) this.#metrics.leadership(name, isLeading!, slowPaths!);
    this.#metrics.set("operatorPaused", this.#isPaused || this.elector?.pause !== undefined ? 1 : 0);
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
