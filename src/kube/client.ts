/** The only client of an API server: typed by kinds, one request a call, errors that say what was asked. */
import { linked } from "../base/abort.ts";
import { type Clock, sleep, systemClock } from "../base/clock.ts";
import type { AnyKind, Infer, Input, KubeObject } from "../resource/kind.ts";
import { type Answer, retryAfter } from "./answer.ts";
import { ApiError, type RequestInfo } from "./api_error.ts";
import { applyBody } from "./apply_body.ts";
import type {
  CallOptions,
  DeleteCallOptions,
  Page,
  SelectOptions,
  WatchCallOptions,
  WatchEvent,
  WriteOptions,
} from "./calls.ts";
import type { ClientOptions } from "./client_options.ts";
import { ConnectionError, connectionError } from "./connection_error.ts";
import { type Connection, FencedError, type Outgoing } from "./connection.ts";
import { jsonLines } from "./json_lines.ts";
import { collectionPath, describe, objectPath } from "./path.ts";
import { Lanes } from "./lanes.ts";
import { accepting, named } from "./metadata_alone.ts";
import type { Pulse } from "./pulse.ts";
import { queryOf, select } from "./query.ts";
import type { RateLimit } from "./rate_limit.ts";
import { quotableAnswer } from "./secret_answer.ts";
import { TruncatedStreamError } from "./truncated_stream_error.ts";

/** The patch types of the API server, and the content type of each. */
const PATCH_TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

const APPLY = "application/apply-patch+yaml";

// 500 a page, as client-go's pager: quick enough for us, small enough not to hurt an apiserver.
const PAGE_SIZE = 500;
// kube-apiserver 1.37 compresses a watch list as several gzip members, and Deno's fetch decodes only the first one.
const UNCOMPRESSED = { "accept-encoding": "identity" };
// client-go tries ten times as well before it hands a 429 to the caller.
const MOST_TRIES = 10;

/**
 * A client of an API server. What the server refuses is an {@linkcode ApiError}; a server that does not answer, or not in JSON, is an error
 * that says what was asked.
 *
 * @example Usage
 * ```ts
 * import { Client, connect } from "@op/sdk/client";
 * import { Pod } from "@op/sdk/kinds";
 *
 * async function podsOf(app: string): Promise<string[]> {
 *   const client = new Client(await connect());
 *   return (await client.list(Pod, { labelSelector: `app=${app}` })).map(({ metadata }) => metadata.name);
 * }
 * ```
 *
 * @example All that a test does to a cluster by hand
 * ```ts
 * import assert from "node:assert/strict";
 * import { Client } from "@op/sdk/client";
 * import { ConfigMap } from "@op/sdk/kinds";
 * import { memoryCluster } from "@op/sdk/testing";
 *
 * await using cluster = await memoryCluster();
 * const client = new Client(cluster.connection);
 * const place = { namespace: "default" };
 *
 * await client.create(ConfigMap, { metadata: { name: "site" }, data: { color: "red" } }, place);
 * await client.patch(ConfigMap, "site", { data: { color: "blue" } }, place);
 * await client.apply(ConfigMap, { metadata: { name: "site" }, data: { size: "large" } }, { ...place, manager: "test" });
 * assert.deepEqual((await client.get(ConfigMap, "site", place)).data, { color: "blue", size: "large" });
 * await client.delete(ConfigMap, "site", place);
 * assert.deepEqual(await client.list(ConfigMap, { fieldSelector: "metadata.name=site" }), []);
 * ```
 */
export class Client {
  /** The way to the server. */
  readonly connection: Connection;
  readonly #options: ClientOptions;
  readonly #clock: Clock;
  readonly #userAgent: string;
  readonly #pulse: Pulse | undefined;
  readonly #lanes: Lanes = new Lanes();
  /** Number of requests that wait to be sent: as the server asked, or for the rate limit. */
  waiting = 0;

  /**
   * Nothing is sent before the first call.
   *
   * @param connection The way to the server.
   * @param options Additional options.
   */
  constructor(connection: Connection, options: ClientOptions = {}) {
    this.connection = connection;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#userAgent = options.userAgent ?? "op";
    this.#pulse = options.pulse;
  }

  /**
   * A client like this one whose writes are asked about.
   *
   * @param fence Called before each of them; what it throws ends the call.
   */
  fenced(fence: () => void): Client {
    return new Client(this.connection, { ...this.#options, fence });
  }

  /**
   * Reads an object.
   *
   * @throws {ApiError} With status 404 if there is none.
   */
  async get<K extends AnyKind>(kind: K, name: string, options: CallOptions = {}): Promise<Infer<K>> {
    const path = objectPath(kind, name, options.namespace);
    const asked = { verb: "get", what: describe(kind, name, options.namespace) };
    return await this.#json(asked, "GET", path, options);
  }

  /**
   * Lists objects, page by page from the server, in one answer.
   *
   * @throws {ApiError} With status 404 if the server has no such kind, with 410 if a page took so long that the next one is forgotten.
   */
  async list<K extends AnyKind>(kind: K, options: SelectOptions = {}): Promise<Infer<K>[]> {
    const items: Infer<K>[] = [];
    let next: string | undefined;
    do {
      const page: Page<K> = await this.page(kind, next, options);
      items.push(...page.items);
      next = page.next;
    } while (next !== undefined);
    return items;
  }

  /**
   * Reads one page of a list.
   *
   * @param kind The kind.
   * @param from Where it begins: `next` of the page before; nothing for the first.
   * @param options Which objects.
   * @throws {ApiError} With status 410 if the page before is too long ago.
   */
  async page<K extends AnyKind>(kind: K, from: string | undefined, options: SelectOptions = {}): Promise<Page<K>> {
    const query = select(options);
    query.set("limit", String(PAGE_SIZE));
    if (from !== undefined) query.set("continue", from);
    const asked = { verb: "list", what: describe(kind, undefined, options.namespace) };
    const path = `${collectionPath(kind, options.namespace)}?${query}`;
    const list = await this.#json<RawList>(asked, "GET", path, accepting(options, "PartialObjectMetadataList"));
    // The items of a built-in kind's list do not say what they are.
    const items = (list.items ?? []).map((item) => ({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }));
    return {
      items: items as unknown as Infer<K>[],
      resourceVersion: list.metadata.resourceVersion,
      next: list.metadata.continue || undefined,
    };
  }

  /**
   * Watches a kind. Ends when the server ends it; events that arrive together come together.
   *
   * @throws {ApiError} If the server does not open it. What it has to say later is an event of the type `ERROR`, such as 410.
   * @throws {TruncatedStreamError} If the stream ends in the middle of an event; its `code` is `TruncatedStream`.
   * @throws {Error} If the stream breaks off.
   */
  async *watch(kind: AnyKind, options: WatchCallOptions = {}): AsyncGenerator<WatchEvent[], void> {
    const query = select(options);
    query.set("watch", "true");
    query.set("allowWatchBookmarks", "true");
    if (options.resourceVersion !== undefined) query.set("resourceVersion", options.resourceVersion);
    if (options.timeoutSeconds !== undefined) query.set("timeoutSeconds", String(options.timeoutSeconds));
    if (options.initial) {
      query.set("sendInitialEvents", "true");
      query.set("resourceVersionMatch", "NotOlderThan");
    }
    const asked = { verb: "watch", what: describe(kind, undefined, options.namespace) };
    const path = `${collectionPath(kind, options.namespace)}?${query}`;
    using place = this.#lanes.take();
    using cut = linked(options.signal === undefined ? [] : [options.signal]);
    using _watchdog = this.#pulse?.onDead((error) => cut.abort(error));
    const { signal } = cut;
    const how = { ...accepting(options, "PartialObjectMetadata"), signal, lane: place.lane, streams: true };
    const response = await this.#send(asked, "GET", path, how);
    options.onOpen?.();
    if (response.body === null) return;
    try {
      for await (const events of jsonLines(response.body, signal)) {
        this.#pulse?.received();
        yield options.metadataOnly
          ? (events as WatchEvent[]).map((event) => named(kind, event))
          : events as WatchEvent[];
      }
    } catch (cause) {
      if (cause instanceof SyntaxError || options.signal?.aborted) throw cause;
      if (cause instanceof TruncatedStreamError) {
        throw new TruncatedStreamError(`Cannot watch ${asked.what}: ${cause.message}`, { cause });
      }
      const message = `Cannot watch ${asked.what}: the stream was interrupted: ${(cause as Error).message}`;
      throw new ConnectionError("ConnectionLost", message, { cause });
    }
    if (signal.aborted && !options.signal?.aborted) {
      const message = `Cannot watch ${asked.what}: ${(signal.reason as Error).message}`;
      throw new ConnectionError("ConnectionLost", message, { cause: signal.reason });
    }
  }

  /**
   * Creates an object and answers it.
   *
   * @throws {TypeError} If its kind lives in namespaces and none is said.
   * @throws {ApiError} With status 409 if it is there already, with 422 if a field is wrong: `causes` has which.
   */
  async create<K extends AnyKind>(kind: K, object: Input<K>, options: WriteOptions = {}): Promise<Infer<K>> {
    const body = { ...(object as Partial<KubeObject>), apiVersion: kind.apiVersion, kind: kind.kind };
    const namespace = options.namespace ?? body.metadata?.namespace;
    if (kind.namespaced && namespace === undefined) {
      throw new TypeError(
        `Cannot create ${
          describe(kind, body.metadata?.name)
        }: the kind is namespaced: set metadata.namespace, or the option namespace`,
      );
    }
    const asked = { verb: "create", what: describe(kind, body.metadata?.name, namespace) };
    const path = `${collectionPath(kind, namespace)}${queryOf(options)}`;
    return await this.#json(asked, "POST", path, options, body);
  }

  /**
   * Changes an object by a patch: a JSON merge patch, unless another type is named.
   *
   * @throws {ApiError} With status 404 if there is none, with 409 if the patch says a `resourceVersion` that is not the object's any more.
   */
  async patch<K extends AnyKind>(
    kind: K,
    name: string,
    patch: unknown,
    options: WriteOptions & { readonly type?: "merge" | "json" | "strategic" } = {},
  ): Promise<Infer<K>> {
    const what = describe(kind, name, options.namespace) + (options.subresource ? ` (${options.subresource})` : "");
    const path = objectPath(kind, name, options.namespace, options.subresource) + queryOf(options);
    return await this.#json(
      { verb: "patch", what },
      "PATCH",
      path,
      options,
      patch,
      PATCH_TYPES[options.type ?? "merge"],
    );
  }

  /**
   * Makes an object as wanted: server-side apply (KEP-555). The object must have a name, and a namespace where its kind has.
   *
   * @throws {ApiError} With status 409 if a field is another manager's, unless `force` is said.
   */
  async apply<K extends AnyKind>(
    kind: K,
    wanted: Input<K>,
    options: WriteOptions & { readonly manager: string; readonly force?: boolean },
  ): Promise<Infer<K>> {
    const body = { ...(wanted as Partial<KubeObject>), apiVersion: kind.apiVersion, kind: kind.kind };
    const name = body.metadata?.name ?? "";
    const namespace = options.namespace ?? body.metadata?.namespace;
    const asked = { verb: "apply", what: describe(kind, name, namespace) };
    const path = objectPath(kind, name, namespace, options.subresource) +
      queryOf(options, options.force);
    return await this.#json(asked, "PATCH", path, options, body, APPLY);
  }

  /**
   * Deletes an object.
   *
   * @returns The object, where the server answers it: it stays until its finalizers are gone, or its grace is over. Nothing when it is gone.
   * @throws {ApiError} With status 404 if there is none, with 409 if it does not meet `preconditions`.
   */
  async delete(
    kind: AnyKind,
    name: string,
    options: DeleteCallOptions = {},
  ): Promise<KubeObject | undefined> {
    const asked = { verb: "delete", what: describe(kind, name, options.namespace) };
    const path = objectPath(kind, name, options.namespace);
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: options.propagationPolicy ?? "Background",
      ...(options.preconditions === undefined ? {} : { preconditions: options.preconditions }),
    };
    const answer = await this.#json<KubeObject>(asked, "DELETE", path, options, body);
    // What is gone is answered by a Status.
    return answer.kind === kind.kind ? answer : undefined;
  }

  /**
   * Reads any path as JSON: discovery, versions.
   *
   * @throws {ApiError} With status 404 if there is nothing.
   */
  async raw<T>(path: string, options: { readonly accept?: string; readonly signal?: AbortSignal } = {}): Promise<T> {
    return await this.#json({ verb: "read", what: `"${path}"` }, "GET", path, options);
  }

  #json<T>(
    asked: RequestInfo,
    method: string,
    path: string,
    options: { readonly signal?: AbortSignal; readonly accept?: string },
    body?: unknown,
    type?: string,
  ): Promise<T> {
    const { around } = this.#options;
    if (around === undefined) return this.#exchange(asked, method, path, options, body, type);
    return around(asked, () => this.#exchange(asked, method, path, options, body, type));
  }

  async #exchange<T>(
    asked: RequestInfo,
    method: string,
    path: string,
    options: { readonly signal?: AbortSignal; readonly accept?: string },
    body?: unknown,
    type = "application/json",
  ): Promise<T> {
    const response = await this.#send(asked, method, path, options, body, type);
    try {
      // What came whole already cannot be cut off any more.
      return await (response.body === null ? response.json() : this.#guarded(response.json())) as T;
    } catch (cause) {
      options.signal?.throwIfAborted();
      throw new ConnectionError(
        "InvalidResponse",
        `Cannot ${asked.verb} ${asked.what}: the response is incomplete or not JSON. Check proxies in front of the server`,
        { cause },
      );
    }
  }

  async #send(
    asked: RequestInfo,
    method: string,
    path: string,
    options: {
      readonly signal?: AbortSignal;
      readonly accept?: string;
      readonly lane?: number;
      readonly streams?: boolean;
    },
    body?: unknown,
    type?: string,
  ): Promise<Answer> {
    const url = this.connection.url + path;
    const text = body === undefined ? null : type === APPLY ? applyBody(body) : JSON.stringify(body);
    let isRenewed = false;
    for (let attempt = 1;; attempt++) {
      if (this.#options.rateLimit !== undefined) await this.#throttled(this.#options.rateLimit, path, options.signal);
      const fence = method === "GET" ? undefined : this.#options.fence;
      fence?.();
      const outgoing: Outgoing = {
        method,
        headers: {
          accept: options.accept ?? "application/json",
          "user-agent": this.#userAgent,
          ...(body === undefined ? {} : { "content-type": type! }),
          ...(options.streams ? UNCOMPRESSED : {}),
        },
        body: text,
        signal: options.signal ?? null,
        ...(options.lane ? { lane: options.lane } : {}),
        ...(options.streams ? { streams: true } : {}),
        ...(fence === undefined ? {} : { fence }),
      };
      const { response, authorization } = await this.#reach(asked, url, outgoing);
      if (response.ok) return response;
      if (response.status === 401 && !isRenewed && await this.connection.renew?.(authorization)) {
        isRenewed = true;
        await response.body?.cancel();
        continue;
      }
      const answer = quotableAnswer(path, await response.text(), body);
      const error = new ApiError(asked, response.status, answer, retryAfter(response));
      if (error.retryAfter === undefined || attempt === MOST_TRIES) throw error;
      this.waiting++;
      await sleep(this.#clock, error.retryAfter, options.signal).finally(() => this.waiting--);
    }
  }

  /** The fence is asked only after the wait: leadership may be lost meanwhile. */
  async #throttled(rateLimit: RateLimit, path: string, signal: AbortSignal | undefined): Promise<void> {
    this.waiting++;
    await rateLimit.take(path, signal).finally(() => this.waiting--);
  }

  #guarded<T>(request: Promise<T>): Promise<T> {
    return this.#pulse?.guard(request) ?? request;
  }

  async #reach(
    asked: RequestInfo,
    url: string,
    outgoing: Outgoing,
  ): Promise<{ readonly response: Answer; readonly authorization: string | undefined }> {
    const { connection } = this;
    try {
      const request = connection.send === undefined ? new Request(url, outgoing) : undefined;
      const sending: Promise<Answer> = request === undefined
        ? connection.send!(url, outgoing)
        : connection.fetch(request);
      const response = await this.#guarded(sending);
      this.#options.onAnswer?.(outgoing.method, String(response.status));
      const sent = request === undefined ? outgoing.headers.authorization : request.headers.get("authorization");
      return { response, authorization: sent ?? undefined };
    } catch (cause) {
      outgoing.signal?.throwIfAborted();
      if (cause instanceof FencedError) throw cause.cause;
      this.#options.onAnswer?.(outgoing.method, "<error>");
      throw connectionError(asked, connection.url, cause);
    }
  }
}

interface RawList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly object[] | null;
}
