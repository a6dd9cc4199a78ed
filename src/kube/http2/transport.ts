/** Sends requests to one server over HTTP/2 connections, which are opened on demand. */
import { aborted, linked } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import type { WireResponse } from "../response.ts";
import type { Transport, WireRequest } from "../connection.ts";
import { FetchTransport, rejectInvalidCa } from "../http.ts";
import { handshakeError } from "../network_error.ts";
import { Http2Connection } from "./connection.ts";
import { ConnectionClosedError, NotProcessedError, UnansweredError } from "./errors.ts";

// A server that rejects a request with GOAWAY may do so again on the next connection. As in Go's
// client (golang.org/x/net/http2, RoundTripOpt), a request is repeated at once, then after 1, 2 and
// 4 s. Go's client continues for a minute; this one then throws the error.
const MAX_ATTEMPTS = 5;
const FIRST_PAUSE = 1000;

/**
 * Time to open a connection, in milliseconds, as in client-go (`pkg/util/net`,
 * TLSHandshakeTimeout).
 */
const HANDSHAKE_TIMEOUT = 10_000;

/** One of several connections to the server. It is opened by the first request that uses it. */
interface ConnectionSlot {
  /** The pending attempt to open the connection, if any. Concurrent requests share it. */
  opening: Promise<Http2Connection | undefined> | undefined;
  connection: Http2Connection | undefined;
}

/** Options of {@linkcode Http2Transport}. */
export interface Http2TransportOptions {
  /** Returns the trusted certificate authorities as PEM. It is called for each connection. */
  readonly ca: () => string | Promise<string>;
  readonly clock: Clock;
}

/** Sends requests to one server. If the server does not support HTTP/2, it uses `fetch`. */
export class Http2Transport implements Transport {
  readonly #ca: () => string | Promise<string>;
  readonly #clock: Clock;
  /** Used by {@linkcode Http2Transport.fetch}, and for servers without HTTP/2. */
  #fallback: FetchTransport | undefined;
  #supportsHttp2 = true;
  #isClosed = false;
  /** The connections, by `connectionIndex` of a request. */
  #slots: ConnectionSlot[] = [];
  /** Aborted by a reset, so that requests that were pending at that time are not repeated. */
  #untilReset = new AbortController();
  /**
   * All open connections, and those being opened. Some no longer accept requests but still wait for
   * responses.
   */
  readonly #connections = new Set<{ close(): void }>();

  constructor({ ca, clock }: Http2TransportOptions) {
    this.#ca = ca;
    this.#clock = clock;
  }

  async fetch(request: Request): Promise<Response> {
    return await (await this.#fetchTransport()).fetch(request);
  }

  async send(url: string, request: WireRequest): Promise<WireResponse> {
    const { method, headers, body, signal, streams = false, isUrgent = false, fence } = request;
    const start = "https://".length;
    const slash = url.indexOf("/", start);
    const [authority, path] = [url.slice(start, slash), url.slice(slash)];
    const { signal: resetSignal } = this.#untilReset;
    let { connectionIndex = 0 } = request;
    for (let failures = 0;;) {
      if (!this.#supportsHttp2) return await (await this.#fetchTransport()).send(url, request);
      const connection = await this.#connectionAt(connectionIndex, authority, signal);
      if (connection === undefined) continue;
      // If the server allows few streams, watches use additional connections, so that streams are
      // left for requests.
      if (streams && connection.isOpen && !connection.mayWatch(connectionIndex > 0)) {
        connectionIndex++;
        continue;
      }
      try {
        return await connection.request({ method, authority, path, headers, body, signal, streams, isUrgent, fence });
      } catch (error) {
        if (++failures === MAX_ATTEMPTS || !mayRepeat(error, request)) throw error;
      }
      if (failures === 1) continue;
      using waiting = linked(signal === null ? [resetSignal] : [resetSignal, signal]);
      await sleep(this.#clock, FIRST_PAUSE * 2 ** (failures - 2), waiting.signal);
    }
  }

  reset(): void {
    for (const connection of [...this.#connections]) connection.close();
    this.#slots = [];
    this.#untilReset.abort(new ConnectionClosedError());
    this.#untilReset = new AbortController();
    this.#supportsHttp2 = true;
    this.#fallback?.reset();
  }

  close(): void {
    this.#isClosed = true;
    this.reset();
    this.#fallback?.close();
  }

  async #fetchTransport(): Promise<FetchTransport> {
    const ca = await this.#ca();
    // Checked after the await, so that concurrent calls create only one.
    return this.#fallback ??= new FetchTransport({ ca });
  }

  /**
   * Returns a connection, opening it if needed; `undefined` if the server does not support HTTP/2.
   */
  async #connectionAt(
    index: number,
    authority: string,
    signal: AbortSignal | null,
  ): Promise<Http2Connection | undefined> {
    const slot = this.#slots[index] ??= { opening: undefined, connection: undefined };
    return slot.connection?.isOpen ? slot.connection : await untilAborted(this.#open(slot, authority), signal);
  }

  #open(slot: ConnectionSlot, authority: string): Promise<Http2Connection | undefined> {
    return slot.opening ??= this.#connect(authority).then((connection) => {
      // The transport was reset or closed in the meantime.
      if (this.#isClosed || !this.#slots.includes(slot)) connection?.close();
      slot.connection = connection;
      this.#supportsHttp2 = connection !== undefined;
      return connection;
    }).finally(() => slot.opening = undefined);
  }

  async #connect(authority: string): Promise<Http2Connection | undefined> {
    const { hostname, port } = new URL(`https://${authority}`);
    const ca = await this.#ca();
    rejectInvalidCa(ca);
    const attempt = new ConnectionAttempt({
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 443),
      authority,
      ca,
    });
    this.#connections.add(attempt);
    const timeout = new AbortController();
    try {
      const { tls, alpnProtocol } = await Promise.race([
        attempt.open(),
        sleep(this.#clock, HANDSHAKE_TIMEOUT, timeout.signal).then(() => {
          throw new Error(`the server did not complete the TLS handshake within ${HANDSHAKE_TIMEOUT / 1000} s`);
        }),
      ]);
      if (alpnProtocol !== "h2") {
        tls.close();
        return undefined;
      }
      // Another connection's stream limit is a better initial value than the default.
      const other = this.#slots.findLast((slot) => slot?.connection !== undefined)?.connection;
      const connection = new Http2Connection(tls, {
        clock: this.#clock,
        maxStreams: other?.maxStreams ?? 100,
        onEnd: () => void this.#connections.delete(connection),
      });
      this.#connections.add(connection);
      return connection;
    } catch (error) {
      attempt.close();
      throw error;
    } finally {
      timeout.abort();
      this.#connections.delete(attempt);
    }
  }
}

/** An attempt to open one TLS connection. Closing it makes the attempt fail. */
class ConnectionAttempt {
  readonly #options: { hostname: string; port: number; authority: string; ca: string };
  #tls: Deno.TlsConn | undefined;
  #isClosed = false;

  constructor(options: { hostname: string; port: number; authority: string; ca: string }) {
    this.#options = options;
  }

  async open(): Promise<{ tls: Deno.TlsConn; alpnProtocol: string | null }> {
    const { hostname, port, authority, ca } = this.#options;
    const tcp = await Deno.connect({ hostname, port });
    if (this.#isClosed) {
      tcp.close();
      throw new ConnectionClosedError();
    }
    // Nagle's algorithm would delay a small request until the previous one is acknowledged.
    tcp.setNoDelay(true);
    let tls: Deno.TlsConn;
    try {
      tls = this.#tls = await Deno.startTls(tcp, { hostname, caCerts: [ca], alpnProtocols: ["h2", "http/1.1"] });
    } catch (error) {
      tcp.close();
      throw error;
    }
    try {
      return { tls, alpnProtocol: (await tls.handshake()).alpnProtocol };
    } catch (cause) {
      throw handshakeError(cause, authority) ?? cause;
    }
  }

  close(): void {
    this.#isClosed = true;
    try {
      this.#tls?.close();
    } catch {
      // It is already closed.
    }
  }
}

/**
 * Returns whether a failed request may be sent again. As in client-go (`rest`, Request.request),
 * this includes reads that the server may have processed.
 */
function mayRepeat(error: unknown, { method, streams }: WireRequest): boolean {
  // The informer restarts a watch itself, from the last version that it received.
  return error instanceof NotProcessedError || error instanceof UnansweredError && method === "GET" && !streams;
}

/** Waits for a connection until the signal of the request is aborted. */
async function untilAborted<T>(opening: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return await opening;
  await Promise.race([opening, aborted(signal)]);
  signal.throwIfAborted();
  return await opening;
}
