/**
 * Keeps the watches of a program open across its restarts, with the objects that they returned. A
 * program that starts a watch of an earlier one gets the objects from here, without a request to
 * the API server. If the API server expires a watch, it is removed here too.
 */
import type { Forward, Passing } from "./proxy.ts";

/** A line of a watch, with the fields that are used here. */
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

/** Annotation of the bookmark that ends the initial events (KEP-3157). */
const INITIAL_END = "k8s.io/initial-events-end";

/** Fields of the `Status` that ends a stream. */
interface StreamEnd {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

const EXPIRED: StreamEnd = { code: 410, reason: "Expired", message: "the cached watch has expired" };
const TRUNCATED: StreamEnd = {
  code: 500,
  reason: "InternalError",
  message: "the stream of the API server ended before the initial list was complete",
};

type Listener = ReadableStreamDefaultController<Uint8Array>;

/** Caches watches. */
export class WatchCache implements Disposable {
  readonly #forward: Forward;
  readonly #cached = new Map<string, CachedWatch>();
  readonly #stop = new AbortController();
  /** The number of watches that were answered from the cache. */
  hits = 0;

  /** @param forward Sends a request to the API server. */
  constructor(forward: Forward) {
    this.#forward = forward;
  }

  /** Forwards a request. Watches with initial events are answered from the cache if possible. */
  readonly forward: Forward = async (passing) => {
    const { method, url, headers } = passing;
    const isFirst = method === "GET" && url.searchParams.get("watch") === "true" &&
      url.searchParams.get("sendInitialEvents") === "true" && !url.searchParams.has("resourceVersion");
    if (!isFirst) return await this.#forward(passing);
    const identity = identityOf(url, headers.get("accept") ?? "");
    const cached = this.#cached.get(identity);
    if (cached !== undefined) {
      this.hits++;
      return cached.join();
    }
    const response = await this.#forward({ ...passing, signal: this.#stop.signal });
    if (!response.ok || response.body === null) return response;
    const watch = new CachedWatch(passing, this.#forward, this.#stop.signal, () => this.#cached.delete(identity));
    this.#cached.set(identity, watch);
    const joined = watch.join();
    watch.run(response.body);
    return joined;
  };

  /**
   * Empties the cache and ends its watches, for example when permissions have changed. Clients then
   * start new watches.
   */
  clear(): void {
    for (const watch of [...this.#cached.values()]) watch.end();
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.clear();
  }
}

/** Returns what identifies a watch: its path, its selectors and its media type. */
function identityOf(url: URL, accept: string): string {
  const chosen = ["labelSelector", "fieldSelector"].map((name) => url.searchParams.get(name) ?? "");
  return [url.pathname, ...chosen, accept].join(" ");
}

class CachedWatch {
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

  /** Returns a stream of all current objects, followed by their changes. */
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

  /** Reads the watch, and resumes it as long as the API server allows it. */
  async run(first: ReadableStream<Uint8Array>): Promise<void> {
    try {
      let body: ReadableStream<Uint8Array> | null = first;
      while (body !== null && !this.#isOver) {
        const before = this.#lines;
        // A broken stream can be resumed like one that has ended.
        await this.#read(body).catch(() => {});
        // The initial list has no order, so a part of it has no resourceVersion to resume from.
        if (!this.#isOver && this.#lines > 0 && this.#bookmark === undefined) return this.end(TRUNCATED);
        // A stream without events is not resumed, which could repeat without a pause.
        if (this.#isOver || this.#resourceVersion === "" || this.#lines === before) break;
        const url = new URL(this.#passing.url);
        for (const name of ["sendInitialEvents", "resourceVersionMatch"]) url.searchParams.delete(name);
        url.searchParams.set("resourceVersion", this.#resourceVersion);
        const response = await this.#forward({ ...this.#passing, url, signal: this.#signal });
        body = response.ok ? response.body : null;
      }
    } catch { /* Clients start new watches and get the error then. */ }
    this.end();
  }

  /** Ends the streams of all clients with a reason. */
  end(reason: StreamEnd = EXPIRED): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
    this.#reader?.cancel().catch(() => {});
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...reason };
    for (const listener of this.#listeners) {
      write(listener, { type: "ERROR", object: status as WatchLine["object"] });
      try {
        listener.close();
      } catch { /* The client has disconnected. */ }
    }
    this.#listeners.clear();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const lines = (rest + chunk.value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") this.#accept(JSON.parse(line), line);
      if (this.#isOver) return;
    }
  }

  #accept(event: WatchLine, line: string): void {
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

  /** Returns the bookmark that ends the initial events, with the current resource version. */
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
  } catch { /* The client has disconnected. */ }
}
