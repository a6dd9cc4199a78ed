/** Sends the writes of an operator to the API server as dry runs, and records them. */
import { maskSecretMessage } from "../internal/mod.gen.ts";
import type { Forward, ForwardedRequest } from "../proxy/proxy.ts";

/** A write that the operator sent, which was not stored. */
export interface PlannedWrite {
  readonly verb: "create" | "apply" | "patch" | "update" | "delete";
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly namespace?: string;
  readonly subresource?: string;
  /** The stored object, or `undefined` if there is none. */
  readonly before?: PlainValue;
  /** The object after the write, or `undefined` if it would be deleted. */
  readonly after?: PlainValue;
  /** The API server's message if it rejected the write. */
  readonly rejection?: string;
}

/** An object in JSON. */
export type PlainValue = { readonly [field: string]: unknown };

/** The annotation of the bookmark that ends the initial events of a watch. */
const INITIAL_EVENTS_END = '"k8s.io/initial-events-end"';

/** Paths of reviews, which are sent with POST, but which the API server does not store. */
const REVIEWS = /^\/apis\/(authentication|authorization)\.k8s\.io\/\w+\/(namespaces\/[\w-]+\/)?\w+$/;
/**
 * Subresources that connect to a pod, a Service or a node, to which the API server forwards even
 * dry runs.
 */
const CONNECT_SUBRESOURCE = /\/(?:pods|services|nodes)\/[^/]+\/(attach|exec|portforward|proxy)(?:\/|$)/;
/** Paths of Events and Leases, which are not part of a plan. */
const BOOKKEEPING = /^\/apis\/(events\.k8s\.io|coordination\.k8s\.io)\/|^\/api\/v1\/(namespaces\/[^/]+\/)?events(\/|$)/;

const PATH = /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/;

/** Forwards requests, and turns writes into dry runs. */
export class DryRun {
  readonly writes: PlannedWrite[] = [];
  /** The number of requests without a response. Open watches and repeated requests do not count. */
  running = 0;
  /** The number of watches whose initial events are not complete. */
  pendingWatches = 0;
  /** Whether the operator has started a watch. */
  hasWatched = false;
  /**
   * The time of the last activity, in milliseconds: the operator sent a request that it had not
   * sent before, or a watch completed its initial events.
   */
  lastActivity: number = performance.now();
  /** The API server's message for each forbidden watch, by path. */
  readonly forbidden: Map<string, string> = new Map();
  /**
   * Method and path of each request so far. In a cluster where watched objects keep changing, the
   * operator repeats requests, because none of its writes is stored. Repeated requests must not
   * delay the end of a plan.
   */
  readonly #seen = new Set<string>();
  readonly #forward: Forward;

  /** @param forward Sends a request to the API server. */
  constructor(forward: Forward) {
    this.#forward = forward;
  }

  readonly forward: Forward = async (request) => {
    const key = `${request.method} ${request.url.pathname}`;
    if (this.#seen.has(key)) return await this.#respond(request);
    this.#seen.add(key);
    this.running++;
    this.#recordActivity();
    try {
      return await this.#respond(request);
    } finally {
      this.running--;
      this.#recordActivity();
    }
  };

  #recordActivity(): void {
    this.lastActivity = performance.now();
  }

  async #respond(request: ForwardedRequest): Promise<Response> {
    const { method, url, body } = request;
    if (method === "GET") return this.#countWatch(await this.#recordForbidden(await this.#forward(request), url), url);
    const subresource = CONNECT_SUBRESOURCE.exec(decodedPath(url.pathname))?.[1];
    if (subresource !== undefined) return this.#reject(request, subresource);
    if (REVIEWS.test(url.pathname)) return await this.#forward(request);
    if (BOOKKEEPING.test(url.pathname)) {
      return Response.json(body === undefined ? {} : JSON.parse(body), { status: 201 });
    }
    const before = await this.#storedObject(request);
    const dryRunUrl = new URL(url);
    dryRunUrl.searchParams.set("dryRun", "All");
    const response = await this.#forward({ ...request, url: dryRunUrl, ...dryRunBody(request) });
    const answer = await response.json() as PlainValue;
    this.#record(request, before, response.ok, answer);
    const headers = { "content-type": "application/json" };
    return new Response(JSON.stringify(withVersion(answer)), { status: response.status, headers });
  }

  /** Rejects a request to a server behind the API server, which has no dry run. */
  #reject(request: ForwardedRequest, subresource: string): Response {
    const message = `"op plan" does not send a ${request.method} request to "${subresource}": it has no dry run`;
    const answer = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "MethodNotAllowed" };
    const status = { ...answer, message, code: 405 };
    this.#record(request, undefined, false, status);
    return Response.json(status, { status: 405 });
  }

  /** Records forbidden watches, which the operator retries forever. */
  async #recordForbidden(response: Response, url: URL): Promise<Response> {
    if (url.searchParams.get("watch") !== "true") return response;
    if (response.status === 403) {
      const { message } = parseJson(await response.clone().text()) ?? {};
      this.forbidden.set(url.pathname, String(message ?? `GET ${url.pathname} is forbidden`));
    } else this.forbidden.delete(url.pathname);
    return response;
  }

  /** Counts watches whose initial events are not complete. */
  #countWatch(response: Response, url: URL): Response {
    const sendsInitialEvents = url.searchParams.get("sendInitialEvents") === "true";
    if (!response.ok || response.body === null || url.searchParams.get("watch") !== "true") return response;
    this.hasWatched = true;
    if (sendsInitialEvents) this.pendingWatches++;
    let hasInitialEvents = sendsInitialEvents;
    const endInitialEvents = (): void => {
      if (!hasInitialEvents) return;
      hasInitialEvents = false;
      this.pendingWatches--;
      this.#recordActivity();
    };
    const decoder = new TextDecoder();
    // The end of the last chunk, because the annotation may be split between chunks.
    let tail = "";
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          if (hasInitialEvents) {
            const text = tail + decoder.decode(chunk, { stream: true });
            tail = text.slice(-INITIAL_EVENTS_END.length);
            if (text.includes(INITIAL_EVENTS_END)) endInitialEvents();
          }
          controller.enqueue(chunk);
        },
        flush: endInitialEvents,
      }),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  }

  async #storedObject(request: ForwardedRequest): Promise<PlainValue | undefined> {
    const [, , , name, subresource] = PATH.exec(request.url.pathname) ?? [];
    if (name === undefined) return undefined;
    const path = new URL(request.url);
    if (subresource !== undefined) path.pathname = path.pathname.slice(0, path.pathname.lastIndexOf("/"));
    path.search = "";
    const { body: _, ...rest } = request;
    const headers = new Headers({ accept: "application/json" });
    const response = await this.#forward({ ...rest, method: "GET", url: path, headers, body: undefined });
    if (response.ok) return await response.json();
    await response.body?.cancel();
    return undefined;
  }

  #record(
    { method, url, body, headers }: ForwardedRequest,
    before: PlainValue | undefined,
    ok: boolean,
    answer: PlainValue,
  ): void {
    const [, namespace, plural = "", name, subresource] = PATH.exec(url.pathname) ?? [];
    const sent = body === undefined ? undefined : parseJson(body);
    const isDeleted = method === "DELETE" && (answer.kind === "Status" || !hasFinalizers(answer));
    const object = (ok && !isDeleted ? answer : sent ?? before) ?? {};
    const metadata = (object.metadata ?? before?.metadata ?? {}) as PlainValue;
    this.writes.push({
      verb: verbOf(method, headers.get("content-type") ?? ""),
      kind: String(before?.kind ?? (answer.kind === "Status" ? object.kind ?? plural : answer.kind)),
      apiVersion: String(before?.apiVersion ?? object.apiVersion ?? ""),
      name: name ?? String(metadata.name ?? metadata.generateName ?? ""),
      ...(namespace === undefined ? {} : { namespace }),
      ...(subresource === undefined ? {} : { subresource }),
      ...(before === undefined ? {} : { before }),
      ...(ok && !isDeleted ? { after: answer } : {}),
      ...(ok ? {} : { rejection: rejection(answer, before?.kind ?? object.kind ?? plural, sent) }),
    });
  }
}

/** Adds a resource version to an object that is not stored, because clients require one. */
function withVersion(answer: PlainValue): PlainValue {
  const metadata = answer.metadata as PlainValue | undefined;
  if (answer.kind === "Status" || metadata?.resourceVersion !== undefined) return answer;
  return { ...answer, metadata: { ...metadata, resourceVersion: "1" } };
}

/** Returns the reason of a rejection. The values of a Secret that it quotes are masked. */
function rejection({ message = "" }: PlainValue, kind: unknown, sent: unknown): string {
  return kind === "Secret" || kind === "secrets" ? maskSecretMessage(String(message), sent) : String(message);
}

function dryRunBody({ method, body }: ForwardedRequest): { readonly body?: string } {
  if (method !== "DELETE" || body === undefined) return {};
  return { body: JSON.stringify({ ...parseJson(body), dryRun: ["All"] }) };
}

function hasFinalizers({ metadata }: PlainValue): boolean {
  return ((metadata as { finalizers?: readonly string[] } | undefined)?.finalizers ?? []).length > 0;
}

/** Returns a path without percent-encoding, as the API server does. */
function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function parseJson(body: string): PlainValue | undefined {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function verbOf(method: string, type: string): PlannedWrite["verb"] {
  if (method === "POST") return "create";
  if (method === "PUT") return "update";
  if (method === "DELETE") return "delete";
  return type.startsWith("application/apply-patch") ? "apply" : "patch";
}
