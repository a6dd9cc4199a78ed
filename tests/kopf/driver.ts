/**
 * Plays a scenario on a real API server and records it: calls of handlers, objects, Events and
 * responses. Whatever differs between two runs (names, uids, times, ports) is replaced.
 */
import assert from "node:assert/strict";
import { isObject } from "../../src/base/json.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { eventually } from "../eventually.ts";
import type { Action, Manifest, ObjectPath, Plural, RecordedStep, Scenario } from "./scenario.ts";
import { Switchboard } from "./switchboard.ts";

const PATHS: Readonly<Record<Plural, string>> = {
  kopfexamples: "/apis/example.com/v1",
  pods: "/api/v1",
  deployments: "/apis/apps/v1",
  replicasets: "/apis/apps/v1",
};

/** How long to wait for one condition, in milliseconds. Guards against hangs only. */
const LIMIT = 90_000;

/** The definitions that all scenarios need. */
const DEFINITIONS = [
  definition("example.com", "KopfExample", "kopfexamples", { shortNames: ["kex"] }),
  definition("kopf.dev", "KopfPeering", "kopfpeerings", {}),
];

/** Options of {@linkcode StartOperator}. */
export interface OperatorOptions {
  readonly scenario: Scenario;
  readonly namespace: string;
  /** URL of the driver's {@linkcode Switchboard}. */
  readonly driver: string;
  /** Name of the operator in the scenario. */
  readonly operator: string;
}

/** A running operator. */
export interface OperatorProcess {
  /** Ends it and waits until it has ended. */
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Last lines of its log, for error messages. */
  log(): string;
}

/** Starts operators of one side: kopf's or ours. */
export type StartOperator = (options: OperatorOptions) => Promise<OperatorProcess>;

/** Prepares a cluster for all scenarios. */
export async function prepare(cluster: RealCluster): Promise<void> {
  for (const each of DEFINITIONS) {
    await send(cluster, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", each);
    const { group, names, versions } = each.spec;
    await eventually(async () => {
      const response = await cluster.fetch(`/apis/${group}/${versions[0]!.name}/namespaces/default/${names.plural}`);
      await response.body?.cancel();
      return response.ok;
    });
  }
}

/**
 * Plays a scenario in a namespace of its own.
 *
 * @returns What happened in each step.
 */
export async function play(
  scenario: Scenario,
  cluster: RealCluster,
  startOperator: StartOperator,
): Promise<RecordedStep[]> {
  const namespace = scenario.name.replaceAll("_", "-");
  await using player = new Player(scenario, namespace, cluster, startOperator);
  return await player.play();
}

class Player implements AsyncDisposable {
  readonly #switchboard: Switchboard;
  readonly #operators = new Map<string, OperatorProcess>();
  /** Uids of the Events that earlier steps recorded. */
  readonly #recordedEvents = new Set<string>();
  /** Names that the API server generated, with what replaces them. */
  readonly #generatedNames = new Map<string, string>();
  #responses: unknown[] = [];

  constructor(
    private readonly scenario: Scenario,
    private readonly namespace: string,
    private readonly cluster: RealCluster,
    private readonly startOperator: StartOperator,
  ) {
    const actions = scenario.steps.flatMap(({ actions }) => actions);
    const operators = new Set(actions.flatMap((action) => action.do === "start" ? [action.operator] : []));
    this.#switchboard = new Switchboard(operators.size > 1);
  }

  async play(): Promise<RecordedStep[]> {
    const { scenario, namespace, cluster } = this;
    await send(cluster, "POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    await eventually(async () => {
      const response = await cluster.fetch(`/api/v1/namespaces/${namespace}/serviceaccounts/default`);
      await response.body?.cancel();
      return response.ok;
    });
    if (scenario.peers) {
      const peering = { apiVersion: "kopf.dev/v1", kind: "KopfPeering", metadata: { name: "default" } };
      await send(cluster, "POST", `/apis/kopf.dev/v1/namespaces/${namespace}/kopfpeerings`, peering);
    }
    const steps: RecordedStep[] = [];
    for (const { name, actions, settles = true } of scenario.steps) {
      this.#switchboard.beginStep();
      this.#responses = [];
      for (const action of actions) await this.#act(action, name);
      await this.#wait(
        `${scenario.name}, "${name}": to come to rest`,
        () => settles ? this.#assertSettled() : this.#assertNoOpenCalls(),
      );
      steps.push(await this.#recorded(name));
    }
    return steps;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#operators.values()].map((operator) => operator.stop("SIGKILL")));
    await this.#switchboard[Symbol.asyncDispose]();
  }

  async #act(action: Action, step: string): Promise<void> {
    const board = this.#switchboard;
    const wait = (check: () => boolean | Promise<boolean>) =>
      this.#wait(`${this.scenario.name}, "${step}": ${JSON.stringify(action)}`, check);
    switch (action.do) {
      case "start":
        await this.#start(action.operator);
        if (action.standby) break;
        await wait(() => {
          const { listed } = board.state(action.operator);
          return this.scenario.watches.every((plural) => listed.has(plural));
        });
        break;
      case "stop":
        await this.#operators.get(action.operator)?.stop(action.signal);
        this.#operators.delete(action.operator);
        board.ended(action.operator);
        break;
      case "create":
        await this.#write("POST", this.#path(pluralOf(action.object)), action.object, action.recorded);
        break;
      case "patch": {
        const path = `${this.#path(action.object)}${action.subresource ? `/${action.subresource}` : ""}`;
        await this.#write("PATCH", path, action.patch, action.recorded);
        break;
      }
      case "delete":
        await this.#write("DELETE", this.#path(action.object), undefined, undefined);
        break;
      case "answer":
        board.answer(action.handler, action.answers);
        break;
      case "hold":
        board.hold(action.handler, action.skipped);
        break;
      case "awaitHeld":
        await wait(() => board.isHeld(action.handler));
        break;
      case "release":
        board.release(action.handler);
        break;
      case "awaitCalls":
        await wait(() => board.count(action.handler) >= action.count);
        break;
      case "awaitPaused":
      case "awaitResumed":
        await wait(() => board.state(action.operator).isPaused === (action.do === "awaitPaused"));
        break;
      case "awaitWebhooks":
        await wait(async () => {
          const path = `${this.#path(pluralOf(action.object))}?dryRun=All`;
          const body = JSON.stringify(action.object);
          const headers = { "content-type": "application/json" };
          const response = await this.cluster.fetch(path, { method: "POST", body, headers });
          await response.body?.cancel();
          return response.headers.has("warning");
        });
        break;
      case "awaitDeleted":
        await wait(async () => {
          const response = await this.cluster.fetch(this.#path(action.object));
          await response.body?.cancel();
          return response.status === 404;
        });
        break;
    }
  }

  async #start(operator: string): Promise<void> {
    this.#switchboard.started(operator);
    const { scenario, namespace } = this;
    const process = await this.startOperator({ scenario, namespace, driver: this.#switchboard.url, operator });
    this.#operators.set(operator, process);
  }

  async #write(method: string, path: string, body: unknown, recorded: true | undefined): Promise<void> {
    const response = await this.cluster.fetch(path, {
      method,
      ...body !== undefined && { body: JSON.stringify(body) },
      headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
    });
    const result = await response.json();
    if (!recorded) {
      assert(response.ok, `${this.scenario.name}: ${method} ${path}: ${response.status} ${JSON.stringify(result)}`);
      return;
    }
    const warning = response.headers.get("warning");
    this.#responses.push({
      status: response.status,
      ...!response.ok && { message: result.message },
      ...warning !== null && { warning },
    });
  }

  /** Waits for a condition. The error has the operators' logs. */
  async #wait(what: string, check: () => Promise<unknown> | unknown): Promise<void> {
    const state = () => [...this.#operators].map(([name, operator]) => `${name}:\n${operator.log()}`).join("\n");
    try {
      await eventually(check, { limit: LIMIT, pause: 50, state });
    } catch (error) {
      throw new Error(`waited in vain for ${what}`, { cause: error });
    }
  }

  /**
   * Asserts that the operators have processed the current version of every object and wait for
   * changes: no call is open, no Event is waiting, no child of a deleted object is left.
   */
  async #assertSettled(): Promise<void> {
    const board = this.#switchboard;
    // Copied before the lists: an operator that is idle now acts only on a version that it has not
    // processed, and the lists have that version.
    const states = new Map([...this.#operators.keys()].map((operator) => {
      const state = board.state(operator);
      return [operator, { ...state, versions: new Map(state.versions) }];
    }));
    this.#assertNoOpenCalls();
    const listed = await Promise.all(this.#recordedKinds().map((plural) => this.#list(plural)));
    const objects = listed.flat();
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    for (const { metadata } of objects) {
      const orphans = (metadata.ownerReferences ?? []).filter(({ uid }: { uid: string }) => !uids.has(uid));
      assert.deepEqual(orphans, [], `${metadata.name} is not collected yet`);
    }
    if (this.#recordedKinds().includes("deployments")) {
      for (const { metadata, status } of await this.#list("deployments")) {
        // The deployment controller writes to its objects, too.
        assert.equal(status?.observedGeneration, metadata.generation, `${metadata.name} is not rolled out`);
        assert(metadata.annotations?.["deployment.kubernetes.io/revision"], `${metadata.name} has no revision`);
      }
    }
    for (const [operator, state] of states) {
      assert.equal(state.pendingEvents, 0, "Events are pending");
      if (state.isPaused) continue;
      for (const [index, plural] of this.#recordedKinds().entries()) {
        if (!state.listed.has(plural)) continue;
        for (const { metadata } of listed[index]!) {
          const seen = state.versions.get(metadata.uid);
          assert.equal(seen?.version, metadata.resourceVersion, `${metadata.name} is not processed by "${operator}"`);
        }
      }
      for (const [uid, { type, isProcessing }] of state.versions) {
        assert(!isProcessing, `"${operator}" processes ${uid}`);
        // Operators of built-in kinds see objects of other namespaces only if they watch them.
        assert(type === "DELETED" || uids.has(uid), `"${operator}" does not know that ${uid} is deleted`);
      }
    }
  }

  #assertNoOpenCalls(): void {
    assert.deepEqual(this.#switchboard.open, [], "calls are open");
  }

  #recordedKinds(): Plural[] {
    return [...this.scenario.watches, ...this.scenario.children ?? []];
  }

  #path(object: Plural | ObjectPath): string {
    const [plural, name] = object.split("/") as [Plural, string?];
    const path = `${PATHS[plural]}/namespaces/${this.namespace}/${plural}`;
    return name === undefined ? path : `${path}/${name}`;
  }

  // deno-lint-ignore no-explicit-any -- objects of any kind
  async #list(plural: Plural): Promise<any[]> {
    const { items } = await send(this.cluster, "GET", this.#path(plural));
    return items;
  }

  async #recorded(step: string): Promise<RecordedStep> {
    const objects: unknown[] = [];
    for (const plural of this.#recordedKinds()) {
      for (const object of await this.#list(plural)) {
        const { name, generateName } = object.metadata;
        if (generateName) this.#generatedNames.set(name, `${generateName}<generated>`);
        objects.push(essence(plural, object));
      }
    }
    const { items } = await send(this.cluster, "GET", `/api/v1/namespaces/${this.namespace}/events`);
    // deno-lint-ignore no-explicit-any -- core/v1 Events
    const events = items.filter(({ metadata }: any) => !this.#recordedEvents.has(metadata.uid)).map((event: any) => {
      this.#recordedEvents.add(event.metadata.uid);
      const { type, reason, message = "", involvedObject: { kind, name } } = event;
      return `${kind}/${name}: ${type} ${reason}: ${message}`;
    });
    const recorded = this.#normalized({
      step,
      calls: this.#switchboard.calls(),
      ...this.#responses.length > 0 && { responses: this.#responses },
      objects,
      events,
    }) as RecordedStep;
    return {
      ...recorded,
      objects: recorded.objects.toSorted((one, other) => JSON.stringify(one) < JSON.stringify(other) ? -1 : 1),
      events: recorded.events.toSorted(),
    };
  }

  #normalized(value: unknown): unknown {
    if (typeof value === "string") return this.#normalizedString(value);
    if (Array.isArray(value)) return value.map((each) => this.#normalized(each));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [this.#normalizedString(key), this.#normalized(each)]),
    );
  }

  #normalizedString(text: string): string {
    let result = text.replaceAll(this.namespace, "<namespace>");
    for (const [name, replacement] of this.#generatedNames) result = result.replaceAll(name, replacement);
    return result
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>")
      .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?/g, "<time>")
      .replaceAll(/127\.0\.0\.1:\d+|localhost:\d+/g, "<address>")
      .replaceAll(/\d+:\d\d:\d\d\.\d+/g, "<duration>");
  }
}

/** containerd rejects Pods whose labels and annotations are larger. */
const LARGEST_POD_METADATA = 4096;

/**
 * Returns what a recording has of an object. Specs of built-in kinds are the API server's matter.
 */
// deno-lint-ignore no-explicit-any -- an object of any kind
function essence(plural: Plural, { metadata, spec, status }: any): unknown {
  const { name, labels, annotations, finalizers, ownerReferences, deletionTimestamp } = metadata;
  const isKopfs = (key: string) => key.startsWith("kopf.");
  const { kopf: _, ...rest } = status ?? {};
  const size = JSON.stringify({ labels, annotations }).length;
  return {
    object: `${plural}/${name}`,
    ...labels && { labels },
    ...annotations && {
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [key, isKopfs(key) ? "<stored>" : value]),
      ),
    },
    ...size > LARGEST_POD_METADATA && { metadataIsLargerThan: LARGEST_POD_METADATA },
    ...finalizers && { finalizers },
    ...ownerReferences && { ownerReferences },
    ...deletionTimestamp && { isDeleting: true },
    ...plural === "kopfexamples" && { spec, ...Object.keys(rest).length > 0 && { status: rest } },
  };
}

function pluralOf({ kind }: Manifest): Plural {
  return `${kind.toLowerCase()}s` as Plural;
}

// deno-lint-ignore no-explicit-any -- a response of any kind
async function send(cluster: RealCluster, method: string, path: string, body?: unknown): Promise<any> {
  const response = await cluster.fetch(path, {
    method,
    ...body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } },
  });
  const result = await response.json();
  assert(response.ok, `${method} ${path}: ${response.status} ${JSON.stringify(result)}`);
  return result;
}

function definition(group: string, kind: string, plural: string, names: object) {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), ...names },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        ...group === "example.com" && { subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } },
      }],
    },
  };
}
