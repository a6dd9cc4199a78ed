/**
 * A running operator: startup and shutdown. It starts in this order: credentials, services, watches
 * and webhooks, reconciles. So no request is sent before the services exist.
 */
import { aborted, type Linked, linked } from "../base/abort.ts";
import { type Clock, sleep, systemClock } from "../base/clock.ts";
import { type ClusterAccess, clusterAccess } from "../kube/cluster_access.ts";
import type { Connection } from "../kube/connection.ts";
import type { HandlerGroup } from "../parts/handlers/group.ts";
import { customMetrics } from "../runtime/custom_metrics.ts";
import type { Logger } from "../runtime/logger.ts";
import { Metrics } from "../runtime/metrics.ts";
import type { WebhookHandler } from "../runtime/webhooks/handler.ts";
import { Components, type ScopeOfHandlers } from "./components.ts";
import { gracefulDeadline } from "./graceful_deadline.ts";
import { logWithListener, operatorLog } from "./log.ts";
import { definitionOf, type OperatorDefinition } from "./operator_definition.ts";
import type { Operator, RunningOperator } from "./operator_value.ts";
import type { ReadinessLine } from "./readiness.ts";
import type { StartOptions } from "./run_options.ts";
import { checkScope } from "./run_settings.ts";
import { Services } from "./services.ts";

export type { ReadinessLine };

// The time in milliseconds that services may take to close after the deadline of the reconciles.
// The pod is killed 5 s after that deadline.
const CLOSING_TIME = 2000;

/** A running operator. */
export interface Running extends RunningOperator {
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
  return new StartedOperator(definitionOf(operator), options);
}

/**
 * Returns a name that is unique among all processes, past and present.
 *
 * @param host The name of the machine or pod.
 */
export function instanceOf(host: string): string {
  return `${host}_${crypto.randomUUID()}`;
}

/** An operator that runs in this process. {@linkcode Running.ended} settles when it has stopped. */
class StartedOperator implements Running {
  readonly metrics: Metrics;
  readonly ended: Promise<void>;
  readonly #operator: OperatorDefinition;
  readonly #options: StartOptions;
  readonly #clock: Clock;
  /**
   * The name of this process in the Lease and in Events. A pod that restarts has the same host
   * name, but it must not mistake the Lease of its previous process for its own.
   */
  readonly #instance: string;
  readonly #log: Logger;
  readonly #services = new Services();
  /** Resolved when the services exist. */
  readonly #servicesReady = Promise.withResolvers<void>();
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  /** Whether the program uses {@linkcode Running.ready}, which then reports a failed start. */
  #reportsReady = false;
  /** Access to the API server; `undefined` until the operator is connected. */
  #access: ClusterAccess | undefined;
  /** Created when the operator is connected: at once if the options have the connection. */
  #components: Components | undefined;
  /** The phase of the start; `undefined` when the caches are being filled, and later. */
  #phase: "connecting" | "creating services" | undefined = "connecting";
  #isPaused = false;
  /** Aborted to stop the operator. */
  readonly #stop: Linked;
  /** Aborted when the operator has stopped. */
  readonly #stopped = new AbortController();

  constructor(operator: OperatorDefinition, options: StartOptions) {
    const { clock = systemClock, identity: host = operator.name, metrics = new Metrics() } = options;
    this.#operator = operator;
    this.#options = options;
    this.#clock = clock;
    this.#instance = options.instance ?? instanceOf(host);
    this.#log = this.#createLog();
    this.metrics = metrics;
    this.#stop = linked(options.signal === undefined ? [] : [options.signal]);
    this.#ready.promise.catch(() => undefined);
    this.ended = this.#runToEnd();
  }

  get activity(): number {
    return this.#components?.activity ?? 0;
  }

  get busy(): string[] {
    if (this.#phase === "creating services") return ["the operator's services are being created"];
    return this.#components?.loops.flatMap((loop) => loop.busy) ?? [];
  }

  get delayed(): string[] {
    return this.#components?.loops.flatMap((loop) => loop.delayed) ?? [];
  }

  get waiting(): number {
    return this.#components?.waiting ?? 0;
  }

  get isLeading(): boolean {
    return this.#components !== undefined && (this.#components.elector?.isLeading ?? true);
  }

  get webhooks(): WebhookHandler | undefined {
    return this.#components?.webhooks;
  }

  get webhookPort(): number | undefined {
    return this.#components?.webhookServer?.port;
  }

  readiness(): ReadinessLine[] {
    if (this.#phase !== undefined) return [{ name: "operator", isReady: false, message: this.#phase }];
    return this.#components!.readiness();
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#components?.pause(isPaused);
  }

  get ready(): Promise<void> {
    this.#reportsReady = true;
    return this.#ready.promise;
  }

  get connection(): ClusterAccess {
    if (this.#access !== undefined) return this.#access;
    throw new Error(
      `Operator "${this.#operator.name}" is not connected yet. Await "ready" before you use "connection".`,
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort(new DOMException("The operator is stopped", "AbortError"));
    await this.ended.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #createLog(): Logger {
    const { onLog } = this.#options;
    const log = operatorLog(this.#operator.name);
    return (onLog === undefined ? log : logWithListener(log, onLog)).with({ operatorID: this.#instance });
  }

  /** Whether the operator creates services. */
  get #createsServices(): boolean {
    return this.#operator.services !== undefined && !("services" in this.#options);
  }

  /** Runs until the operator is stopped. Rejects `ready` if the operator was never ready. */
  async #runToEnd(): Promise<void> {
    try {
      await this.#run();
      this.#ready.reject(new DOMException("The operator stopped before it was ready", "AbortError"));
    } catch (error) {
      this.#ready.reject(error);
      // The program gets the error from `ready`. It must not also end as an unhandled rejection.
      if (this.#reportsReady && !this.#isReady) this.ended.catch(() => undefined);
      throw error;
    } finally {
      this.#stopped.abort(new DOMException("The operator has stopped", "AbortError"));
      this.#stop[Symbol.dispose]();
    }
  }

  /** Connects, and runs until the operator is stopped. */
  async #run(): Promise<void> {
    // An unexpected error also stops the operator: without a watch, its cache would become stale.
    using stop = linked([this.#stop.signal]);
    using deadline = gracefulDeadline(this.#clock, stop.signal, this.#operator.gracefulShutdownTimeout);
    const { connection } = this.#options;
    if (typeof connection !== "function") return await this.#runConnected(connection, stop, deadline.signal);
    const opened = await this.#connect(connection, stop.signal);
    try {
      if (opened !== undefined) await this.#runConnected(opened, stop, deadline.signal);
    } finally {
      opened?.close();
    }
  }

  /** Returns the connection, or `undefined` if the operator was stopped before it was open. */
  async #connect(connect: () => Promise<Connection>, signal: AbortSignal): Promise<Connection | undefined> {
    const opening = connect();
    const opened = await Promise.race([opening, aborted(signal)]);
    if (opened === undefined) opening.then((late) => late.close(), () => undefined);
    return opened ?? undefined;
  }

  /** Runs all components until the operator is stopped. */
  async #runConnected(connection: Connection, stop: Linked, deadline: AbortSignal): Promise<void> {
    const { signal } = stop;
    this.#phase = "creating services";
    const access = this.#access = clusterAccess(connection);
    // Without handlers, the components exist at once.
    const groups = handlerGroups(this.#operator);
    const handlerScope = groups.length > 0 ? await loadHandlerScope(groups) : undefined;
    const components = this.#components = this.#createComponents(connection, handlerScope);
    components.pause(this.#isPaused);
    this.#log.info("Operator started", { version: this.#operator.version });
    // Watches continue while reconciles finish, so that these read their own writes.
    const watches = new AbortController();
    let watching: Promise<void> | undefined;
    let serving: Promise<void> | undefined;
    try {
      const hasServices = await this.#createServices(access, signal, deadline);
      if (hasServices && !signal.aborted) {
        this.#phase = undefined;
        watching = components.watch(watches.signal);
        watching.catch((error) => {
          this.#log.error("Operator failed", { error });
          stop.abort(error);
        });
        serving = components.webhookServer?.run(watches.signal);
        components.ready().then(() => {
          this.#isReady = true;
          this.#ready.resolve();
        });
        await components.reconcile(signal, deadline);
        // Webhooks are served to the end: the API server may still call them while other replicas
        // take over.
        await components.webhookServer?.stop(deadline);
      }
    } finally {
      watches.abort();
      // Services are closed even if a watch failed; its error is reported after that.
      await watching?.catch(() => undefined);
      await serving;
      await components.webhookServer?.stop(AbortSignal.abort());
      await this.#closeServices(deadline);
    }
    await watching;
    this.#log.info("Operator stopped", { isClean: !deadline.aborted });
  }

  #createComponents(connection: Connection, handlerScope: ScopeOfHandlers | undefined): Components {
    return new Components({
      handlerScope,
      operator: this.#operator,
      options: this.#options,
      connection,
      clock: this.#clock,
      random: this.#options.random ?? Math.random,
      instance: this.#instance,
      log: this.#log,
      metrics: this.metrics,
      services: () => this.#services.value,
      servicesReady: this.#servicesReady.promise,
      stopped: this.#stopped.signal,
    });
  }

  /** Creates the services. Returns `false` if the operator was stopped before they existed. */
  async #createServices(connection: ClusterAccess, signal: AbortSignal, deadline: AbortSignal): Promise<boolean> {
    const options = this.#options;
    const create = "services" in options ? () => options.services : this.#operator.services;
    const metrics = customMetrics(this.metrics.registry);
    const context = { signal, log: this.#log, clock: this.#clock, connection, metrics };
    if (!await this.#services.create(create, context, deadline)) return false;
    this.#servicesReady.resolve();
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
}

function handlerGroups({ units }: OperatorDefinition): HandlerGroup[] {
  return [...units.controllers.values()].filter((unit) => unit.part === "handlers");
}

/** Loads the code that runs handlers. Operators without handlers start faster without it. */
async function loadHandlerScope(groups: readonly HandlerGroup[]): Promise<ScopeOfHandlers> {
  const { handlerScopes } = await import("../runtime/handlers/handler_scope.ts");
  return await handlerScopes(groups);
}
