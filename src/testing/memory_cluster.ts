/** A cluster in the test process: the API server as a function, an operator on it, and a clock that stands still. */
import { own } from "../base/own.ts";
import { type Duration, milliseconds } from "../base/duration.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { createApiserver } from "../apiserver/mod.ts";
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
import type { Operator } from "../operator/operator_value.ts";
import { isPaused, runtimeScope, skippedParts } from "../operator/run_settings.ts";
import type { LogLine } from "../operator/heard_log.ts";
import { type Running, startOperator } from "../operator/running.ts";
import type { Settings } from "../operator/settings.ts";
import type { Part } from "../parts/controller.ts";
import type { AnyKind, CustomResourceDefinitionManifest, Infer, Input, KubeObject } from "../resource/kind.ts";
import type { CodeFailure } from "../runtime/code_failure.ts";
import { withoutSecrets } from "./_confidential.ts";
import { DateUse } from "./_date_use.ts";
import { Failures } from "./_failures.ts";
import { OperatorRoles } from "./_roles.ts";
import { stillness } from "./_stillness.ts";
import { Turns } from "./_turns.ts";
import { tellUsedRights } from "./_used_rights.ts";
import { type FaultFilter, type Injected, Wire, type WireOptions } from "./_wire.ts";
import type { Fault } from "./faults.ts";
import { isMeant, type RequestFilter, type RequestRecord } from "./request_log.ts";
import type { PolicyRule, UsedRight } from "./rights.ts";

const REQUESTS_A_TURN = 16;

/** Options of {@linkcode memoryCluster}. */
export interface MemoryClusterOptions {
  /** Parts to run, as an operator of the name "test". @default {none} */
  readonly parts?: Readonly<Record<string, Part>>;
  /** An operator to run, in place of `parts`. @default {one of `parts`} */
  readonly operator?: Operator;
  /** What its `operator.toml` says, as text: limits, namespaces, a selector, pauses. @default {nothing: as the code says} */
  readonly config?: string;
  /** Kinds to install beside those of the operator. @default {none} */
  readonly kinds?: readonly AnyKind[];
  /** Services in place of those that the operator makes. @default {those that the operator makes} */
  readonly services?: unknown;
  /** The only namespaces that the operator looks at. @default {all} */
  readonly namespacesSeen?: readonly string[];
  /** Namespaces to make beside those that every cluster has. @default {none} */
  readonly namespaces?: readonly string[];
  /** How many turns of the event loop `settle` gives an operator that always has something more to do. @default {20_000} */
  readonly patience?: number;
  /** Whether the operator asks at start what it may do, as it does on a real cluster. @default {false: what its roles refuse makes the test fail} */
  readonly checkAccess?: boolean;
  /** The first time of the clock. @default {2030-01-01T00:00:00Z} */
  readonly start?: Date;
  /**
   * What the operator may do; the server refuses it all else. The test's own requests are an administrator's.
   *
   * The operator runs as a service account in `default`, under the roles made from its declarations, as it will in a cluster; `without` leaves rights out,
   * such as `patch configmaps`. A list of rules takes their place, as a ClusterRole; `false` lets it do everything.
   *
   * @default {the roles made from its declarations}
   */
  readonly rbac?: boolean | { readonly without: readonly string[] } | readonly PolicyRule[];
  /**
   * What happens when the operator does what its roles refuse: `settle` and `advance` fail and name the line that is missing, or nothing.
   *
   * @default {"fail"}
   */
  readonly refusals?: "fail" | "allow";
  /**
   * What happens when the operator's code fails: when a reconcile or cleanup throws anything but `TemporaryError` and `PermanentError`, or a webhook, a
   * conversion or a function of a declaration throws. `"fail"`: the next `settle` or `advance` rejects with an {@linkcode OperatorFailedError}, or
   * else disposing of the cluster does. `"collect"`: the failures are only in `cluster.failures`.
   *
   * Lost races of two writers, and failures while the test itself disturbs requests (`inject`, `restartServer`, missing permissions), do not count.
   *
   * @default {"fail"}
   */
  readonly failures?: "fail" | "collect";
  /** Whether the server checks who blocks the deletion of an owner, as some clusters do. @default {false} */
  readonly checksOwners?: boolean;
  /** Whether the operator works only while it leads. @default {what the operator says; where that leaves it open: no} */
  readonly leaderElection?: boolean;
  /**
   * Who answers for the services that webhook configurations name, by `namespace/name`: handlers of requests, called in this process.
   *
   * @default {nobody}
   */
  readonly endpoints?: Readonly<Record<string, (request: Request) => Response | Promise<Response>>>;
}

/** Where an object is. */
export interface Place {
  /** A namespace's name; of a kind that lives in none it is not looked at. @default {"default"} */
  readonly namespace?: string;
}

/** Options of {@linkcode MemoryCluster.advance}. */
export interface AdvanceOptions {
  /** Whether the operator's code may fail until the call ends. The failures are in `cluster.failures`. @default {false} */
  readonly allowFailures?: boolean;
}

/** Options of {@linkcode MemoryCluster.settle}. */
export interface SettleOptions extends AdvanceOptions {
  /** How far time may move, so that retries and other short waits happen. @default {"1s"} */
  readonly within?: Duration;
  /** How long, of real time, reconcilers may wait for what is not the cluster's: a file, a digest, a socket of their own. @default {"10s"} */
  readonly foreign?: Duration;
}

/** Options of {@linkcode MemoryCluster.restartServer}. */
export interface RestartServerOptions {
  /** How long nothing can be reached, by the cluster's clock. @default {not at all} */
  readonly downFor?: Duration;
  /** Whether history is forgotten, so that no watch can go on from where it was. @default {false} */
  readonly compact?: boolean;
}

/** A cluster in the test process. */
export interface MemoryCluster extends AsyncDisposable {
  /** The server: every request goes through it, also all of the operator's. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Its time, which stands still but for `settle` and `advance`. */
  readonly clock: VirtualClock;
  /** A client of the server. */
  readonly client: Client;
  /** The way to the server, for a client of one's own. */
  readonly connection: Connection;
  /** All requests so far, in order: the operator's, and the test's own. */
  readonly requests: readonly RequestRecord[];
  /** The requests so far that are meant, in order. */
  sent(filter: RequestFilter): readonly RequestRecord[];
  /** The rights that the operator's declarations ask for, and whether each was used so far. A list counts where a stream took its place. */
  rights(): readonly UsedRight[];
  /**
   * Lets something go wrong with the next requests that are meant. A fault of watches befalls those that are open first.
   *
   * @param fault What goes wrong: one of {@linkcode faults}.
   * @param filter Which requests, and how many. @default {the next one}
   * @returns What it has befallen; disposing of it takes it back.
   */
  inject(fault: Fault, filter?: FaultFilter): Injected;
  /** A client whose requests are another user's, who may do what roles give him; everything with `rbac: false`. */
  as(user: string, options?: { readonly groups?: readonly string[] }): Client;
  /** Creates an object. */
  create<K extends AnyKind>(kind: K, name: string, object: Input<K>, place?: Place): Promise<Infer<K>>;
  /** Reads an object. @throws {ApiError} With status 404 if there is none. */
  get<K extends AnyKind>(kind: K, name: string, place?: Place): Promise<Infer<K>>;
  /** Whether there is an object. */
  exists(kind: AnyKind, name: string, place?: Place): Promise<boolean>;
  /** Lists the objects of a namespace. */
  list<K extends AnyKind>(kind: K, place?: Place): Promise<readonly Infer<K>[]>;
  /** Changes an object by a JSON merge patch. */
  patch<K extends AnyKind>(kind: K, name: string, patch: unknown, place?: Place): Promise<Infer<K>>;
  /** Deletes an object. What holds a finalizer goes when that is taken off. */
  delete(kind: AnyKind, name: string, place?: Place): Promise<void>;
  /**
   * Runs all that is due, and what falls due within a second, until nothing is left to do.
   *
   * @throws {Error} If that never comes: the message says who is still busy.
   * @throws {OperatorFailedError} If the operator's code failed.
   */
  settle(options?: SettleOptions): Promise<void>;
  /** The lines of the operator's log so far, in order, those of the level `debug` aside. */
  readonly logged: readonly LogLine[];
  /** What the operator counted since it started, as Prometheus' text: its own metrics and those of the runtime. */
  metrics(): Promise<string>;
  /** Failures of the operator's code so far, in order, whether they fail the test or not. */
  readonly failures: readonly CodeFailure[];
  /**
   * Lets time pass, running what falls due in its order.
   *
   * @throws {OperatorFailedError} If the operator's code failed.
   */
  advance(duration: Duration, options?: AdvanceOptions): Promise<void>;
  /** Stops the operator and starts it again, as a new process would. */
  restart(): Promise<void>;
  /** Lets the API server go down and come up again: watches break, what is stored stays. */
  restartServer(options?: RestartServerOptions): void;
}

/**
 * A cluster in the test process, with an operator running on it. Nothing in it waits for real time, and nothing leaves the process.
 *
 * @param options What runs on it.
 * @returns The cluster; to be disposed of.
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
 *     await apply(ConfigMap, { metadata: { name: "welcome", namespace: name }, data: { text: `This is ${name}` } });
 *   },
 * });
 *
 * await using cluster = await memoryCluster({ parts: { welcome }, namespaces: ["team"] });
 * await cluster.settle();
 * const made = await cluster.get(ConfigMap, "welcome", { namespace: "team" });
 * assert.equal(made.data?.text, "This is team");
 * ```
 */
export async function memoryCluster(options: MemoryClusterOptions = {}): Promise<MemoryCluster> {
  const clock = new VirtualClock(options.start?.getTime());
  let running: Running | undefined;
  await using made = new AsyncDisposableStack();
  const turns = made.use(new Turns());
  const dates = made.use(new DateUse());
  const server = made.use(createApiserver({
    clock,
    rbac: options.rbac !== false,
    checksOwners: options.checksOwners ?? false,
    service: ({ namespace, name }, request) =>
      `${namespace}/${name}` === `${PLACE.namespace}/${PLACE.name}`
        ? running?.webhooks?.fetch(request)
        : own(options.endpoints, `${namespace}/${name}`)?.(request),
  }));
  const wire = new Wire(server, clock);
  let asked = 0;
  const send = async (request: Request, options: WireOptions = {}): Promise<Response> => {
    // All else goes on in one turn of the event loop: controllers that answer each other for ever must not keep the test from its own.
    if (++asked % REQUESTS_A_TURN === 0) await turns.next();
    const response = await wire.send(request, options);
    if (response.status === 201 && NAMESPACE.test(new URL(request.url).pathname)) await roles?.namespaceMade();
    return response;
  };
  const fetch = (request: Request) => send(request, { user: ADMINISTRATOR });
  const connection: Connection = { url: "http://memory.cluster", fetch, close() {} };
  const client = new Client(connection, { clock, userAgent: "test-client" });
  const coded = options.operator ?? operator({ name: "test", parts: options.parts ?? {}, health: false });
  const op = options.config === undefined ? coded : coded.configured(options.config);
  const settings: Settings = op.config?.settings ?? new Map();

  // The roles are there before anything else, and are none of the test's own requests.
  const direct: Connection = { ...connection, fetch: (request) => server.fetch(request, { user: ADMINISTRATOR }) };
  const roles = options.rbac === false ? undefined : new OperatorRoles(op, new Client(direct, { clock }), {
    watches: options.namespacesSeen ?? runtimeScope(settings).namespaces,
    without: isRules(options.rbac) || typeof options.rbac !== "object" ? [] : options.rbac.without,
    rules: isRules(options.rbac) ? options.rbac : undefined,
  });
  for (const name of options.namespaces ?? []) await client.create(Namespace, { metadata: { name } });
  const kinds = (options.kinds ?? []).flatMap(({ crd }) => crd ?? []);
  const place = { place: { service: PLACE } };
  for (
    const crd of withConversion(
      unique([...op.crds(), ...externalCrdsOf(Object.values(op.parts)), ...kinds]),
      op.parts,
      place,
    )
  ) {
    await client.create(CustomResourceDefinition, crd as unknown as Input<typeof CustomResourceDefinition>);
  }
  const scope = {
    checkAccess: options.checkAccess ?? false,
    ...runtimeScope(settings),
    ...skippedParts(settings),
    ...(options.namespacesSeen === undefined ? {} : { namespaces: options.namespacesSeen }),
    ...("services" in options ? { services: options.services } : {}),
    ...(options.leaderElection === undefined ? {} : { leaderElection: options.leaderElection }),
  };
  await roles?.install();
  const origin = { namespace: PLACE.namespace, ...(roles === undefined ? {} : { user: roles.user.name }) };
  for (const configuration of webhookConfigurations(op.name, op.parts, { ...place, ...origin })) {
    const kind = configuration.kind === MutatingWebhookConfiguration.kind
      ? MutatingWebhookConfiguration
      : ValidatingWebhookConfiguration;
    await client.create<AnyKind>(kind, configuration);
  }
  // The spread of waiting times is fixed, so that a test runs the same way each time.
  const way: Connection = {
    ...connection,
    fetch: (request) =>
      roles === undefined
        ? fetch(request)
        : send(request, { user: roles.user, answered: (record, response) => roles.note(record, response) }),
  };
  const failIfRefused = (): void => {
    const error = options.refusals === "allow" ? undefined : roles?.takeRefusals();
    if (error !== undefined) throw error;
  };
  const failures = new Failures({
    disturbances: () => wire.disturbed + (roles?.rejected ?? 0),
    mask: (text) => withoutSecrets(text, wire.records),
    hint: () => dates.hint,
  });
  const untilStill = async (still: Promise<void>, { allowFailures = false }: AdvanceOptions): Promise<void> => {
    let unsettled: unknown;
    try {
      await still;
    } catch (error) {
      unsettled = error;
    }
    // What was rejected or failed is usually the reason why the operator did not come to rest.
    failIfRefused();
    if (allowFailures || options.failures === "collect") failures.accept();
    const failed = failures.take(untilStill, unsettled);
    if (failed === undefined && unsettled instanceof Error && dates.hint !== undefined) {
      unsettled.message += `\n${dates.hint}`;
    }
    const error = failed ?? unsettled;
    if (error !== undefined) throw error;
  };
  const logged: LogLine[] = [];
  const start = (): Running => {
    const running = startOperator(op, {
      connection: way,
      clock,
      random: () => 0.5,
      onLog: (line) => void (line.level !== "debug" && logged.push(line)),
      observe: failures.observe,
      ...scope,
    });
    running.pause(isPaused(settings));
    return running;
  };
  running = start();
  const still = stillness({
    clock,
    server,
    running: () => running!,
    wire,
    turns,
    patience: options.patience ?? 20_000,
  });

  const owned = made.move();
  const dispose = async (): Promise<void> => {
    await still.until(running![Symbol.asyncDispose]());
    await owned.disposeAsync();
    if (roles !== undefined) tellUsedRights(roles.usage());
    const error = options.failures === "collect" ? undefined : failures.takeLast(dispose);
    if (error === undefined) {
      // No error of the test's own assertions can say so.
      if (dates.hint !== undefined) console.warn(dates.hint);
      return;
    }
    // Where the test failed already, its runner prints neither that error nor this one.
    console.error(error.message);
    throw error;
  };
  return {
    fetch,
    clock,
    client,
    connection,
    requests: wire.records,
    sent: (filter) => wire.records.filter((record) => isMeant(filter, record)),
    rights: () => roles?.usage() ?? op.rbac().map((right) => ({ ...right, used: true })),
    inject: (fault, filter = {}) => wire.inject(fault, filter),
    as: (name, { groups = [] } = {}) => {
      const user = { name, groups: [...groups, "system:authenticated"] };
      const way = { ...connection, fetch: (request: Request) => send(request, { user }) };
      return new Client(way, { clock, userAgent: "test-client" });
    },
    create: (kind, name, object, place) => {
      const metadata = { ...(object as Partial<KubeObject>).metadata, name };
      return client.create(kind, { ...(object as object), metadata } as Input<typeof kind>, placeOf(kind, place));
    },
    get: (kind, name, place) => client.get(kind, name, placeOf(kind, place)),
    exists: async (kind, name, place) => {
      try {
        await client.get(kind, name, placeOf(kind, place));
        return true;
      } catch (error) {
        if (isStatus(error, 404)) return false;
        throw error;
      }
    },
    list: (kind, place) => client.list(kind, placeOf(kind, place)),
    patch: (kind, name, patch, place) => client.patch(kind, name, patch, placeOf(kind, place)),
    delete: async (kind, name, place) => void await client.delete(kind, name, placeOf(kind, place)),
    settle: ({ within = "1s", foreign = "10s", ...rest } = {}) =>
      untilStill(still.settle(clock.now() + milliseconds(within), milliseconds(foreign)), rest),
    logged,
    failures: failures.all,
    metrics: async () => await running!.metrics.text(),
    advance: (duration, options = {}) => untilStill(still.advance(clock.now() + milliseconds(duration)), options),
    restart: async () => {
      const ended = running![Symbol.asyncDispose]();
      await still.until(ended);
      running = start();
    },
    restartServer: ({ downFor, compact = false } = {}) => {
      if (compact) server.compact();
      wire.goDown(downFor === undefined ? -Infinity : clock.now() + milliseconds(downFor));
    },
    [Symbol.asyncDispose]: dispose,
  };
}

/** Where the operator's webhooks are called: as behind its Service in a cluster, and answered in this process. */
const PLACE = { namespace: "op-system", name: "operator-webhook", port: 443 };

const ADMINISTRATOR = { name: "administrator", groups: ["system:masters", "system:authenticated"] };

/** Where namespaces are made. */
const NAMESPACE = /^\/api\/v1\/namespaces(\/[^/]+)?$/;

function isRules(rbac: MemoryClusterOptions["rbac"]): rbac is readonly PolicyRule[] {
  return Array.isArray(rbac);
}

function placeOf(kind: AnyKind, { namespace = "default" }: Place = {}): { namespace?: string } {
  return kind.namespaced ? { namespace } : {};
}

function unique(crds: readonly CustomResourceDefinitionManifest[]): CustomResourceDefinitionManifest[] {
  return [...new Map(crds.map((crd) => [crd.metadata.name, crd])).values()];
}
