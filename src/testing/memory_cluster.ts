/** A cluster in the test process: the API server as a function, an operator on it, and a clock that stands still. */
import { type Duration, milliseconds } from "../base/duration.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { createApiserver } from "../apiserver/mod.ts";
import { isStatus } from "../kube/api_error.ts";
import { Client } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import { CustomResourceDefinition, Namespace } from "../kinds/mod.ts";
import { type Operator, operator } from "../operator/operator.ts";
import { type Running, startOperator } from "../operator/running.ts";
import type { Part } from "../parts/controller.ts";
import type { AnyKind, CustomResourceDefinitionManifest, Infer, Input, KubeObject } from "../resource/kind.ts";
import { stillness } from "./_stillness.ts";
import { Turns } from "./_turns.ts";

const REQUESTS_A_TURN = 16;

/** Options of {@linkcode memoryCluster}. */
export interface MemoryClusterOptions {
  /** Parts to run, as an operator of the name "test". */
  readonly parts?: Readonly<Record<string, Part>>;
  /** An operator to run, in place of `parts`. */
  readonly operator?: Operator;
  /** Kinds to install beside those of the operator. */
  readonly kinds?: readonly AnyKind[];
  /** The only namespace that the operator looks at. @default {all} */
  readonly namespace?: string;
  /** Namespaces to make beside those that every cluster has. */
  readonly namespaces?: readonly string[];
  /** How many turns of the event loop `settle` gives an operator that always has something more to do. @default {20_000} */
  readonly patience?: number;
  /** The first time of the clock. @default {2030-01-01T00:00:00Z} */
  readonly start?: Date;
}

/** Where an object is. */
export interface Place {
  /** @default {"default"} */
  readonly namespace?: string;
}

/** Options of {@linkcode MemoryCluster.settle}. */
export interface SettleOptions {
  /** How far time may move, so that retries and other short waits happen. @default {"1s"} */
  readonly within?: Duration;
  /** How long, of real time, reconcilers may wait for what is not the cluster's: a file, a digest, a socket of their own. @default {"10s"} */
  readonly foreign?: Duration;
}

/** A request that reached the server. */
export interface RequestRecord {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly userAgent: string;
}

/** A cluster in the test process. */
export interface MemoryCluster extends AsyncDisposable {
  /** The server: every request goes through it, also all of the operator's. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly clock: VirtualClock;
  /** A client of the server. */
  readonly client: Client;
  /** The way to the server, for a client of one's own. */
  readonly connection: Connection;
  /** The requests so far, in order. */
  readonly requests: readonly RequestRecord[];
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
   */
  settle(options?: SettleOptions): Promise<void>;
  /** Lets time pass, running what falls due in its order. */
  advance(duration: Duration): Promise<void>;
  /** Stops the operator and starts it again, as a new process would. */
  restart(): Promise<void>;
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
  const server = createApiserver({ clock });
  const requests: RequestRecord[] = [];
  const turns = new Turns();
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    requests.push({
      method: request.method,
      path: pathname + search,
      userAgent: request.headers.get("user-agent") ?? "",
    });
    // All else goes on in one turn of the event loop: controllers that answer each other for ever must not keep the test from its own.
    if (requests.length % REQUESTS_A_TURN === 0) await turns.next();
    return await server.fetch(request);
  };
  const connection: Connection = { url: "http://memory.cluster", fetch, close() {} };
  const client = new Client(connection, { clock, userAgent: "test" });
  const op = options.operator ?? operator({ name: "test", parts: options.parts ?? {}, health: false });

  for (const name of options.namespaces ?? []) await client.create(Namespace, { metadata: { name } });
  const kinds = (options.kinds ?? []).flatMap(({ crd }) => crd ?? []);
  for (const crd of unique([...op.crds(), ...kinds])) {
    await client.create(CustomResourceDefinition, crd as unknown as Input<typeof CustomResourceDefinition>);
  }
  const scope = options.namespace === undefined ? {} : { namespace: options.namespace };
  // The spread of waiting times is fixed, so that a test runs the same way each time.
  const start = (): Running => startOperator(op, { connection, clock, random: () => 0.5, ...scope });
  let running = start();
  const still = stillness({ clock, server, running: () => running, turns, patience: options.patience ?? 20_000 });

  return {
    fetch,
    clock,
    client,
    connection,
    requests,
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
    settle: ({ within = "1s", foreign = "10s" } = {}) =>
      still.settle(clock.now() + milliseconds(within), milliseconds(foreign)),
    advance: (duration) => still.advance(clock.now() + milliseconds(duration)),
    restart: async () => {
      const ended = running[Symbol.asyncDispose]();
      await still.until(ended);
      running = start();
    },
    [Symbol.asyncDispose]: async () => {
      await still.until(running[Symbol.asyncDispose]());
      await server[Symbol.asyncDispose]();
      turns[Symbol.dispose]();
    },
  };
}

function placeOf(kind: AnyKind, { namespace = "default" }: Place = {}): { namespace?: string } {
  return kind.namespaced ? { namespace } : {};
}

function unique(crds: readonly CustomResourceDefinitionManifest[]): CustomResourceDefinitionManifest[] {
  return [...new Map(crds.map((crd) => [crd.metadata.name, crd])).values()];
}
