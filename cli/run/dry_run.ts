/** A way to an API server on which nothing is stored: each write is sent as a dry run, and remembered. */
import { maskSecretMessage } from "../internal/mod.gen.ts";
import type { Forward, Passing } from "../proxy/proxy.ts";

/** A write that would have been. */
export interface PlannedWrite {
  readonly verb: "create" | "apply" | "patch" | "update" | "delete";
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly namespace?: string;
  readonly subresource?: string;
  /** As it is; nothing where there is none. */
  readonly before?: PlainValue;
  /** As it would be; nothing where it would be gone. */
  readonly after?: PlainValue;
  /** Why the server refuses it. */
  readonly refused?: string;
}

/** An object as JSON has it. */
export type PlainValue = { readonly [field: string]: unknown };

/** The annotation of the bookmark that ends the initial events of a watch. */
const INITIAL_EVENTS_END = '"k8s.io/initial-events-end"';

/** Reviews, which are sent by POST and store nothing. */
const QUESTIONS = /^\/apis\/(authentication|authorization)\.k8s\.io\/\w+\/(namespaces\/[\w-]+\/)?\w+$/;
/** Subresources that connect to a pod, a Service or a node. The API server passes the request on to it, dry run or not. */
const CONNECTION = /\/(?:pods|services|nodes)\/[^/]+\/(attach|exec|portforward|proxy)(?:\/|$)/;
/** What an operator tells of itself: it is no part of what is asked for. */
const TALK = /^\/apis\/(events\.k8s\.io|coordination\.k8s\.io)\/|^\/api\/v1\/(namespaces\/[^/]+\/)?events(\/|$)/;

const PATH = /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/;

/** Remembers writes and lets none through. */
export class DryRun {
  readonly writes: PlannedWrite[] = [];
  /** Requests without an answer yet. Open watches and repeated requests do not count. */
  running = 0;
  /** Watches whose initial events are not complete. */
  beginning = 0;
  /** Whether anything was watched yet. */
  hasBegun = false;
  /** When the operator last sent a request that it had not sent before, or a watch completed its initial events, in milliseconds. */
  last: number = performance.now();
  /** The server's answer to each watch that it does not allow, by path. */
  readonly forbidden: Map<string, string> = new Map();
  /**
   * Method and path of each request so far. In a cluster where watched objects keep changing, the operator sends the same requests again and again, since
   * none of its writes is stored: what it hears, or repeats, must not delay the end of a plan.
   */
  readonly #asked = new Set<string>();
  readonly #forward: Forward;

  /** @param forward Sends what has to be sent. */
  constructor(forward: Forward) {
    this.#forward = forward;
  }

  readonly forward: Forward = async (passing) => {
    const key = `${passing.method} ${passing.url.pathname}`;
    if (this.#asked.has(key)) return await this.#answer(passing);
    this.#asked.add(key);
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
    if (QUESTIONS.test(url.pathname)) return await this.#forward(passing);
    if (TALK.test(url.pathname)) return Response.json(body === undefined ? {} : JSON.parse(body), { status: 201 });
    const before = await this.#live(passing);
    const dry = new URL(url);
    dry.searchParams.set("dryRun", "All");
    const response = await this.#forward({ ...passing, url: dry, ...dryBody(passing) });
    const answer = await response.json() as PlainValue;
    this.#remember(passing, before, response.ok, answer);
    const headers = { "content-type": "application/json" };
    return new Response(JSON.stringify(this.#told(answer)), { status: response.status, headers });
  }

  /** What answers behind the API server knows nothing of a dry run. */
  #withheld(passing: Passing, connection: string): Response {
    const message = `"op plan" does not send a ${passing.method} request to "${connection}": it has no dry run`;
    const answer = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "MethodNotAllowed" };
    const status = { ...answer, message, code: 405 };
    this.#remember(passing, undefined, false, status);
    return Response.json(status, { status: 405 });
  }

  /** A forbidden watch is retried forever, and the operator does nothing until it is allowed. */
  async #noted(response: Response, url: URL): Promise<Response> {
    if (url.searchParams.get("watch") !== "true") return response;
    if (response.status === 403) {
      const { message } = parsed(await response.clone().text()) ?? {};
      this.forbidden.set(url.pathname, String(message ?? `GET ${url.pathname} is forbidden`));
    } else this.forbidden.delete(url.pathname);
    return response;
  }

  /** An object that is not stored has no version, and all that reads it wants one. */
  #told(answer: PlainValue): PlainValue {
    const metadata = answer.metadata as PlainValue | undefined;
    if (answer.kind === "Status" || metadata?.resourceVersion !== undefined) return answer;
    return { ...answer, metadata: { ...metadata, resourceVersion: "1" } };
  }

  /** Of a watch from the beginning it is waited for the end of that. */
  #watched(response: Response, url: URL): Response {
    const isFirst = url.searchParams.get("sendInitialEvents") === "true";
    if (!response.ok || response.body === null || url.searchParams.get("watch") !== "true") return response;
    this.hasBegun = true;
    if (isFirst) this.beginning++;
    let isBeginning = isFirst;
    const begun = (): void => {
      if (!isBeginning) return;
      isBeginning = false;
      this.beginning--;
      this.#touch();
    };
    const decoder = new TextDecoder();
    // The end of the last chunk: the mark may be in two of them.
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

  #remember(
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
      ...(ok ? {} : { refused: refusal(answer, before?.kind ?? object.kind ?? plural, sent) }),
    });
  }
}

/** Why a write was refused. The server may quote the values of a Secret that it cannot decode. */
function refusal({ message = "" }: PlainValue, kind: unknown, sent: unknown): string {
  return kind === "Secret" || kind === "secrets" ? maskSecretMessage(String(message), sent) : String(message);
}

function dryBody({ method, body }: Passing): { readonly body?: string } {
  if (method !== "DELETE" || body === undefined) return {};
  return { body: JSON.stringify({ ...parsed(body), dryRun: ["All"] }) };
}

function hasFinalizers({ metadata }: PlainValue): boolean {
  return ((metadata as { finalizers?: readonly string[] } | undefined)?.finalizers ?? []).length > 0;
}

/** A path as the API server reads it. */
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
