/** Sends each write to the API server as a dry run, and records it. */
import { maskSecretMessage } from "../internal/mod.gen.ts";
import type { Forward, Passing } from "../proxy/proxy.ts";

/** A write that would have been stored. */
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
  /** The API server's message if it rejects the write. */
  readonly rejection?: string;
}

/** An object in JSON. */
export type PlainValue = { readonly [field: string]: unknown };

/** The annotation of the bookmark that ends the initial events of a watch. */
const INITIAL_EVENTS_END = '"k8s.io/initial-events-end"';

/** Reviews, which are sent with POST and stored nowhere. */
const REVIEWS = /^\/apis\/(authentication|authorization)\.k8s\.io\/\w+\/(namespaces\/[\w-]+\/)?\w+$/;
/**
 * Subresources that connect to a pod, a Service or a node, to which the API server forwards even
 * dry runs.
 */
const CONNECTION = /\/(?:pods|services|nodes)\/[^/]+\/(attach|exec|portforward|proxy)(?:\/|$)/;
/** Events and Leases, which are not part of a plan. */
const BOOKKEEPING = /^\/apis\/(events\.k8s\.io|coordination\.k8s\.io)\/|^\/api\/v1\/(namespaces\/[^/]+\/)?events(\/|$)/;

const PATH = /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/;

/** Forwards requests, and turns writes into dry runs. */
export class DryRun {
  readonly writes: PlannedWrite[] = [];
  /** Requests without a response. Open watches and repeated requests do not count. */
  running = 0;
  /** Watches whose initial events are not complete. */
  pendingWatches = 0;
  /** Whether any watch was started. */
  hasBegun = false;
  /**
   * When the operator last sent a request that it had not sent before, or a watch completed its
   * initial events, in milliseconds.
   */
  last: number = performance.now();
  /** The API server's message for each forbidden watch, by path. */
  readonly forbidden: Map<string, string> = new Map();
  /**
   * Method and path of each request so far. In a cluster where watched objects keep changing, the
   * operator repeats requests, because none of its writes is stored. Repeated requests must not
   * delay the end of a plan.
   */
  readonly #sent = new Set<string>();
  readonly #forward: Forward;

  /** @param forward Sends a request to the API server. */
  constructor(forward: Forward) {
    this.#forward = forward;
  }

  readonly forward: Forward = async (passing) => {
    const key = `${passing.method} ${passing.url.pathname}`;
    if (this.#sent.has(key)) return await this.#answer(passing);
    this.#sent.add(key);
    this.running++;
    this.#touch();
    try {
      return await this.#answer(passing);
    } finally {
      this.running--;
      this.#touch();
    }
  };

  #touch(): void {
    this.last = performance.now();
  }

  async #answer(passing: Passing): Promise<Response> {
    const { method, url, body } = passing;
    if (method === "GET") return this.#watched(await this.#noted(await this.#forward(passing), url), url);
    const connection = CONNECTION.exec(decoded(url.pathname))?.[1];
    if (connection !== undefined) return this.#withheld(passing, connection);
    if (REVIEWS.test(url.pathname)) return await this.#forward(passing);
    if (BOOKKEEPING.test(url.pathname)) {
      return Response.json(body === undefined ? {} : JSON.parse(body), { status: 201 });
    }
    const before = await this.#live(passing);
    const dry = new URL(url);
    dry.searchParams.set("dryRun", "All");
    const response = await this.#forward({ ...passing, url: dry, ...dryBody(passing) });
    const answer = await response.json() as PlainValue;
    this.#record(passing, before, response.ok, answer);
    const headers = { "content-type": "application/json" };
    return new Response(JSON.stringify(withVersion(answer)), { status: response.status, headers });
  }

  /** Rejects a request to a server behind the API server, which has no dry run. */
  #withheld(passing: Passing, connection: string): Response {
    const message = `"op plan" does not send a ${passing.method} request to "${connection}": it has no dry run`;
    const answer = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "MethodNotAllowed" };
    const status = { ...answer, message, code: 405 };
    this.#record(passing, undefined, false, status);
    return Response.json(status, { status: 405 });
  }

  /** Records forbidden watches, which the operator retries forever. */
  async #noted(response: Response, url: URL): Promise<Response> {
    if (url.searchParams.get("watch") !== "true") return response;
    if (response.status === 403) {
      const { message } = parsed(await response.clone().text()) ?? {};
      this.forbidden.set(url.pathname, String(message ?? `GET ${url.pathname} is forbidden`));
    } else this.forbidden.delete(url.pathname);
    return response;
  }

  /** Counts watches whose initial events are not complete. */
  #watched(response: Response, url: URL): Response {
    const isFirst = url.searchParams.get("sendInitialEvents") === "true";
    if (!response.ok || response.body === null || url.searchParams.get("watch") !== "true") return response;
    this.hasBegun = true;
    if (isFirst) this.pendingWatches++;
    let isBeginning = isFirst;
    const begun = (): void => {
      if (!isBeginning) return;
      isBeginning = false;
      this.pendingWatches--;
      this.#touch();
    };
    const decoder = new TextDecoder();
    // The end of the last chunk, because the annotation may be split between chunks.
    let tail = "";
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          if (isBeginning) {
            const text = tail + decoder.decode(chunk, { stream: true });
            tail = text.slice(-INITIAL_EVENTS_END.length);
            if (text.includes(INITIAL_EVENTS_END)) begun();
          }
          controller.enqueue(chunk);
        },
        flush: begun,
      }),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  }

  async #live(passing: Passing): Promise<PlainValue | undefined> {
    const [, , , name, subresource] = PATH.exec(passing.url.pathname) ?? [];
    if (name === undefined) return undefined;
    const path = new URL(passing.url);
    if (subresource !== undefined) path.pathname = path.pathname.slice(0, path.pathname.lastIndexOf("/"));
    path.search = "";
    const { body: _, ...rest } = passing;
    const headers = new Headers({ accept: "application/json" });
    const response = await this.#forward({ ...rest, method: "GET", url: path, headers, body: undefined });
    if (response.ok) return await response.json();
    await response.body?.cancel();
    return undefined;
  }

  #record(
    { method, url, body, headers }: Passing,
    before: PlainValue | undefined,
    ok: boolean,
    answer: PlainValue,
  ): void {
    const [, namespace, plural = "", name, subresource] = PATH.exec(url.pathname) ?? [];
    const sent = body === undefined ? undefined : parsed(body);
    const isGone = method === "DELETE" && (answer.kind === "Status" || !hasFinalizers(answer));
    const object = (ok && !isGone ? answer : sent ?? before) ?? {};
    const metadata = (object.metadata ?? before?.metadata ?? {}) as PlainValue;
    this.writes.push({
      verb: verbOf(method, headers.get("content-type") ?? ""),
      kind: String(before?.kind ?? (answer.kind === "Status" ? object.kind ?? plural : answer.kind)),
      apiVersion: String(before?.apiVersion ?? object.apiVersion ?? ""),
      name: name ?? String(metadata.name ?? metadata.generateName ?? ""),
      ...(namespace === undefined ? {} : { namespace }),
      ...(subresource === undefined ? {} : { subresource }),
      ...(before === undefined ? {} : { before }),
      ...(ok && !isGone ? { after: answer } : {}),
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

/** Returns why a write was rejected. The message may quote values of a Secret, which are masked. */
function rejection({ message = "" }: PlainValue, kind: unknown, sent: unknown): string {
  return kind === "Secret" || kind === "secrets" ? maskSecretMessage(String(message), sent) : String(message);
}

function dryBody({ method, body }: Passing): { readonly body?: string } {
  if (method !== "DELETE" || body === undefined) return {};
  return { body: JSON.stringify({ ...parsed(body), dryRun: ["All"] }) };
}

function hasFinalizers({ metadata }: PlainValue): boolean {
  return ((metadata as { finalizers?: readonly string[] } | undefined)?.finalizers ?? []).length > 0;
}

/** Returns a path as the API server reads it. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function parsed(body: string): PlainValue | undefined {
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
