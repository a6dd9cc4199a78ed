/**
 * Keeps the watches of a program open while the program restarts, and stores the objects that they
 * returned. If the restarted program starts the same watch, it gets the objects from this cache,
 * without a request to the API server. If the API server expires a watch, the cache removes it.
 */
import type { Forward, ForwardedRequest } from "./proxy.ts";

/** A line of a watch, with the fields that the cache uses. */
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
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

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

/** Caches watches and the objects that they returned. */
export class WatchCache implements Disposable {
  readonly #forward: Forward;
  readonly #cached = new Map<string, CachedWatch>();
  readonly #stop = new AbortController();
  /** The number of watches that the cache served. */
  hits = 0;

  /** @param forward Sends a request to the API server. */
  constructor(forward: Forward) {
    this.#forward = forward;
  }

  /**
   * Forwards a request, or serves it from the cache if it is a cached watch with initial events.
   */
  readonly forward: Forward = async (request) => {
    const { method, url, headers } = request;
    const sendsInitialEvents = method === "GET" && url.searchParams.get("watch") === "true" &&
      url.searchParams.get("sendInitialEvents") === "true" && !url.searchParams.has("resourceVersion");
    if (!sendsInitialEvents) return await this.#forward(request);
    const key = keyOf(url, headers.get("accept") ?? "");
    const cached = this.#cached.get(key);
    if (cached !== undefined) {
      this.hits++;
      return cached.join();
    }
    const response = await this.#forward({ ...request, signal: this.#stop.signal });
    if (!response.ok || response.body === null) return response;
    const watch = new CachedWatch(request, this.#forward, this.#stop.signal, () => this.#cached.delete(key));
    this.#cached.set(key, watch);
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

/** Returns the cache key of a watch: its path, its selectors and its media type. */
function keyOf(url: URL, accept: string): string {
  const selectors = ["labelSelector", "fieldSelector"].map((name) => url.searchParams.get(name) ?? "");
  return [url.pathname, ...selectors, accept].join(" ");
}

class CachedWatch {
  readonly #request: ForwardedRequest;
  readonly #forward: Forward;
  readonly #signal: AbortSignal;
  readonly #onEnd: () => void;
  readonly #objects = new Map<string, WatchLine["object"]>();
  readonly #listeners = new Set<Listener>();
  #bookmark: WatchLine["object"] | undefined;
  #resourceVersion = "";
  #hasEnded = false;
  #lines = 0;
  #reader: ReadableStreamDefaultReader<string> | undefined;

  constructor(request: ForwardedRequest, forward: Forward, signal: AbortSignal, onEnd: () => void) {
    this.#request = request;
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
      while (body !== null && !this.#hasEnded) {
        const before = this.#lines;
        // A stream that failed is resumed like one that has ended.
        await this.#read(body).catch(() => {});
        // The initial list has no order, so a part of it has no resourceVersion to resume from.
        if (!this.#hasEnded && this.#lines > 0 && this.#bookmark === undefined) return this.end(TRUNCATED);
        // A stream without events is not resumed, because that could loop without a pause.
        if (this.#hasEnded || this.#resourceVersion === "" || this.#lines === before) break;
        const url = new URL(this.#request.url);
        for (const name of ["sendInitialEvents", "resourceVersionMatch"]) url.searchParams.delete(name);
        url.searchParams.set("resourceVersion", this.#resourceVersion);
        const response = await this.#forward({ ...this.#request, url, signal: this.#signal });
        body = response.ok ? response.body : null;
      }
    } catch { /* Clients start new watches, which return the error. */ }
    this.end();
  }

  /** Ends the streams of all clients with a reason. */
  end(reason: StreamEnd = EXPIRED): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
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
      if (this.#hasEnded) return;
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
    else if (annotations?.[INITIAL_EVENTS_END] === "true") this.#bookmark = object;
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
