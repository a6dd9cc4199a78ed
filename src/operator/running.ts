/** A running operator: informer caches, controller loops, startup and shutdown. */
import { aborted, linked } from "../base/abort.ts";
import { type Clock, sleep, systemClock } from "../base/clock.ts";
import { Client } from "../kube/client.ts";
import { Pulse } from "../kube/pulse.ts";
import { RateLimit } from "../kube/rate_limit.ts";
import { AccessCheck, controllerAccess } from "../runtime/access_check.ts";
import { ControllerLoop } from "../runtime/controller_loop.ts";
import { Elector, type ElectorOptions } from "../runtime/elector.ts";
import { EventRecorder } from "../runtime/events.ts";
import { Informers } from "../runtime/informers.ts";
import { HotLoops } from "../runtime/hot_loops.ts";
import type { Logger } from "../runtime/logger.ts";
import { Metrics } from "../runtime/metrics.ts";
import { ownMetrics } from "../runtime/custom_metrics.ts";
import { scopeOf } from "../runtime/scope.ts";
import { Tracing } from "../runtime/tracing.ts";
import { ReportedFailures } from "../runtime/reported_failures.ts";
import { heldWithin, WebhookHandler } from "../runtime/webhooks/handler.ts";
import { controllersOf, isCalled, webhooksOf } from "../parts/part_list.ts";
import { webhookRbacRules } from "../parts/rbac.ts";
import { operatorLog } from "./log.ts";
import { definitionOf, type OperatorDefinition } from "./operator_definition.ts";
import type { Operator } from "./operator_value.ts";
import { controllerLine, leaderLine, rbacLines, type ReadinessLine, watchLines } from "./readiness.ts";
import { processTracer } from "./process_tracer.ts";
import type { StartOptions } from "./run_options.ts";
import { refuseScope } from "./run_settings.ts";
import { heardLog } from "./heard_log.ts";
import { Services } from "./services.ts";
import { WebhookServer } from "./webhook_server.ts";

export type { ReadinessLine };

// The additional time that services may take to close after the deadline of the reconciles, in
// milliseconds. The pod is killed 5 s after that deadline.
const LAST_CLOSING = 2000;

// client-go also logs delays of 1 s and more (k8s.io/client-go rest/request.go,
// extraLongThrottleLatency).
const LOGGED_DELAY = 1000;
const DELAY_LOG_PAUSE = 60_000;

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
  /** The number of requests that wait for the time in the server's Retry-After. */
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

/** The components of a running operator. */
interface Machinery {
  readonly clock: Clock;
  readonly log: Logger;
  readonly pulse: Pulse;
  readonly informers: Informers;
  readonly loops: readonly ControllerLoop[];
  readonly checks: readonly AccessCheck[];
  readonly elector: Elector | undefined;
  readonly events: EventRecorder;
  readonly services: Services;
  readonly metrics: Metrics;
  /** Resolved when the services are created. */
  readonly made: { resolve(): void };
  readonly webhookServer: WebhookServer | undefined;
}

/**
 * Starts an operator.
 *
 * @param value The operator.
 * @param options The connection to the API server, and settings of this process.
 */
export function startOperator(value: Operator, options: StartOptions): Running {
  const operator = definitionOf(value);
  refuseScope(options);
  const { connection, clock = systemClock, random = Math.random, namespaces, host = operator.name } = options;
  // A pod that restarts has the same name. It must not take the Lease of its previous process for
  // its own.
  const { instance = instanceOf(host) } = options;
  // The name in the Lease and in Events, so that processes can be told apart.
  const plain = operatorLog(operator.name);
  const log = (options.onLog === undefined ? plain : heardLog(plain, options.onLog)).with({ operatorID: instance });
  const { metrics = new Metrics() } = options;
  const { host: server } = new URL(connection.url);
  const userAgent = `${operator.name}/${operator.version}`;
  const pulse = new Pulse({
    connection,
    clock,
    userAgent,
    onDead: (error) => log.warn("Connection given up", { error: error.message }),
  });
  const tracer = processTracer(operator);
  const tracing = tracer && new Tracing(tracer);
  const clientOptions = {
    clock,
    userAgent,
    pulse,
    around: tracing?.call,
    rateLimit: options.rateLimit &&
      new RateLimit({ ...options.rateLimit, clock, onDelay: delayLog(log, options, clock) }),
    onAnswer: (method: string, code: string) => metrics.request(method, code, server),
  };
  const unfenced = new Client(connection, clientOptions);
  const elector = electorOf(operator, options, { clock, random, log, client: unfenced, identity: instance });
  const client = elector === undefined ? unfenced : new Client(connection, { ...clientOptions, fence: elector.fence });
  const informers = new Informers({ client, clock, random, log, operator: operator.name, namespaces });
  const events = new EventRecorder({ client, clock, log, instance, onEnd: (result) => metrics.event(result) });
  const services = new Services();
  const { observe } = options;
  const shared = {
    parts: operator.parts,
    client,
    clock,
    random,
    log,
    informers,
    failures: new ReportedFailures(),
    hotLoops: new HotLoops(),
    metrics,
    events,
    tracing,
    observe,
  };
  const controllers = options.skipControllers ? [] : controllersOf(operator.parts);
  const loops = controllers.map(([key, part]) =>
    new ControllerLoop(
      scopeOf(operator.name, key, part, { ...shared, selector: options.selector, services: () => services.value }),
    )
  );
  const called = options.skipWebhooks ? [] : webhooksOf(operator.parts);
  const isAsking = options.checkAccess ?? true;
  const webhookChecks = new Map(
    called.filter(([, webhook]) => isAsking && webhookRbacRules(webhook).length > 0).map(([key, webhook]) => {
      const rights = webhookRbacRules(webhook);
      const told = log.with({ webhook: key });
      return [key, new AccessCheck({ client: unfenced, clock, random, log: told, rules: rights, namespaces })];
    }),
  );
  const checks = [
    ...isAsking ? loops.map((loop) => controllerAccess(loop, unfenced, namespaces)) : [],
    ...webhookChecks.values(),
  ];
  metrics.onRead(() => {
    metrics.watches(informers.states());
    if (elector !== undefined) metrics.leadership(elector.name, elector.isLeading, elector.slowPaths);
  });
  const given = new AbortController();
  const made = Promise.withResolvers<void>();
  const webhooks = isCalled(operator.parts) && !options.skipWebhooks
    ? new WebhookHandler({
      parts: operator.parts,
      // Reviews do not write, so all replicas answer them, whether they lead or not.
      client: unfenced,
      clock,
      log,
      metrics,
      tracing,
      observe,
      services: () => services.value,
      caches: called.flatMap(([, { reads }]) => reads.map((kind) => informers.of(kind))),
      onForbidden: (part) => webhookChecks.get(part)?.denied(),
      signal: given.signal,
      ready: made.promise,
      limits: {
        ...(options.memoryLimit === undefined ? {} : { held: heldWithin(options.memoryLimit) }),
        ...operator.webhooks.limits,
      },
      isServed: options.serveWebhooks ?? false,
      threads: options.reviewThreads,
    })
    : undefined;
  const webhookServer = webhooks !== undefined && options.serveWebhooks
    ? new WebhookServer({
      operator,
      serving: operator.webhooks,
      handler: webhooks,
      client: unfenced,
      clock,
      random,
      log,
      metrics,
      identity: instance,
      namespace: connection.namespace ?? "default",
      times: options.certificateTimes,
    })
    : undefined;
  if (isMaking(operator, options)) {
    for (const loop of loops) loop.hold("services", "waits for the operator's services");
  }
  const stop = linked(options.signal === undefined ? [] : [options.signal]);
  const machinery = {
    clock,
    log,
    pulse,
    informers,
    loops,
    checks,
    elector,
    events,
    services,
    metrics,
    made,
    webhookServer,
  };
  const ended = runAll(operator, options, machinery, stop.signal).finally(() => {
    given.abort(new DOMException("The operator has stopped", "AbortError"));
    stop[Symbol.dispose]();
  });
  return {
    ended,
    metrics,
    webhooks,
    get activity() {
      return sum(loops) + sum(informers.all()) + sum(checks) + events.activity + (elector?.activity ?? 0) +
        (webhooks?.activity ?? 0) + (webhookServer?.activity ?? 0);
    },
    get busy() {
      return loops.flatMap((loop) => loop.busy);
    },
    get delayed() {
      return loops.flatMap((loop) => loop.delayed);
    },
    get waiting() {
      return client.waiting;
    },
    get isLeading() {
      return elector?.isLeading ?? true;
    },
    get webhookPort() {
      return webhookServer?.port;
    },
    readiness: () => [
      ...(webhookServer === undefined ? [] : [webhookServer.line]),
      ...watchLines(informers),
      ...loops.map(controllerLine),
      ...rbacLines(checks),
      ...(elector === undefined ? [] : [leaderLine(elector)]),
    ],
    pause: (isPaused) => loops.forEach((loop) => loop.hold("pause", isPaused ? "is paused" : undefined)),
    async [Symbol.asyncDispose]() {
      stop.abort(new DOMException("The operator is stopped", "AbortError"));
      await ended;
    },
  };
}

/** Logs long delays by the client-side rate limit, at most once a minute. */
function delayLog(log: Logger, { rateLimit }: StartOptions, clock: Clock): (delay: number) => void {
  let next = -Infinity;
  return (delayMs) => {
    if (delayMs < LOGGED_DELAY || clock.elapsed() < next) return;
    next = clock.elapsed() + DELAY_LOG_PAUSE;
    log.warn("Requests delayed by the client-side rate limit", { delayMs, ...rateLimit });
  };
}

/**
 * Returns a name that identifies a process among all that ever ran.
 *
 * @param host The name of the machine or pod.
 */
export function instanceOf(host: string): string {
  return `${host}_${crypto.randomUUID()}`;
}

/** Returns the leader election, or `undefined` if there is none. */
function electorOf(
  { leaderElection }: OperatorDefinition,
  { connection, leaderElection: asked = leaderElection.when === "always" }: StartOptions,
  shared: Pick<ElectorOptions, "clock" | "random" | "log" | "client" | "identity">,
): Elector | undefined {
  if (!asked) return undefined;
  const { id, namespace = connection.namespace ?? "default", ...times } = leaderElection;
  return new Elector({ ...shared, ...times, name: id, namespace });
}

async function runAll(
  operator: OperatorDefinition,
  options: StartOptions,
  { clock, log, pulse, informers, loops, checks, elector, events, services, metrics, made, webhookServer }: Machinery,
  asked: AbortSignal,
): Promise<void> {
  // An unexpected error also stops the operator: without a watch, its cache would go stale.
  using stop = linked([asked]);
  const { signal } = stop;
  const deadline = new AbortController();
  // Watches continue while reconciles finish, so that these read their own writes.
  const watches = new AbortController();
  const watching = Promise.all([
    informers.run(watches.signal),
    pulse.run(watches.signal),
    ...checks.map((check) => check.run(watches.signal)),
  ]);
  watching.catch((error) => {
    log.error("Operator cannot go on", { error });
    stop.abort(error);
  });
  log.info("Operator started", { version: operator.version });
  let keeping: Promise<void> | undefined;
  let timer: Disposable | undefined;
  aborted(signal).then(() => {
    timer = clock.after(
      operator.gracefulShutdownTimeout,
      () => deadline.abort(new DOMException("The operator stops", "AbortError")),
    );
  });
  const lead = async (term: AbortSignal): Promise<void> => {
    using over = linked([signal, term]);
    await Promise.all([aborted(over.signal), ...loops.map((loop) => loop.run(signal, deadline.signal, term))]);
    // Events are fenced like all writes, so they are sent before the Lease is released.
    if (!term.aborted) await Promise.race([events.flush(), aborted(deadline.signal)]);
  };
  try {
    const make = "services" in options ? () => options.services : operator.services;
    if (await services.make(make, { signal, log, clock, metrics: ownMetrics(metrics.registry) }, deadline.signal)) {
      made.resolve();
      for (const loop of loops) loop.hold("services", undefined);
      if (webhookServer !== undefined) keeping = webhookServer.run(watches.signal);
      // The Lease is held until the last reconcile has finished.
      await (elector === undefined ? lead(new AbortController().signal) : elector.run(signal, lead));
      // Webhooks are served to the end: the API server may still call them while other replicas
      // take over.
      await webhookServer?.stop(deadline.signal);
    }
  } finally {
    watches.abort();
    // Services are closed even if a watch failed; its error is reported after that.
    await watching.catch(() => undefined);
    await keeping;
    await webhookServer?.stop(AbortSignal.abort());
    const closed = new AbortController();
    if (isMaking(operator, options)) await services.close(log, closingTime(clock, deadline.signal, closed.signal));
    closed.abort();
    timer?.[Symbol.dispose]();
  }
  await watching;
  log.info("Operator stopped", { isClean: !deadline.signal.aborted });
}

/**
 * Settles when services must be closed: with the deadline, or a short time later if reconciles used
 * all of it.
 */
async function closingTime(clock: Clock, deadline: AbortSignal, closed: AbortSignal): Promise<void> {
  await aborted(deadline);
  await sleep(clock, LAST_CLOSING, closed).catch(() => undefined);
}

/** Returns whether the operator creates services, which reconciles wait for. */
function isMaking({ services }: OperatorDefinition, options: StartOptions): boolean {
  return services !== undefined && !("services" in options);
}

function sum(list: readonly { readonly activity: number }[]): number {
  return list.reduce((total, { activity }) => total + activity, 0);
}
