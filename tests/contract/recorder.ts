/** Sends the requests of a case and records the responses. */

import { hasProtobufForm, PROTOBUF, toProtobuf } from "../../src/apiserver/wire/protobuf/envelope.ts";
import { isObject } from "../../src/base/json.ts";
import { withJsonBody } from "./protobuf.ts";

/** A request and its response, or a watch and its events. */
export interface Step {
  /** Method and path. */
  readonly call: string;
  readonly status: number;
  readonly contentType: string | null;
  /** The `Warning` header. */
  readonly warning?: string;
  /** The body: parsed JSON, or a string. For a watch: its events, in order. */
  readonly body: unknown;
}

/** A response, for a case that needs a part of it for its next request. */
export interface Answer {
  readonly status: number;
  // A case reads the fields it expects; if they are missing, the case fails.
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** Options of a request. */
export interface CallOptions {
  /** @default {"application/json"} */
  readonly contentType?: string;
  readonly accept?: string;
  /** Returns the part of the body to compare. @default {the whole body} */
  // deno-lint-ignore no-explicit-any
  readonly pick?: (body: any) => unknown;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An event of a watch. */
export interface WatchEvent {
  readonly type: string;
  // deno-lint-ignore no-explicit-any
  readonly object: any;
}

/** A watch from which a case reads events. */
export interface Watch {
  /** Reads and records events up to the first one for which `passes` returns true. */
  until(passes: (event: WatchEvent) => boolean): Promise<WatchEvent>;
  /** Reads and records a number of events. */
  take(count: number): Promise<readonly WatchEvent[]>;
  /** Reads and records events until the server ends the stream. */
  toEnd(): Promise<void>;
}

export const MERGE = "application/merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
export const APPLY = "application/apply-patch+yaml";

/**
 * Sends requests, and records them with their responses. Requests of {@linkcode Recorder.quietly}
 * are not recorded.
 */
export class Recorder {
  readonly namespace: string;
  readonly steps: Step[];
  readonly #send: (request: Request) => Promise<Response>;
  readonly #signal: AbortSignal;
  /** Whether each write waits until the server's cache has the object. */
  readonly #pace: { isPatient: boolean };
  /** Readers of watches that may still run. */
  readonly #open: ReadableStreamDefaultReader<string>[] = [];

  constructor(
    send: (request: Request) => Promise<Response>,
    options: { namespace: string; signal: AbortSignal; steps?: Step[]; pace?: { isPatient: boolean } },
  ) {
    this.#pace = options.pace ?? { isPatient: false };
    this.steps = options.steps ?? [];
    this.#send = send;
    this.namespace = options.namespace;
    this.#signal = options.signal;
  }

  /** Path of a core resource in the case's namespace. */
  core(rest: string): string {
    return `/api/v1/namespaces/${this.namespace}/${rest}`;
  }

  /** Path of the widgets in the case's namespace, or of one of them. */
  widgets(rest = ""): string {
    return `/apis/contract.example.com/v1/namespaces/${this.namespace}/widgets${rest}`;
  }

  /**
   * Returns a recorder that sends requests as another user and records into the same transcript.
   *
   * @param user The user's name.
   * @param headers Additional impersonation headers, such as a group or a uid.
   */
  as(user: string, headers: Readonly<Record<string, string>> = {}): Recorder {
    return this.sending({ "Impersonate-User": user, ...headers });
  }

  /** Returns a recorder with additional headers that records into the same transcript. */
  sending(headers: Readonly<Record<string, string>>): Recorder {
    const send = (request: Request) => {
      for (const [name, value] of Object.entries(headers)) {
        if (!request.headers.has(name)) request.headers.set(name, value);
      }
      return this.#send(request);
    };
    return new Recorder(send, {
      namespace: this.namespace,
      signal: this.#signal,
      steps: this.steps,
      pace: this.#pace,
    });
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call("GET", path, undefined, options);
  }

  post(path: string, body: unknown, options?: CallOptions): Promise<Answer> {
    return this.call("POST", path, body, options);
  }

  put(path: string, body: unknown, options?: CallOptions): Promise<Answer> {
    return this.call("PUT", path, body, options);
  }

  delete(path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
    return this.call("DELETE", path, body, options);
  }

  merge(path: string, body: unknown): Promise<Answer> {
    return this.call("PATCH", path, body, { contentType: MERGE });
  }

  jsonPatch(path: string, body: unknown): Promise<Answer> {
    return this.call("PATCH", path, body, { contentType: JSON_PATCH });
  }

  /** Server-side apply. The query must name a field manager. */
  apply(path: string, body: unknown): Promise<Answer> {
    return this.call("PATCH", path, body, { contentType: APPLY });
  }

  /** Sends a request and records the response. A body that is a string or bytes is sent as is. */
  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const response = await this.#request(method, path, body, options);
    const answer = parse(await response.text());
    this.#write(method, path, response, options.pick === undefined ? answer : options.pick(answer));
    const result = { status: response.status, body: answer };
    if (this.#pace.isPatient && response.ok) await this.#untilCached(method, path, result);
    return result;
  }

  /**
   * Runs a part of a case in which each write waits until the server's cache contains the previous
   * one. The real server bases an update on its cache, and starts again if the cached object was
   * too old. Webhooks would then be called twice.
   */
  async withFreshCache(run: () => Promise<void>): Promise<void> {
    this.#pace.isPatient = true;
    try {
      await run();
    } finally {
      this.#pace.isPatient = false;
    }
  }

  /** Waits for the next second of the clock, because times in objects are in seconds. */
  async untilNextSecond(): Promise<void> {
    const second = () => Math.floor(Date.now() / 1000);
    for (const now = second(); second() === now;) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async #untilCached(method: string, path: string, { body }: Answer): Promise<void> {
    const { name, resourceVersion: version, deletionTimestamp } = isObject(body) && isObject(body.metadata)
      ? body.metadata
      : {};
    if (!["POST", "PUT", "PATCH"].includes(method) || version === undefined) return;
    const [place = ""] = path.split("?");
    const object = method === "POST" ? `${place}/${name}` : place.replace(/\/(?:status|scale)$/, "");
    // A get with resourceVersion=0 reads the cache. The write may have completed a deletion.
    await this.untilAnswer(
      `${object}?resourceVersion=0`,
      (cached) =>
        cached.status === 404
          ? deletionTimestamp !== undefined
          : Number(cached.body.metadata.resourceVersion) >= Number(version),
    );
  }

  /** Sends a request that is not recorded. @throws {Error} If it fails. */
  async quietly(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const response = await this.#request(method, path, body, options);
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`Preparing a case failed: ${method} "${path}" got status ${response.status} ${text}`);
    }
    return { status: response.status, body: parse(text) };
  }

  /** Records a value that is not a response, such as a request that a webhook received. */
  note(call: string, body: unknown): void {
    // The caller may change the body later.
    this.steps.push({ call, status: 0, contentType: null, body: structuredClone(body) });
  }

  async createNamespace(): Promise<void> {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: this.namespace } };
    await this.quietly("POST", "/api/v1/namespaces", namespace);
  }

  /**
   * Creates a CustomResourceDefinition and waits until its kind is served, without recording it.
   *
   * @param definition The definition.
   */
  async quietlyDefine(definition: Definition): Promise<void> {
    await this.quietly("POST", CRDS, definition);
    await this.untilServed(definition);
  }

  /**
   * Waits until the first version of a definition is served. Until its watch cache is filled, the
   * real server rejects lists with status 429, except those with a limit and no selector.
   */
  async untilServed(definition: Definition): Promise<void> {
    const { group, names, versions } = definition.spec;
    await this.untilStatus(`/apis/${group}/${versions[0]?.name}/${names.plural}`, 200);
  }

  /**
   * Polls a path until the response has a status, without recording the responses.
   */
  async untilStatus(path: string, status: number): Promise<void> {
    await this.untilAnswer(path, (answer) => answer.status === status);
  }

  /** Polls a path until `passes` returns true for a response, without recording the responses. */
  async untilAnswer(path: string, passes: (answer: Answer) => boolean): Promise<Answer> {
    while (true) {
      const response = await this.#request("GET", path, undefined, {});
      const answer = { status: response.status, body: parse(await response.text()) };
      if (passes(answer)) return answer;
      this.#signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Opens a watch, passes it to `use`, ends it, and records the events that `use` read. */
  async watch(path: string, use: (watch: Watch) => Promise<void>, options: CallOptions = {}): Promise<void> {
    const response = await this.#request("GET", path, undefined, options);
    const events: unknown[] = [];
    if (!response.ok) {
      this.#write("GET", path, response, parse(await response.text()));
      return;
    }
    this.#write("GET", path, response, events);
    if (response.body === null) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    this.#open.push(reader);
    let rest = "";

    async function next(): Promise<WatchEvent | undefined> {
      while (true) {
        while (!rest.includes("\n")) {
          const { value, done } = await reader.read();
          if (done) return undefined;
          rest += value;
        }
        const end = rest.indexOf("\n");
        const event = parse(rest.slice(0, end)) as WatchEvent;
        rest = rest.slice(end + 1);
        if (isRoutine(event)) continue;
        events.push(event);
        return event;
      }
    }

    await use({
      async until(passes) {
        for (let event = await next(); event !== undefined; event = await next()) if (passes(event)) return event;
        throw new Error(`the watch of "${path}" ended before the expected event`);
      },
      async take(count) {
        const taken: WatchEvent[] = [];
        await this.until((event) => taken.push(event) === count);
        return taken;
      },
      async toEnd() {
        while (await next() !== undefined);
      },
    });
    await reader.cancel().catch(() => {});
  }

  /**
   * Opens a watch and drops it after its first event, without recording it.
   *
   * @throws {Error} If the server rejects it.
   */
  async dropWatch(path: string): Promise<void> {
    const response = await this.#request("GET", path, undefined, {});
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    if (!response.ok) throw new Error(`Opening a watch failed: "${path}" got status ${response.status}`);
  }

  /** Ends the watches that the case did not end. */
  async close(): Promise<void> {
    for (const reader of this.#open) await reader.cancel().catch(() => {});
  }

  async #request(method: string, path: string, body: unknown, options: CallOptions): Promise<Response> {
    // The default field manager is taken from the user agent.
    const headers = new Headers({ "User-Agent": "contract/1.0", Accept: options.accept ?? "application/json" });
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
    if (body !== undefined) headers.set("Content-Type", options.contentType ?? "application/json");
    while (true) {
      const init = { method, headers, body: bodyOf(body, options.contentType), signal: this.#signal };
      const response = await this.#send(new Request(`http://server${path}`, init));
      const transient = TRANSIENT[response.status];
      if (transient === undefined || !(await response.clone().text()).includes(transient)) {
        return withJsonBody(response);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #write(method: string, path: string, response: Response, body: unknown): void {
    const warning = response.headers.get("Warning");
    this.steps.push({
      call: `${method} ${path}`,
      status: response.status,
      contentType: response.headers.get("Content-Type"),
      ...(warning === null ? {} : { warning }),
      body,
    });
  }
}

/**
 * Messages of the real server, by status, while it processes a changed definition. A request that
 * gets one is retried.
 */
const TRANSIENT: Readonly<Record<number, string>> = {
  429: "storage is (re)initializing",
  503: "apiserver is shutting down",
};

/** Path of the CustomResourceDefinitions. */
export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** The fields of a CustomResourceDefinition that the recorder needs. */
export interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string }[];
  };
}

/**
 * Returns the body to send: a string or bytes as is, an object as JSON, or as protobuf if that is
 * the content type.
 */
function bodyOf(body: unknown, contentType: string | undefined): BodyInit | null {
  if (body === undefined) return null;
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  if (contentType !== PROTOBUF || !hasProtobufForm(body)) return JSON.stringify(body);
  return toProtobuf(body) as Uint8Array<ArrayBuffer>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Returns whether an event is a bookmark of progress. The server sends them about once a minute.
 */
function isRoutine({ type, object }: WatchEvent): boolean {
  return type === "BOOKMARK" && object.metadata.annotations?.["k8s.io/initial-events-end"] !== "true";
}
