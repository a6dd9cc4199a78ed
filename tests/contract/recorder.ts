/** Sends a case's requests and writes down what comes back. */

import { hasProtobufForm, PROTOBUF, toProtobuf } from "../../src/apiserver/wire/protobuf/envelope.ts";
import { isObject } from "../../src/base/json.ts";
import { readable } from "./protobuf.ts";

/** A request and its answer, or a watch and its events. */
export interface Step {
  /** Method and path. */
  readonly call: string;
  readonly status: number;
  readonly contentType: string | null;
  /** The `Warning` header, where there is one. */
  readonly warning?: string;
  /** The body: JSON where it is JSON, text otherwise. Of a watch: its events, in order. */
  readonly body: unknown;
}

/** An answer, for a case that needs something of it for its next request. */
export interface Answer {
  readonly status: number;
  // A case looks at whatever it expects: a wrong guess shows as a failed case.
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** Options of a request. */
export interface CallOptions {
  /** @default {"application/json"} */
  readonly contentType?: string;
  readonly accept?: string;
  /** What of the body is compared. @default {all of it} */
  // deno-lint-ignore no-explicit-any
  readonly pick?: (body: any) => unknown;
  /** More headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a case needs to know of an event. */
export interface WatchEvent {
  readonly type: string;
  // deno-lint-ignore no-explicit-any
  readonly object: any;
}

/** A watch of which a case takes events. */
export interface Watch {
  /** Takes and records events until one passes, that one included. */
  until(passes: (event: WatchEvent) => boolean): Promise<WatchEvent>;
  /** Takes and records so many events. */
  take(count: number): Promise<readonly WatchEvent[]>;
  /** Takes and records events until the server ends the stream. */
  toEnd(): Promise<void>;
}

export const MERGE = "application/merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
export const APPLY = "application/apply-patch+yaml";

/** The requests a case can make. All but the quiet ones are written down. */
export class Recorder {
  readonly namespace: string;
  readonly steps: Step[];
  readonly #send: (request: Request) => Promise<Response>;
  readonly #signal: AbortSignal;
  /** Whether each write is waited for until the server's cache has it. */
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
   * The same recorder, whose requests are sent as another user. What is recorded of both is one
   * transcript.
   *
   * @param user The user's name.
   * @param headers More of who it is: a group, an uid.
   */
  as(user: string, headers: Readonly<Record<string, string>> = {}): Recorder {
    return this.sending({ "Impersonate-User": user, ...headers });
  }

  /** The same recorder, whose requests carry more headers. */
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

  /** Sends a request and writes down the answer. A body that is text or bytes is sent as it is. */
  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const response = await this.#request(method, path, body, options);
    const answer = parse(await response.text());
    this.#write(method, path, response, options.pick === undefined ? answer : options.pick(answer));
    const result = { status: response.status, body: answer };
    if (this.#pace.isPatient && response.ok) await this.#untilCached(method, path, result);
    return result;
  }

  /**
   * Runs a part of a case in which each write waits until the server's cache has the one before.
   * The real server begins an update with what its cache has, and once more where that was too old:
   * who is asked about the update is then asked twice.
   */
  async patiently(run: () => Promise<void>): Promise<void> {
    this.#pace.isPatient = true;
    try {
      await run();
    } finally {
      this.#pace.isPatient = false;
    }
  }

  /** Waits until the clock shows another second: times in objects are of seconds. */
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
    // A get of any version is answered from the cache. What was being deleted may be gone by the
    // write.
    await this.untilAnswer(
      `${object}?resourceVersion=0`,
      (cached) =>
        cached.status === 404
          ? deletionTimestamp !== undefined
          : Number(cached.body.metadata.resourceVersion) >= Number(version),
    );
  }

  /** Sends a request that is no part of what is compared. @throws {Error} If it fails. */
  async quietly(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const response = await this.#request(method, path, body, options);
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`Cannot prepare a case: ${method} "${path}" was answered ${response.status} ${text}`);
    }
    return { status: response.status, body: parse(text) };
  }

  /** Writes down what was seen on another side than that of the answers. */
  note(call: string, body: unknown): void {
    // What is sent is not to change afterwards.
    this.steps.push({ call, status: 0, contentType: null, body: structuredClone(body) });
  }

  async createNamespace(): Promise<void> {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: this.namespace } };
    await this.quietly("POST", "/api/v1/namespaces", namespace);
  }

  /**
   * Makes a CustomResourceDefinition and waits until its kind is served. Nothing of it is written
   * down.
   *
   * @param definition The definition.
   */
  async quietlyDefine(definition: Definition): Promise<void> {
    await this.quietly("POST", CRDS, definition);
    await this.untilServed(definition);
  }

  /**
   * Waits until a definition's first version is served, also from the real server's watch cache:
   * until that is filled it answers lists with 429, those with a limit and no selector excepted.
   */
  async untilServed(definition: Definition): Promise<void> {
    const { group, names, versions } = definition.spec;
    await this.untilStatus(`/apis/${group}/${versions[0]?.name}/${names.plural}`, 200);
  }

  /**
   * Waits, by asking again and again, until a path is answered with a status. Nothing is written
   * down.
   */
  async untilStatus(path: string, status: number): Promise<void> {
    await this.untilAnswer(path, (answer) => answer.status === status);
  }

  /** Waits, by asking again and again, until an answer passes. Nothing is written down. */
  async untilAnswer(path: string, passes: (answer: Answer) => boolean): Promise<Answer> {
    while (true) {
      const response = await this.#request("GET", path, undefined, {});
      const answer = { status: response.status, body: parse(await response.text()) };
      if (passes(answer)) return answer;
      this.#signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Opens a watch, hands it to `use`, ends it, and writes down what was taken of it. */
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
        throw new Error(`the watch of "${path}" ended too early`);
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
   * Opens a watch and lets it go after its first event. Nothing is written down. @throws {Error} If
   * it is refused.
   */
  async dropWatch(path: string): Promise<void> {
    const response = await this.#request("GET", path, undefined, {});
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    if (!response.ok) throw new Error(`Cannot open a watch: "${path}" was answered ${response.status}`);
  }

  /** Ends watches that a case left running. */
  async close(): Promise<void> {
    for (const reader of this.#open) await reader.cancel().catch(() => {});
  }

  async #request(method: string, path: string, body: unknown, options: CallOptions): Promise<Response> {
    // The name of a field manager that is not given comes from the user agent.
    const headers = new Headers({ "User-Agent": "contract/1.0", Accept: options.accept ?? "application/json" });
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
    if (body !== undefined) headers.set("Content-Type", options.contentType ?? "application/json");
    while (true) {
      const init = { method, headers, body: bodyOf(body, options.contentType), signal: this.#signal };
      const response = await this.#send(new Request(`http://server${path}`, init));
      const passing = PASSING[response.status];
      if (passing === undefined || !(await response.clone().text()).includes(passing)) return readable(response);
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
 * What the real server says for a moment while it takes over a changed definition, by status: asked
 * again, it answers.
 */
const PASSING: Readonly<Record<number, string>> = {
  429: "storage is (re)initializing",
  503: "apiserver is shutting down",
};

/** Path of the CustomResourceDefinitions. */
export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** As much of a CustomResourceDefinition as the recorder needs. */
export interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string }[];
  };
}

/**
 * A body as it is sent: a text as it is, an object as JSON, or as protobuf where that is asked for.
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
 * Whether a bookmark only tells how far the server is: those come when it likes, about once a
 * minute.
 */
function isRoutine({ type, object }: WatchEvent): boolean {
  return type === "BOOKMARK" && object.metadata.annotations?.["k8s.io/initial-events-end"] !== "true";
}
