/**
 * Serves health and metrics over HTTP/1.1, one request per connection. It does not use
 * `Deno.serve`, which stops for good when the process runs out of file descriptors, and which
 * neither limits connections nor closes idle ones: any client that reaches the port could make the
 * kubelet restart the pod.
 */
import { type Clock, sleep } from "../base/clock.ts";

/** Options of {@linkcode HealthServer}. */
export interface HealthServerOptions {
  readonly hostname: string;
  /** The port, or 0 for any free port. */
  readonly port: number;
  readonly clock: Clock;
  /**
   * The maximum number of open connections. Beyond it, the oldest connection without a request is
   * closed. @default {64}
   */
  readonly connections?: number;
  /** The timeout for a request and its response, in milliseconds. @default {10_000} */
  readonly time?: number;
}

/** Responds to a request. It never rejects. */
export type HealthHandler = (request: Request) => Promise<Response>;

// The maximum size of a request's head in characters. A bearer token has at most 16 KiB.
const MAX_HEAD = 32_768;
// The maximum number of bytes to discard after the head.
const MAX_DISCARDED = 65_536;
// The delay after a failed accept, in milliseconds.
const RETRY_DELAY = 10;
// The number of connections to close when the process has no file descriptors left.
const EVICTED = 8;
const HEAD_END = "\r\n\r\n";
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** A server for health and metrics. */
export class HealthServer implements AsyncDisposable {
  readonly #options: HealthServerOptions;
  readonly #handler: HealthHandler;
  readonly #listener: Deno.TcpListener;
  readonly #accepting: Promise<void>;
  /** The open connections, oldest first, and whether each has sent a request. */
  readonly #open = new Map<Deno.TcpConn, { hasRequest: boolean }>();

  /** @throws {Deno.errors.AddrInUse} If the port is in use. */
  constructor(options: HealthServerOptions, handler: HealthHandler) {
    this.#options = options;
    this.#handler = handler;
    this.#listener = Deno.listen({ hostname: options.hostname, port: options.port });
    this.#accepting = this.#accept();
  }

  /** The port on which the server listens. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#open.size;
  }

  async #accept(): Promise<void> {
    const { clock, connections = 64 } = this.#options;
    while (true) {
      let connection: Deno.TcpConn;
      try {
        connection = await this.#listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
        // The process may have run out of file descriptors; closing connections frees some.
        for (let i = 0; i < EVICTED && this.#evict(); i++);
        await sleep(clock, RETRY_DELAY);
        continue;
      }
      if (this.#open.size < connections || this.#evict()) this.#serve(connection);
      else close(connection);
    }
  }

  /**
   * Closes the oldest connection that has not sent a request. Returns `false` if there is none.
   */
  #evict(): boolean {
    for (const [connection, { hasRequest }] of this.#open) {
      if (hasRequest) continue;
      this.#close(connection);
      return true;
    }
    return false;
  }

  #close(connection: Deno.TcpConn): void {
    this.#open.delete(connection);
    close(connection);
  }

  async #serve(connection: Deno.TcpConn): Promise<void> {
    const { clock, time = 10_000 } = this.#options;
    const state = { hasRequest: false };
    this.#open.set(connection, state);
    using _timeout = clock.after(time, () => this.#close(connection));
    try {
      const head = await readHead(connection);
      if (head === undefined) return;
      state.hasRequest = true;
      await writeAll(connection, await this.#respond(head));
      await connection.closeWrite();
      // Unread bytes would reset the connection before the client has read the response.
      await discardRest(connection);
    } catch {
      // The client disconnected or was too slow.
    } finally {
      this.#close(connection);
    }
  }

  async #respond(head: string): Promise<Uint8Array> {
    const [isHead, response] = await this.#responseTo(head);
    const body = new Uint8Array(await response.arrayBuffer());
    const headers = new Headers(response.headers);
    headers.set("content-length", String(body.length));
    headers.set("connection", "close");
    headers.set("date", new Date(this.#options.clock.now()).toUTCString());
    const { status } = response;
    const lines = [`HTTP/1.1 ${status} ${STATUS_TEXTS[status] ?? ""}`, ...[...headers].map((pair) => pair.join(": "))];
    const first = new TextEncoder().encode(`${lines.join("\r\n")}${HEAD_END}`);
    if (isHead) return first;
    const all = new Uint8Array(first.length + body.length);
    all.set(first);
    all.set(body, first.length);
    return all;
  }

  async #responseTo(head: string): Promise<[isHead: boolean, response: Response]> {
    if (head.length >= MAX_HEAD) return [false, plain(431, "The headers are too long")];
    const [first = "", ...lines] = head.split("\r\n");
    const [, method, target] = /^([A-Z]+) (\/\S*) HTTP\/1\.[01]$/.exec(first) ?? [];
    if (method === undefined) return [false, plain(400, "This is not an HTTP/1.1 request")];
    if (method !== "GET" && method !== "HEAD") return [false, plain(405, "Method not allowed. Use GET or HEAD.")];
    const headers = parseHeaders(lines);
    if (headers === undefined) return [false, plain(400, "A header is malformed")];
    return [method === "HEAD", await this.#handler(new Request(`http://localhost${target}`, { headers }))];
  }

  /** Closes the port and all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#listener.close();
    } catch { /* already closed */ }
    for (const connection of this.#open.keys()) this.#close(connection);
    await this.#accepting;
  }
}

/**
 * Reads the head of a request, without the empty line after it. Returns `undefined` if the stream
 * ends before that line.
 */
async function readHead(connection: Deno.TcpConn): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  let text = "";
  while (text.length < MAX_HEAD) {
    const size = await connection.read(buffer);
    if (size === null) return undefined;
    text += decoder.decode(buffer.subarray(0, size), { stream: true });
    const end = text.indexOf(HEAD_END);
    if (end !== -1) return text.slice(0, end);
  }
  return text;
}

function parseHeaders(lines: readonly string[]): Headers | undefined {
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    try {
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    } catch {
      return undefined;
    }
  }
  return headers;
}

function plain(status: number, message: string): Response {
  return new Response(`${message}\n`, { status });
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

async function discardRest(connection: Deno.TcpConn): Promise<void> {
  const buffer = new Uint8Array(4096);
  let rest = MAX_DISCARDED;
  while (rest > 0) {
    const size = await connection.read(buffer);
    if (size === null) return;
    rest -= size;
  }
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch { /* already closed */ }
}
