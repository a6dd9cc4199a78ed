/**
 * A cluster in the test process: an API server that is a function, an operator that runs on it, and
 * a virtual clock.
 */
import { own } from "../base/own.ts";
import { type Duration, milliseconds } from "../base/duration.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { type Apiserver, createApiserver } from "../apiserver/mod.ts";
import { isStatus } from "../kube/api_error.ts";
import { Client } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Namespace,
  ValidatingWebhookConfiguration,
} from "../kinds/mod.ts";
import { externalCrdsOf } from "../manifests/crds.ts";
import { webhookConfigurations, withConversion } from "../manifests/webhooks.ts";
import { operator } from "../operator/operator.ts";
import { definitionOf, type OperatorDefinition } from "../operator/operator_definition.ts";
import type { Operator } from "../operator/operator_value.ts";
import { isPaused, runtimeScope, skippedParts } from "../operator/run_settings.ts";
import type { LogLine } from "../operator/log.ts";
import { type Running, startOperator } from "../operator/running.ts";
import type { Settings } from "../operator/settings.ts";
import type { Part } from "../parts/controller.ts";
import type { AnyKind, CustomResourceDefinitionManifest, Infer, Input, KubeObject } from "../resource/kind.ts";
import type { CodeFailure } from "../runtime/code_failure.ts";
import { withoutSecrets } from "./_confidential.ts";
import { DateUse } from "./_date_use.ts";
import { Failures } from "./_failures.ts";
import { OperatorRoles } from "./_roles.ts";
import { TimeDriver } from "./_time_driver.ts";
import { Turns } from "./_turns.ts";
import { writeRbacUsage } from "./_rbac_usage.ts";
import { Wire, type WireOptions } from "./_wire.ts";
import type { Fault, FaultFilter, InjectedFault } from "./faults.ts";
import { matches, type RequestFilter, type RequestRecord } from "./request_log.ts";
import type { PolicyRule, UsedRbacRule } from "./rbac.ts";

// Number of requests that are answered per turn of the event loop. The limit keeps two controllers
// that trigger each other from starving the test.
const REQUESTS_PER_TURN = 16;

/** Options for {@linkcode memoryCluster}. */
export interface MemoryClusterOptions {
  /** Parts of an operator named "test" to run. @default {{}} */
  readonly parts?: Readonly<Record<string, Part>>;
  /** An operator to run instead of `parts`. */
  readonly operator?: Operator;
  /**
   * Contents of the operator's `operator.toml`: limits, namespaces, a selector, pauses.
   *
   * @default {no configuration file}
   */
  readonly config?: string;
  /** Kinds to install in addition to those of the operator. @default {[]} */
  readonly kinds?: readonly AnyKind[];
  /**
   * Services that replace those that the operator creates. @default {the operator's own services}
   */
  readonly services?: unknown;
  /** Namespaces that the operator watches. @default {all namespaces} */
  readonly visibleNamespaces?: readonly string[];
  /** Namespaces to create in addition to those that every cluster has. @default {[]} */
  readonly namespaces?: readonly string[];
  /**
   * Number of turns of the event loop after which `settle` and `advance` give up on an operator
   * that is never idle.
   *
   * @default {20_000}
   */
  readonly maxTurns?: number;
  /**
   * Whether the operator checks its RBAC permissions when it starts, as it does on a real cluster.
   * By default, it does not, and the test fails when a request lacks a permission.
   *
   * @default {false}
   */
  readonly checkAccess?: boolean;
  /** Initial time of the clock. @default {2030-01-01T00:00:00Z} */
  readonly start?: Date;
  /**
   * RBAC permissions of the operator. The API server rejects all other requests of the operator.
   * The test itself sends requests as an administrator.
   *
   * By default, the operator runs as a service account in the namespace `default` with the roles
   * that are generated from its declarations, as it does in a cluster. `without` removes
   * permissions, such as `patch configmaps`. A list of rules replaces the generated roles with one
   * ClusterRole. `false` disables authorization.
   *
   * @default {the roles generated from the operator's declarations}
   */
  readonly rbac?: boolean | { readonly without: readonly string[] } | readonly PolicyRule[];
  /**
   * What happens when the roles reject a request of the operator. `"fail"`: `settle` and `advance`
   * reject with a {@linkcode SettleError} that names the missing permission. `"allow"`: the
   * test continues.
   *
   * @default {"fail"}
   */
  readonly forbiddenRequests?: "fail" | "allow";
  /**
   * What happens when the operator's code fails, which means that a reconcile or cleanup throws an
   * error other than `TemporaryError` and `PermanentError`, or that a webhook, a conversion or a
   * function of a declaration throws. `"fail"`: the next `settle` or `advance` rejects with an
   * {@linkcode OperatorFailedError}, or else disposing of the cluster does. `"collect"`: the
   * failures are only in `cluster.failures`.
   *
   * Write conflicts do not count, and neither do failures while the test disturbs requests by
   * `inject`, `restartServer` or missing permissions.
   *
   * @default {"fail"}
   */
  readonly failures?: "fail" | "collect";
  /**
   * Whether the API server checks the permission to block the deletion of an owner, as clusters
   * with the admission plugin OwnerReferencesPermissionEnforcement do.
   *
   * @default {false}
   */
  readonly ownerReferencesPermissionEnforcement?: boolean;
  /**
   * Whether the operator works only while it holds its Lease.
   *
   * @default {the operator's own setting, or `false` if it has none}
   */
  readonly leaderElection?: boolean;
  /**
   * Request handlers of the services that webhook configurations name, by `namespace/name`. They
   * are called in this process.
   *
   * @default {{}}
   */
  readonly endpoints?: Readonly<Record<string, (request: Request) => Response | Promise<Response>>>;
}

/** Location of an object. */
export interface ObjectLocation {
  /** Name of the namespace. Ignored for cluster-scoped kinds. @default {"default"} */
  readonly namespace?: string;
}

/** Options for {@linkcode MemoryCluster.advance}. */
export interface AdvanceOptions {
  /**
   * Whether the operator's code may fail during the call. The failures are in `cluster.failures`.
   *
   * @default {false}
   */
  readonly allowFailures?: boolean;
}

/** Options for {@linkcode MemoryCluster.settle}. */
export interface SettleOptions extends AdvanceOptions {
  /** How far the clock may advance, so that retries and other short waits end. @default {"1s"} */
  readonly within?: Duration;
  /**
   * How long, in real time, reconciles may wait for something outside the cluster, such as a file,
   * a digest or a socket of their own.
   *
   * @default {"10s"}
   */
  readonly externalTimeout?: Duration;
}

/** Options for {@linkcode MemoryCluster.restartServer}. */
export interface RestartServerOptions {
  /** How long connections are refused, by the cluster's clock. @default {"0s"} */
  readonly downFor?: Duration;
  /** Whether the API server compacts its history, so that no watch can resume. @default {false} */
  readonly compact?: boolean;
}

/** A cluster in the test process. Created by {@linkcode memoryCluster}. */
export interface MemoryCluster extends AsyncDisposable {
  /** Sends a request to the API server as an administrator. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The cluster's clock. Only `settle` and `advance` move it. */
  readonly clock: VirtualClock;
  /** An administrator's client. */
  readonly client: Client;
  /** Connection to the API server, for clients that the test creates. */
  readonly connection: Connection;
  /** All requests so far, in order: those of the operator and those of the test. */
  readonly requests: readonly RequestRecord[];
  /** Returns the requests so far that match a filter, in order. */
  sent(filter: RequestFilter): readonly RequestRecord[];
  /**
   * Returns the RBAC rules that the operator's declarations generate, and whether the operator used
   * each so far. A watch also uses the rule for `list`.
   */
  rbac(): readonly UsedRbacRule[];
  /**
   * Injects a fault into the next requests that match a filter. Faults of watches apply to open
   * watches first.
   *
   * @param fault The fault, created by {@linkcode faults}.
   * @param filter Selects the affected requests, and limits their number. @default {the next
   * request}
   * @returns The injected fault, with the requests that it affected. Disposing of it removes it.
   */
  inject(fault: Fault, filter?: FaultFilter): InjectedFault;
  /**
   * Returns a client that sends requests as another user, with the permissions that roles give to
   * that user. With `rbac: false` the user may do everything.
   */
  as(user: string, options?: { readonly groups?: readonly string[] }): Client;
  /** Creates an object. */
  create<K extends AnyKind>(kind: K, name: string, object: Input<K>, location?: ObjectLocation): Promise<Infer<K>>;
  /** Returns an object. @throws {ApiError} With status 404 if it does not exist. */
  get<K extends AnyKind>(kind: K, name: string, location?: ObjectLocation): Promise<Infer<K>>;
  /** Returns whether an object exists. */
  exists(kind: AnyKind, name: string, location?: ObjectLocation): Promise<boolean>;
  /** Lists the objects of a namespace. */
  list<K extends AnyKind>(kind: K, location?: ObjectLocation): Promise<readonly Infer<K>[]>;
  /** Changes an object by a JSON merge patch. */
  patch<K extends AnyKind>(kind: K, name: string, patch: unknown, location?: ObjectLocation): Promise<Infer<K>>;
  /** Deletes an object. An object with finalizers exists until the last one is removed. */
  delete(kind: AnyKind, name: string, location?: ObjectLocation): Promise<void>;
  /**
   * Runs the operator until it is idle. Advances the clock to timers that are due within a second.
   *
   * @throws {SettleError} If the operator does not become idle, or if its roles reject a request.
   * @throws {OperatorFailedError} If the operator's code failed.
   */
  settle(options?: SettleOptions): Promise<void>;
  /** Log lines of the operator so far, in order, without those of level `debug`. */
  readonly logged: readonly LogLine[];
  /** Returns the metrics of the operator since its start, in the Prometheus text format. */
  metrics(): Promise<string>;
  /** Failures of the operator's code so far, in order, whether they fail the test or not. */
  readonly failures: readonly CodeFailure[];
  /**
   * Advances the clock and runs timers in the order in which they are due.
   *
   * @throws {SettleError} If the operator is never idle, or if its roles reject a request.
   * @throws {OperatorFailedError} If the operator's code failed.
   */
  advance(duration: Duration, options?: AdvanceOptions): Promise<void>;
  /** Stops the operator and starts it again, as a new process would. */
  restart(): Promise<void>;
  /** Restarts the API server: all connections break, and stored objects remain. */
  restartServer(options?: RestartServerOptions): void;
}

/**
 * Creates a cluster in the test process and starts an operator on it. The cluster opens no sockets
 * and never waits for real time.
 *
 * @param options The operator and the cluster's settings.
 * @returns The cluster. Dispose of it at the end of the test.
 * @throws {TypeError} If `rbac.without` names a permission that the operator does not declare.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { controller } from "@op/sdk";
 * import { ConfigMap, Namespace } from "@op/sdk/kinds";
 * import { memoryCluster } from "@op/sdk/testing";
 *
 * const welcome = controller(Namespace, {
 *   owns: [ConfigMap],
 *   async reconcile(namespace, { apply }) {
 *     const { name } = namespace.metadata;
 *     await apply(ConfigMap, {
 *       metadata: { name: "welcome", namespace: name },
 *       data: { text: `This is ${name}` },
 *     });
 *   },
 * });
 *
 * await using cluster = await memoryCluster({ parts: { welcome }, namespaces: ["team"] });
 * await cluster.settle();
 * const created = await cluster.get(ConfigMap, "welcome", { namespace: "team" });
 * assert.equal(created.data?.text, "This is team");
 * ```
 */
export async function memoryCluster(options: MemoryClusterOptions = {}): Promise<MemoryCluster> {
  return await InProcessCluster.create(options);
}

/**
 * Service of the operator's webhooks. In a cluster, a pod serves it. Here, requests to it call the
 * operator in this process.
 */
const WEBHOOK_SERVICE = { namespace: "op-system", name: "operator-webhook", port: 443 };

const ADMINISTRATOR = { name: "administrator", groups: ["system:masters", "system:authenticated"] };

const NAMESPACE_PATH = /^\/api\/v1\/namespaces(\/[^/]+)?$/;

class InProcessCluster implements MemoryCluster {
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly connection: Connection;
  readonly logged: LogLine[] = [];
  readonly #options: MemoryClusterOptions;
  readonly #operator: OperatorDefinition;
  /** Settings from `options.config`. */
  readonly #settings: Settings;
  readonly #server: Apiserver;
  readonly #wire: Wire;
  /** The roles of the operator; `undefined` without authorization. */
  readonly #roles: OperatorRoles | undefined;
  readonly #turns: Turns;
  readonly #dates: DateUse;
  readonly #time: TimeDriver;
  readonly #failures: Failures;
  /** Everything to dispose of after the operator has stopped. */
  readonly #resources = new AsyncDisposableStack();
  #running: Running | undefined;
  #requestsSent = 0;

  static async create(options: MemoryClusterOptions): Promise<InProcessCluster> {
    const cluster = new InProcessCluster(options);
    try {
      await cluster.#install();
      cluster.#running = cluster.#start();
    } catch (error) {
      await cluster.#resources.disposeAsync();
      throw error;
    }
    return cluster;
  }

  private constructor(options: MemoryClusterOptions) {
    this.#options = options;
    this.clock = new VirtualClock(options.start?.getTime());
    const definition = definitionOf(
      options.operator ?? operator({ name: "test", parts: options.parts ?? {}, health: false }),
    );
    this.#operator = options.config === undefined ? definition : definition.withSettings(options.config);
    this.#settings = this.#operator.config?.settings ?? new Map();
    this.connection = { url: "http://memory.cluster", fetch: this.fetch, close() {} };
    this.client = new Client(this.connection, { clock: this.clock, userAgent: "test-client" });
    this.#roles = this.#createRoles();

    // All checks of options are above, because resources are created from here on, and the caller
    // cannot dispose of them if the constructor throws.
    this.#turns = this.#resources.use(new Turns());
    this.#dates = this.#resources.use(new DateUse());
    this.#server = this.#resources.use(createApiserver({
      clock: this.clock,
      rbac: options.rbac !== false,
      ownerReferencesPermissionEnforcement: options.ownerReferencesPermissionEnforcement ?? false,
      service: ({ namespace, name }, request) =>
        namespace === WEBHOOK_SERVICE.namespace && name === WEBHOOK_SERVICE.name
          ? this.#running?.webhooks?.fetch(request)
          : own(options.endpoints, `${namespace}/${name}`)?.(request),
    }));
    this.#wire = new Wire(this.#server, this.clock);
    this.#time = new TimeDriver({
      clock: this.clock,
      server: this.#server,
      wire: this.#wire,
      turns: this.#turns,
      running: () => this.#running!,
      maxTurns: options.maxTurns ?? 20_000,
    });
    this.#failures = new Failures({
      disturbances: () => this.#wire.disturbed + (this.#roles?.rejected ?? 0),
      mask: (text) => withoutSecrets(text, this.#wire.records),
      hint: () => this.#dates.hint,
    });
  }

  readonly fetch = (request: Request): Promise<Response> => this.#send(request, { user: ADMINISTRATOR });

  get requests(): readonly RequestRecord[] {
    return this.#wire.records;
  }

  get failures(): readonly CodeFailure[] {
    return this.#failures.all;
  }

  sent(filter: RequestFilter): readonly RequestRecord[] {
    return this.#wire.records.filter((record) => matches(filter, record));
  }

  rbac(): readonly UsedRbacRule[] {
    return this.#roles?.usage() ?? this.#operator.rbac().map((rule) => ({ ...rule, used: true }));
  }

  inject(fault: Fault, filter: FaultFilter = {}): InjectedFault {
    return this.#wire.inject(fault, filter);
  }

  as(name: string, { groups = [] }: { readonly groups?: readonly string[] } = {}): Client {
    const user = { name, groups: [...groups, "system:authenticated"] };
    const connection = { ...this.connection, fetch: (request: Request) => this.#send(request, { user }) };
    return new Client(connection, { clock: this.clock, userAgent: "test-client" });
  }

  create<K extends AnyKind>(kind: K, name: string, object: Input<K>, location?: ObjectLocation): Promise<Infer<K>> {
    const metadata = { ...(object as Partial<KubeObject>).metadata, name };
    return this.client.create(kind, { ...(object as object), metadata } as Input<K>, namespaceOf(kind, location));
  }

  get<K extends AnyKind>(kind: K, name: string, location?: ObjectLocation): Promise<Infer<K>> {
    return this.client.get(kind, name, namespaceOf(kind, location));
  }

  async exists(kind: AnyKind, name: string, location?: ObjectLocation): Promise<boolean> {
    try {
      await this.get(kind, name, location);
      return true;
    } catch (error) {
      if (isStatus(error, 404)) return false;
      throw error;
    }
  }

  list<K extends AnyKind>(kind: K, location?: ObjectLocation): Promise<readonly Infer<K>[]> {
    return this.client.list(kind, namespaceOf(kind, location));
  }

  patch<K extends AnyKind>(kind: K, name: string, patch: unknown, location?: ObjectLocation): Promise<Infer<K>> {
    return this.client.patch(kind, name, patch, namespaceOf(kind, location));
  }

  async delete(kind: AnyKind, name: string, location?: ObjectLocation): Promise<void> {
    await this.client.delete(kind, name, namespaceOf(kind, location));
  }

  settle({ within = "1s", externalTimeout = "10s", ...rest }: SettleOptions = {}): Promise<void> {
    const until = this.clock.now() + milliseconds(within);
    return this.#report(this.#time.settle(until, milliseconds(externalTimeout)), rest);
  }

  advance(duration: Duration, options: AdvanceOptions = {}): Promise<void> {
    return this.#report(this.#time.advance(this.clock.now() + milliseconds(duration)), options);
  }

  async metrics(): Promise<string> {
    return await this.#running!.metrics.text();
  }

  async restart(): Promise<void> {
    await this.#stop();
    this.#running = this.#start();
  }

  restartServer({ downFor, compact = false }: RestartServerOptions = {}): void {
    if (compact) this.#server.compact();
    this.#wire.goDown(downFor === undefined ? -Infinity : this.clock.now() + milliseconds(downFor));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    await this.#resources.disposeAsync();
    if (this.#roles !== undefined) writeRbacUsage(this.#roles.usage());
    const error = this.#options.failures === "collect" ? undefined : this.#failures.takeLast(this[Symbol.asyncDispose]);
    if (error === undefined) {
      // An error of the test's own assertions cannot contain the hint.
      if (this.#dates.hint !== undefined) console.warn(this.#dates.hint);
      return;
    }
    // If the test failed before, the test runner prints a SuppressedError without either message.
    console.error(error.message);
    throw error;
  }

  #createRoles(): OperatorRoles | undefined {
    const { rbac, visibleNamespaces } = this.#options;
    if (rbac === false) return undefined;
    // Setting up the roles is not recorded among the test's requests.
    const fetch = (request: Request) => this.#server.fetch(request, { user: ADMINISTRATOR });
    const client = new Client({ ...this.connection, fetch }, { clock: this.clock });
    return new OperatorRoles(this.#operator, client, {
      watches: visibleNamespaces ?? runtimeScope(this.#settings).namespaces,
      without: isRules(rbac) || typeof rbac !== "object" ? [] : rbac.without,
      rules: isRules(rbac) ? rbac : undefined,
    });
  }

  /** Creates the namespaces, CRDs, roles and webhook configurations of the operator. */
  async #install(): Promise<void> {
    const { name: operatorName, parts } = this.#operator;
    for (const name of this.#options.namespaces ?? []) await this.client.create(Namespace, { metadata: { name } });
    const place = { place: { service: WEBHOOK_SERVICE } };
    const otherCrds = (this.#options.kinds ?? []).flatMap(({ crd }) => crd ?? []);
    const crds = unique([...this.#operator.crds(), ...externalCrdsOf(Object.values(parts)), ...otherCrds]);
    for (const crd of withConversion(crds, parts, place)) {
      await this.client.create(CustomResourceDefinition, crd as unknown as Input<typeof CustomResourceDefinition>);
    }
    await this.#roles?.install();
    const user = this.#roles === undefined ? {} : { user: this.#roles.user.name };
    const options = { ...place, namespace: WEBHOOK_SERVICE.namespace, ...user };
    for (const configuration of webhookConfigurations(operatorName, parts, options)) {
      const kind = configuration.kind === MutatingWebhookConfiguration.kind
        ? MutatingWebhookConfiguration
        : ValidatingWebhookConfiguration;
      await this.client.create<AnyKind>(kind, configuration);
    }
  }

  /** Starts the operator. */
  #start(): Running {
    const { visibleNamespaces, leaderElection, checkAccess = false } = this.#options;
    const roles = this.#roles;
    const connection: Connection = roles === undefined ? this.connection : {
      ...this.connection,
      fetch: (request) =>
        this.#send(request, {
          user: roles.user,
          onDenied: (error) => roles.noteDenied(error),
          onResponse: (record, response) => roles.noteUse(record, response),
        }),
    };
    const running = startOperator(this.#operator, {
      connection,
      clock: this.clock,
      // Fixed, so that backoffs are the same in each run of a test.
      random: () => 0.5,
      onLog: (line) => void (line.level !== "debug" && this.logged.push(line)),
      observe: this.#failures.observe,
      checkAccess,
      ...runtimeScope(this.#settings),
      ...skippedParts(this.#settings),
      ...(visibleNamespaces === undefined ? {} : { namespaces: visibleNamespaces }),
      ...("services" in this.#options ? { services: this.#options.services } : {}),
      ...(leaderElection === undefined ? {} : { leaderElection }),
    });
    running.pause(isPaused(this.#settings));
    return running;
  }

  /** Stops the operator. Rejects if it failed. */
  async #stop(): Promise<void> {
    const { ended } = this.#running!;
    await this.#time.until(this.#running!.stop());
    await ended;
  }

  async #send(request: Request, options: WireOptions): Promise<Response> {
    if (++this.#requestsSent % REQUESTS_PER_TURN === 0) await this.#turns.next();
    const response = await this.#wire.send(request, options);
    if (response.status === 201 && NAMESPACE_PATH.test(new URL(request.url).pathname)) {
      await this.#roles?.onNamespaceCreated();
    }
    return response;
  }

  /** Waits until the cluster is idle, and throws if the operator failed or lacked permissions. */
  async #report(idle: Promise<void>, { allowFailures = false }: AdvanceOptions): Promise<void> {
    let settleError: unknown;
    try {
      await idle;
    } catch (error) {
      settleError = error;
    }
    // A rejected request or a failure is usually the reason why the operator did not become idle.
    const forbidden = this.#options.forbiddenRequests === "allow" ? undefined : this.#roles?.takeMissing();
    if (forbidden !== undefined) throw forbidden;
    if (allowFailures || this.#options.failures === "collect") this.#failures.accept();
    const failed = this.#failures.take(this.#report, settleError);
    const { hint } = this.#dates;
    if (failed === undefined && settleError instanceof Error && hint !== undefined) settleError.message += `\n${hint}`;
    const error = failed ?? settleError;
    if (error !== undefined) throw error;
  }
}

function isRules(rbac: MemoryClusterOptions["rbac"]): rbac is readonly PolicyRule[] {
  return Array.isArray(rbac);
}

function namespaceOf(kind: AnyKind, { namespace = "default" }: ObjectLocation = {}): { namespace?: string } {
  return kind.namespaced ? { namespace } : {};
}

function unique(crds: readonly CustomResourceDefinitionManifest[]): CustomResourceDefinitionManifest[] {
  return [...new Map(crds.map((crd) => [crd.metadata.name, crd])).values()];
}
