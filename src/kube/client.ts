/** A client for the Kubernetes API, typed by kind. */
import { linked } from "../base/abort.ts";
import { type Clock, sleep, systemClock } from "../base/clock.ts";
import type { AnyKind, Infer, Input, KubeObject } from "../resource/kind.ts";
import { retryAfter, type WireResponse } from "./response.ts";
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
import { ConnectionError, connectionError, TruncatedStreamError } from "./connection_error.ts";
import { type Connection, FencedError, type WireRequest } from "./connection.ts";
import { jsonLines } from "./json_lines.ts";
import { collectionPath, describe, objectPath } from "./path.ts";
import { WatchSlots } from "./watch_slots.ts";
import type { ConnectionProbe } from "./connection_probe.ts";
import { metadataOnly, select, writeQuery } from "./query.ts";
import type { RateLimit } from "./rate_limit.ts";
import { withoutSecretValues } from "./secret_response.ts";

/** Content types of patches. */
const PATCH_TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

const APPLY = "application/apply-patch+yaml";

// 500 per page, as in client-go's pager: fast enough for us, small enough for the API server.
const PAGE_SIZE = 500;
// kube-apiserver 1.37 compresses a watch list as several gzip members, and Deno's fetch decodes
// only the first one.
const UNCOMPRESSED = { "accept-encoding": "identity" };
// As in client-go, which returns the tenth 429 as an error.
const MAX_ATTEMPTS = 10;

/** Options of a {@linkcode Client}. */
export interface ClientOptions {
  /** Clock for waits, such as those of `Retry-After`. @default {the system clock} */
  readonly clock?: Clock;
  /** User agent, which the API server writes to its audit log. @default {"op"} */
  readonly userAgent?: string;
  /**
   * Called before each write, including each retry. If it throws, the write is not sent and the
   * call fails with that error.
   */
  readonly fence?: () => void;
  /**
   * Called for each response with method and status. Without a response, the status is `<error>`,
   * as in client-go.
   */
  readonly onResponse?: (method: string, code: string) => void;
  /** Detects a dead connection and fails the requests on it. */
  readonly probe?: ConnectionProbe | undefined;
  /** Delays requests, except those for Leases and access reviews. @default {none} */
  readonly rateLimit?: RateLimit | undefined;
  /**
   * Wraps each call except watches. `call` sends the request, including retries. The value that the
   * interceptor returns is the result of the call.
   */
  readonly interceptor?: (<T>(request: RequestInfo, call: () => Promise<T>) => Promise<T>) | undefined;
}

/**
 * A client of an API server. An error response is thrown as an {@linkcode ApiError}. A request
 * without a response, or whose response is not JSON, fails with a `ConnectionError`, whose `code`
 * is the reason, such as `ConnectionRefused`.
 *
 * @example Usage
 * ```ts
 * import { Client, connect } from "@op/sdk/client";
 * import { Pod } from "@op/sdk/kinds";
 *
 * async function podsOf(app: string): Promise<string[]> {
 *   const client = new Client(await connect());
 *   const pods = await client.list(Pod, { labelSelector: `app=${app}` });
 *   return pods.map(({ metadata }) => metadata.name);
 * }
 * ```
 *
 * @example Creating, changing and deleting objects
 * ```ts
 * import assert from "node:assert/strict";
 * import { Client } from "@op/sdk/client";
 * import { ConfigMap } from "@op/sdk/kinds";
 * import { memoryCluster } from "@op/sdk/testing";
 *
 * await using cluster = await memoryCluster();
 * const client = new Client(cluster.connection);
 * const options = { namespace: "default" };
 *
 * await client.create(ConfigMap, { metadata: { name: "site" }, data: { color: "red" } }, options);
 * await client.patch(ConfigMap, "site", { data: { color: "blue" } }, options);
 * const wanted = { metadata: { name: "site" }, data: { size: "large" } };
 * await client.apply(ConfigMap, wanted, { ...options, manager: "test" });
 * const { data } = await client.get(ConfigMap, "site", options);
 * assert.deepEqual(data, { color: "blue", size: "large" });
 * await client.delete(ConfigMap, "site", options);
 * assert.deepEqual(await client.list(ConfigMap, { fieldSelector: "metadata.name=site" }), []);
 * ```
 */
export class Client {
  /** The connection to the server. */
  readonly connection: Connection;
  readonly #options: ClientOptions;
  readonly #clock: Clock;
  readonly #userAgent: string;
  readonly #probe: ConnectionProbe | undefined;
  readonly #watchSlots: WatchSlots = new WatchSlots();
  /** Number of requests that are delayed by `Retry-After` or by the rate limit. */
  waiting = 0;

  /**
   * Creates a client. It sends no request before the first call.
   *
   * @param connection The connection to the server.
   * @param options Additional options.
   */
  constructor(connection: Connection, options: ClientOptions = {}) {
    this.connection = connection;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#userAgent = options.userAgent ?? "op";
    this.#probe = options.probe;
  }

  /**
   * Returns a client with the same options and a fence.
   *
   * @param fence Called before each write. If it throws, the write fails with that error.
   */
  fenced(fence: () => void): Client {
    return new Client(this.connection, { ...this.#options, fence });
  }

  /**
   * Reads an object.
   *
   * @throws {ApiError} With status 404 if the object does not exist.
   */
  async get<K extends AnyKind>(kind: K, name: string, options: CallOptions = {}): Promise<Infer<K>> {
    const path = objectPath(kind, name, options.namespace);
    const info = { verb: "get", target: describe(kind, name, options.namespace) };
    return await this.#json(info, "GET", path, options);
  }

  /**
   * Lists objects. It requests pages of 500 objects until the list is complete.
   *
   * @throws {ApiError} With status 404 if the server does not serve the kind, with 410 if the token
   * of the next page has expired.
   */
  async list<K extends AnyKind>(kind: K, options: SelectOptions = {}): Promise<Infer<K>[]> {
    const items: Infer<K>[] = [];
    let next: string | undefined;
    do {
      const page: Page<K> = await this.page(kind, next, options);
      items.push(...page.items);
      next = page.continue;
    } while (next !== undefined);
    return items;
  }

  /**
   * Reads one page of a list.
   *
   * @param kind The kind.
   * @param from `continue` of the previous page; `undefined` for the first page.
   * @param options Selects the objects.
   * @throws {ApiError} With status 410 if the token has expired.
   */
  async page<K extends AnyKind>(kind: K, from: string | undefined, options: SelectOptions = {}): Promise<Page<K>> {
    const query = select(options);
    query.set("limit", String(PAGE_SIZE));
    if (from !== undefined) query.set("continue", from);
    const info = { verb: "list", target: describe(kind, undefined, options.namespace) };
    const path = `${collectionPath(kind, options.namespace)}?${query}`;
    const list = await this.#json<RawList>(info, "GET", path, metadataOnly(options, "PartialObjectMetadataList"));
    // The items of a list of a built-in kind have no apiVersion and kind.
    const items = (list.items ?? []).map((item) => ({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }));
    return {
      items: items as unknown as Infer<K>[],
      resourceVersion: list.metadata.resourceVersion,
      continue: list.metadata.continue || undefined,
    };
  }

  /**
   * Watches a kind until the server ends the watch. Yields the events of each received chunk as one
   * array.
   *
   * @throws {ApiError} If the server rejects the watch. Later errors, such as 410, are events of
   * the type `ERROR`.
   * @throws {TruncatedStreamError} If the stream ends in the middle of an event (`code` is
   * `TruncatedStream`).
   * @throws {ConnectionError} If the stream is interrupted (`code` is `ConnectionLost`).
   */
  async *watch(kind: AnyKind, options: WatchCallOptions = {}): AsyncGenerator<WatchEvent[], void> {
    const query = select(options);
    query.set("watch", "true");
    query.set("allowWatchBookmarks", "true");
    if (options.resourceVersion !== undefined) query.set("resourceVersion", options.resourceVersion);
    if (options.timeoutSeconds !== undefined) query.set("timeoutSeconds", String(options.timeoutSeconds));
    if (options.sendInitialEvents) {
      query.set("sendInitialEvents", "true");
      query.set("resourceVersionMatch", "NotOlderThan");
    }
    const info = { verb: "watch", target: describe(kind, undefined, options.namespace) };
    const path = `${collectionPath(kind, options.namespace)}?${query}`;
    using slot = this.#watchSlots.take();
    using aborter = linked(options.signal === undefined ? [] : [options.signal]);
    using _watchdog = this.#probe?.onDead((error) => aborter.abort(error));
    const { signal } = aborter;
    const sendOptions = {
      ...metadataOnly(options, "PartialObjectMetadata"),
      signal,
      connectionIndex: slot.connectionIndex,
      streams: true,
    };
    const response = await this.#send(info, "GET", path, sendOptions);
    options.onOpen?.();
    if (response.body === null) return;
    try {
      for await (const events of jsonLines(response.body, signal)) {
        this.#probe?.received();
        yield options.metadataOnly
          ? (events as WatchEvent[]).map((event) => withKind(kind, event))
          : events as WatchEvent[];
      }
    } catch (cause) {
      // Aborting a watch ends it without an error. The stream may fail with the signal's reason
      // first.
      if (options.signal?.aborted && cause === options.signal.reason) return;
      if (cause instanceof SyntaxError || options.signal?.aborted) throw cause;
      if (cause instanceof TruncatedStreamError) {
        throw new TruncatedStreamError(`Cannot watch ${info.target}: ${cause.message}`, { cause });
      }
      if (!signal.aborted) {
        const message = `Cannot watch ${info.target}: the stream was interrupted: ${(cause as Error).message}`;
        throw new ConnectionError("ConnectionLost", message, { cause });
      }
    }
    if (signal.aborted && !options.signal?.aborted) {
      const message = `Cannot watch ${info.target}: ${(signal.reason as Error).message}`;
      throw new ConnectionError("ConnectionLost", message, { cause: signal.reason });
    }
  }

  /**
   * Creates an object and returns it.
   *
   * @throws {TypeError} If the kind is namespaced and the namespace is missing.
   * @throws {ApiError} With status 409 if the object exists, with 422 if fields are invalid;
   * `causes` lists them.
   */
  async create<K extends AnyKind>(kind: K, object: Input<K>, options: WriteOptions = {}): Promise<Infer<K>> {
    const body = { ...(object as Partial<KubeObject>), apiVersion: kind.apiVersion, kind: kind.kind };
    const namespace = options.namespace ?? body.metadata?.namespace;
    if (kind.namespaced && namespace === undefined) {
      throw new TypeError(
        `Cannot create ${
          describe(kind, body.metadata?.name)
        }: the kind is namespaced. Set metadata.namespace, or the option namespace`,
      );
    }
    const info = { verb: "create", target: describe(kind, body.metadata?.name, namespace) };
    const path = `${collectionPath(kind, namespace)}${writeQuery(options)}`;
    return await this.#json(info, "POST", path, options, body);
  }

  /**
   * Patches an object, by default with a JSON merge patch.
   *
   * @throws {ApiError} With status 404 if the object does not exist, with 409 if the patch has an
   * outdated `resourceVersion`.
   */
  async patch<K extends AnyKind>(
    kind: K,
    name: string,
    patch: unknown,
    options: WriteOptions & { readonly type?: "merge" | "json" | "strategic" } = {},
  ): Promise<Infer<K>> {
    const target = describe(kind, name, options.namespace) + (options.subresource ? ` (${options.subresource})` : "");
    const path = objectPath(kind, name, options.namespace, options.subresource) + writeQuery(options);
    return await this.#json(
      { verb: "patch", target },
      "PATCH",
      path,
      options,
      patch,
      PATCH_TYPES[options.type ?? "merge"],
    );
  }

  /**
   * Applies an object with server-side apply (KEP-555). The object must have a name, and a
   * namespace if its kind is namespaced.
   *
   * @throws {ApiError} With status 409 if another manager owns a field, unless `force` is set.
   */
  async apply<K extends AnyKind>(
    kind: K,
    object: Input<K>,
    options: WriteOptions & { readonly manager: string; readonly force?: boolean },
  ): Promise<Infer<K>> {
    const body = { ...(object as Partial<KubeObject>), apiVersion: kind.apiVersion, kind: kind.kind };
    const name = body.metadata?.name ?? "";
    const namespace = options.namespace ?? body.metadata?.namespace;
    const info = { verb: "apply", target: describe(kind, name, namespace) };
    const path = objectPath(kind, name, namespace, options.subresource) +
      writeQuery(options, options.force);
    return await this.#json(info, "PATCH", path, options, body, APPLY);
  }

  /**
   * Deletes an object.
   *
   * @returns The object, if it still exists because of finalizers or its grace period; otherwise
   * `undefined`.
   * @throws {ApiError} With status 404 if the object does not exist, with 409 if it does not meet
   * the `preconditions`.
   */
  async delete(
    kind: AnyKind,
    name: string,
    options: DeleteCallOptions = {},
  ): Promise<KubeObject | undefined> {
    const info = { verb: "delete", target: describe(kind, name, options.namespace) };
    const path = objectPath(kind, name, options.namespace);
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: options.propagationPolicy ?? "Background",
      ...(options.preconditions === undefined ? {} : { preconditions: options.preconditions }),
    };
    const result = await this.#json<KubeObject>(info, "DELETE", path, options, body);
    // The response is a Status if the object no longer exists.
    return result.kind === kind.kind ? result : undefined;
  }

  /**
   * Reads any path as JSON, such as `/apis` or `/version`.
   *
   * @throws {ApiError} With status 404 if the path does not exist.
   */
  async raw<T>(path: string, options: { readonly accept?: string; readonly signal?: AbortSignal } = {}): Promise<T> {
    return await this.#json({ verb: "read", target: `"${path}"` }, "GET", path, options);
  }

  #json<T>(
    info: RequestInfo,
    method: string,
    path: string,
    options: { readonly signal?: AbortSignal; readonly accept?: string },
    body?: unknown,
    type?: string,
  ): Promise<T> {
    const { interceptor } = this.#options;
    if (interceptor === undefined) return this.#sendJson(info, method, path, options, body, type);
    return interceptor(info, () => this.#sendJson(info, method, path, options, body, type));
  }

  async #sendJson<T>(
    info: RequestInfo,
    method: string,
    path: string,
    options: { readonly signal?: AbortSignal; readonly accept?: string },
    body?: unknown,
    type = "application/json",
  ): Promise<T> {
    const response = await this.#send(info, method, path, options, body, type);
    return await this.#bodyOf(info, response, () => response.json(), options) as T;
  }

  /** Reads the body of a response. Fails if the connection is closed as dead meanwhile. */
  async #bodyOf<T>(
    info: RequestInfo,
    { body }: WireResponse,
    read: () => Promise<T>,
    options: { readonly signal?: AbortSignal },
  ): Promise<T> {
    try {
      // A body of `null` was already received completely, so a dead connection does not matter.
      return await (body === null ? read() : this.#guarded(read()));
    } catch (cause) {
      options.signal?.throwIfAborted();
      throw new ConnectionError(
        "InvalidResponse",
        `Cannot ${info.verb} ${info.target}: the response is incomplete or not JSON. Check proxies in front of the server`,
        { cause },
      );
    }
  }

  async #send(
    info: RequestInfo,
    method: string,
    path: string,
    options: {
      readonly signal?: AbortSignal;
      readonly accept?: string;
      readonly connectionIndex?: number;
      readonly streams?: boolean;
    },
    body?: unknown,
    type?: string,
  ): Promise<WireResponse> {
    const url = this.connection.url + path;
    const json = body === undefined ? null : type === APPLY ? applyBody(body) : JSON.stringify(body);
    let hasRenewed = false;
    for (let attempt = 1;; attempt++) {
      if (this.#options.rateLimit !== undefined) {
        await this.#waitForRateLimit(this.#options.rateLimit, path, options.signal);
      }
      const fence = method === "GET" ? undefined : this.#options.fence;
      fence?.();
      const wireRequest: WireRequest = {
        method,
        headers: {
          accept: options.accept ?? "application/json",
          "user-agent": this.#userAgent,
          ...(body === undefined ? {} : { "content-type": type! }),
          ...(options.streams ? UNCOMPRESSED : {}),
        },
        body: json,
        signal: options.signal ?? null,
        ...(options.connectionIndex ? { connectionIndex: options.connectionIndex } : {}),
        ...(options.streams ? { streams: true } : {}),
        ...(fence === undefined ? {} : { fence }),
      };
      const { response, authorization } = await this.#sendOnce(info, url, wireRequest);
      if (response.ok) return response;
      if (response.status === 401 && !hasRenewed && await this.connection.renew?.(authorization)) {
        hasRenewed = true;
        await response.body?.cancel();
        continue;
      }
      const text = await this.#bodyOf(info, response, () => response.text(), options);
      const error = new ApiError(info, response.status, withoutSecretValues(path, text, body), retryAfter(response));
      if (error.retryAfter === undefined || attempt === MAX_ATTEMPTS) throw error;
      this.waiting++;
      await sleep(this.#clock, error.retryAfter, options.signal).finally(() => this.waiting--);
    }
  }

  /**
   * Waits for the rate limit. The caller checks the fence after this, because leadership may be
   * lost during the wait.
   */
  async #waitForRateLimit(rateLimit: RateLimit, path: string, signal: AbortSignal | undefined): Promise<void> {
    this.waiting++;
    await rateLimit.take(path, signal).finally(() => this.waiting--);
  }

  /** Returns a promise that also rejects when the connection is closed as dead. */
  #guarded<T>(request: Promise<T>): Promise<T> {
    return this.#probe?.guard(request) ?? request;
  }

  async #sendOnce(
    info: RequestInfo,
    url: string,
    wireRequest: WireRequest,
  ): Promise<{ readonly response: WireResponse; readonly authorization: string | undefined }> {
    const { connection } = this;
    try {
      const request = connection.send === undefined ? new Request(url, wireRequest) : undefined;
      const sending: Promise<WireResponse> = request === undefined
        ? connection.send!(url, wireRequest)
        : connection.fetch(request);
      const response = await this.#guarded(sending);
      this.#options.onResponse?.(wireRequest.method, String(response.status));
      const sent = request === undefined ? wireRequest.headers.authorization : request.headers.get("authorization");
      return { response, authorization: sent ?? undefined };
    } catch (cause) {
      wireRequest.signal?.throwIfAborted();
      if (cause instanceof FencedError) throw cause.cause;
      this.#options.onResponse?.(wireRequest.method, "<error>");
      throw connectionError(info, connection.url, cause);
    }
  }
}

interface RawList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly object[] | null;
}

/**
 * Sets the apiVersion and kind of an event's object. In a metadata-only watch, the server sends
 * those of PartialObjectMetadata.
 */
function withKind(kind: AnyKind, event: WatchEvent): WatchEvent {
  if (event.type === "ERROR" || event.type === "BOOKMARK") return event;
  return { ...event, object: { ...event.object, apiVersion: kind.apiVersion, kind: kind.kind } };
}
