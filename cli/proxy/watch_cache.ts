/**
 * Keeps watches open between a program and its next start, with all that they brought: a program
 * that begins to watch what an earlier one watched is told from here what there is, and the API
 * server is not asked again. What was forgotten by the server is forgotten here too.
 */
import type { Forward, Passing } from "./proxy.ts";

/** An object's line in a watch, as far as it is looked at here. */
interface WatchLine {
  readonly type: string;
  readonly object: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly metadata?: {
      readonly name?: string;
      readonly namespace?: string;
      readonly resourceVersion?: string;
      readonly annotations?: Readonly<Record<string, string>>;
    };
  };
}

/** Marks the bookmark behind all that there is (KEP-3157). */
const INITIAL_END = "k8s.io/initial-events-end";

/** Fields of the `Status` that ends a stream. */
interface StreamEnd {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

const EXPIRED: StreamEnd = { code: 410, reason: "Expired", message: "what was kept is gone" };
const TRUNCATED: StreamEnd = {
  code: 500,
  reason: "InternalError",
  message: "the stream of the API server ended before the initial list was complete",
};

type Listener = ReadableStreamDefaultController<Uint8Array>;

/** The watches that are kept. */
export class WatchCache implements Disposable {
  readonly #forward: Forward;
  readonly #kept = new Map<string, KeptWatch>();
  readonly #stop = new AbortController();
  /** How many watches were begun from what was held. */
  hits = 0;

  /** @param forward Sends what has to be sent. */
  constructor(forward: Forward) {
    this.#forward = forward;
  }

  /** Sends a request on; watches from the beginning are answered from what is held, where it is. */
  readonly forward: Forward = async (passing) => {
    const { method, url, headers } = passing;
    const isFirst = method === "GET" && url.searchParams.get("watch") === "true" &&
      url.searchParams.get("sendInitialEvents") === "true" && !url.searchParams.has("resourceVersion");
    if (!isFirst) return await this.#forward(passing);
    const identity = identityOf(url, headers.get("accept") ?? "");
    const kept = this.#kept.get(identity);
    if (kept !== undefined) {
      this.hits++;
      return kept.join();
    }
    const response = await this.#forward({ ...passing, signal: this.#stop.signal });
    if (!response.ok || response.body === null) return response;
    const made = new KeptWatch(passing, this.#forward, this.#stop.signal, () => this.#kept.delete(identity));
    this.#kept.set(identity, made);
    const joined = made.join();
    made.run(response.body);
    return joined;
  };

  /** Forgets everything, such as when rights have changed: whoever watches begins anew. */
  clear(): void {
    for (const kept of [...this.#kept.values()]) kept.end();
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.clear();
  }
}

/** What tells one watch from another: its path and what it selects. */
function identityOf(url: URL, accept: string): string {
  const chosen = ["labelSelector", "fieldSelector"].map((name) => url.searchParams.get(name) ?? "");
  return [url.pathname, ...chosen, accept].join(" ");
}

class KeptWatch {
  readonly #passing: Passing;
  readonly #forward: Forward;
  readonly #signal: AbortSignal;
  readonly #onEnd: () => void;
  readonly #objects = new Map<string, WatchLine["object"]>();
  readonly #listeners = new Set<Listener>();
  #bookmark: WatchLine["object"] | undefined;
  #resourceVersion = "";
  #isOver = false;
  #lines = 0;
  #reader: ReadableStreamDefaultReader<string> | undefined;

  constructor(passing: Passing, forward: Forward, signal: AbortSignal, onEnd: () => void) {
    this.#passing = passing;
    this.#forward = forward;
    this.#signal = signal;
    this.#onEnd = onEnd;
  }

  /** A stream of what there is, and of what comes. */
  join(): Response {
    let own: Listener;
    const body = new ReadableStream<Uint8Array>({
      start: (listener) => {
        own = listener;
        for (const object of this.#objects.values()) write(listener, { type: "ADDED", object });
        if (this.#bookmark !== undefined) write(listener, { type: "BOOKMARK", object: this.#atEnd(this.#bookmark) });
        this.#listeners.add(listener);
      },
      cancel: () => void this.#listeners.delete(own),
    });
    return new Response(body, { headers: { "content-type": "application/json" } });
  }

  /** Reads the server's streams, one after another, for as long as they go on from each other. */
  async run(first: ReadableStream<Uint8Array>): Promise<void> {
    try {
      let body: ReadableStream<Uint8Array> | null = first;
      while (body !== null && !this.#isOver) {
        const before = this.#lines;
        // One that broke off can be gone on from as one that was ended.
        await this.#read(body).catch(() => {});
        // The initial list has no order, so a part of it has no resourceVersion to resume from.
        if (!this.#isOver && this.#lines > 0 && this.#bookmark === undefined) return this.end(TRUNCATED);
        // To open one after another that brings nothing would be a storm.
        if (this.#isOver || this.#resourceVersion === "" || this.#lines === before) break;
        const url = new URL(this.#passing.url);
        for (const name of ["sendInitialEvents", "resourceVersionMatch"]) url.searchParams.delete(name);
        url.searchParams.set("resourceVersion", this.#resourceVersion);
        const response = await this.#forward({ ...this.#passing, url, signal: this.#signal });
        body = response.ok ? response.body : null;
      }
    } catch { /* whoever watches begins anew, and is told then what is wrong */ }
    this.end();
  }

  /** Ends the streams of those who watch, with the reason. */
  end(why: StreamEnd = EXPIRED): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
    this.#reader?.cancel().catch(() => {});
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...why };
    for (const listener of this.#listeners) {
      write(listener, { type: "ERROR", object: status as WatchLine["object"] });
      try {
        listener.close();
      } catch { /* he has gone */ }
    }
    this.#listeners.clear();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const lines = (rest + chunk.value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") this.#take(JSON.parse(line), line);
      if (this.#isOver) return;
    }
  }

  #take(event: WatchLine, line: string): void {
    const { type, object } = event;
    this.#lines++;
    if (type === "ERROR") return this.end();
    const { name = "", namespace = "", resourceVersion, annotations } = object.metadata ?? {};
    if (resourceVersion !== undefined) this.#resourceVersion = resourceVersion;
    if (type === "DELETED") this.#objects.delete(`${namespace}/${name}`);
    else if (type !== "BOOKMARK") this.#objects.set(`${namespace}/${name}`, object);
    else if (annotations?.[INITIAL_END] === "true") this.#bookmark = object;
    const bytes = new TextEncoder().encode(`${line}\n`);
    for (const listener of this.#listeners) enqueue(listener, bytes);
  }

  /** The bookmark behind all that there is, as of now. */
  #atEnd(bookmark: WatchLine["object"]): WatchLine["object"] {
    return { ...bookmark, metadata: { ...bookmark.metadata, resourceVersion: this.#resourceVersion } };
  }
}

function write(listener: Listener, line: WatchLine): void {
  enqueue(listener, new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}

function enqueue(listener: Listener, bytes: Uint8Array): void {
  try {
    listener.enqueue(bytes);
  } catch { /* he has gone */ }
}
