/** Requests over HTTP/2 connections of our own: one a lane, opened when it is first needed, and again when it is gone. */
import { aborted, linked } from "../base/abort.ts";
import { type Clock, sleep } from "../base/clock.ts";
import type { Answer } from "./answer.ts";
import type { Connection, Outgoing } from "./connection.ts";
import { shakeHands } from "./handshake.ts";
import { refuseNoPem, tlsTransport } from "./http.ts";
import { Http2 } from "./http2.ts";
import { NotProcessedError, UnansweredError } from "./http2_asking.ts";

// A server that takes no more requests on a connection may say so again on the next. As Go's client does (golang.org/x/net/http2, RoundTripOpt), a request is
// sent again at once, then after 1, 2 and 4 s; that one goes on for a minute, where ours tells whoever asked.
const MOST_TRIES = 5;
const FIRST_PAUSE = 1000;

/** One connection, or what is to become one. */
interface Lane {
  opening: Promise<Http2 | undefined> | undefined;
  open: Http2 | undefined;
}

// client-go gives a handshake as long (k8s.io/apimachinery `pkg/util/net`, TLSHandshakeTimeout).
const PATIENCE = 10_000;

/** What connections are opened with. */
export interface Http2TransportOptions {
  /** The authorities to trust, PEM. Asked for each connection: they may be others by then. */
  readonly ca: () => string | Promise<string>;
  readonly clock: Clock;
}

/** Sends requests to one server. A server that speaks no HTTP/2 is asked by `fetch`. */
export function http2Transport(
  { ca, clock }: Http2TransportOptions,
): Required<Pick<Connection, "fetch" | "send" | "reset">> & { close(): void } {
  let held: ReturnType<typeof tlsTransport> | undefined;
  let speaksHttp2 = true;
  let isClosed = false;
  let lanes: Lane[] = [];
  /** Aborted by a reset: what goes on then is not sent again. */
  let over = new AbortController();
  /** All connections that live, those too that take no more requests but still answer some. */
  const living = new Set<{ close(): void }>();

  const plain = async () => {
    const caCert = await ca();
    // Looked at after the wait: of two who ask at once, one makes it.
    return held ??= tlsTransport({ ca: caCert });
  };

  const connect = async (authority: string): Promise<Http2 | undefined> => {
    const { hostname, port } = new URL(`https://${authority}`);
    const host = hostname.replace(/^\[|\]$/g, "");
    const caCert = await ca();
    refuseNoPem(caCert);
    let connection: Deno.TlsConn | undefined;
    let isOver = false;
    const attempt = {
      close() {
        isOver = true;
        try {
          connection?.close();
        } catch {
          // It is closed already.
        }
      },
    };
    living.add(attempt);
    const open = async (): Promise<Deno.TlsConn> => {
      const tcp = await Deno.connect({ hostname: host, port: Number(port || 443) });
      if (isOver) {
        tcp.close();
        throw new Error("the connection was closed");
      }
      // Requests are small, and none may wait for the answer to another.
      tcp.setNoDelay(true);
      const options = { hostname: host, caCerts: [caCert], alpnProtocols: ["h2", "http/1.1"] };
      try {
        return connection = await Deno.startTls(tcp, options);
      } catch (error) {
        tcp.close();
        throw error;
      }
    };
    const late = new AbortController();
    try {
      const opening = open().then(async (connection) => ({ connection, ...await shakeHands(connection, authority) }));
      const { connection: made, alpnProtocol } = await Promise.race([
        opening,
        sleep(clock, PATIENCE, late.signal).then(() => {
          throw new Error(`the server did not answer within ${PATIENCE / 1000} s`);
        }),
      ]);
      if (alpnProtocol !== "h2") {
        made.close();
        return undefined;
      }
      // Another connection said already how many requests the server takes at once.
      const mostStreams = lanes.findLast((lane) => lane?.open !== undefined)?.open?.mostStreams ?? 100;
      const http2 = new Http2(made, { clock, mostStreams, onGone: () => void living.delete(http2) });
      living.add(http2);
      return http2;
    } catch (error) {
      attempt.close();
      throw error;
    } finally {
      late.abort();
      living.delete(attempt);
    }
  };

  /** The connection of a lane, or nothing where the server speaks no HTTP/2. Requests that come while it is opened share it. */
  const opened = (lane: Lane, authority: string): Promise<Http2 | undefined> =>
    lane.opening ??= connect(authority).then((connection) => {
      // It was given up meanwhile.
      if (isClosed || !lanes.includes(lane)) connection?.close();
      lane.open = connection;
      speaksHttp2 = connection !== undefined;
      return connection;
    }).finally(() => lane.opening = undefined);

  /** The connection of a lane, opened where it is not. */
  const reached = async (lane: number, authority: string, signal: AbortSignal | null): Promise<Http2 | undefined> => {
    const held = lanes[lane] ??= { opening: undefined, open: undefined };
    return held.open?.isOpen ? held.open : await within(opened(held, authority), signal);
  };

  const send = async (url: string, outgoing: Outgoing): Promise<Answer> => {
    const { method, headers, body, signal, streams = false, isUrgent = false, fence } = outgoing;
    const start = "https://".length;
    const slash = url.indexOf("/", start);
    const [authority, path] = [url.slice(start, slash), url.slice(slash)];
    const { signal: isOver } = over;
    let { lane = 0 } = outgoing;
    for (let failures = 0;;) {
      if (!speaksHttp2) return await (await plain()).send(url, outgoing);
      const connection = await reached(lane, authority, signal);
      if (connection === undefined) continue;
      // Where a server takes few requests at once, watches go on to the next lane, so that others find room beside them.
      if (streams && connection.isOpen && !connection.hasRoomToWatch(lane > 0)) {
        lane++;
        continue;
      }
      try {
        return await connection.request({ method, authority, path, headers, body, signal, streams, isUrgent, fence });
      } catch (error) {
        if (++failures === MOST_TRIES || !mayGoAgain(error, outgoing)) throw error;
      }
      if (failures === 1) continue;
      using cut = linked(signal === null ? [isOver] : [isOver, signal]);
      await sleep(clock, FIRST_PAUSE * 2 ** (failures - 2), cut.signal);
    }
  };

  const reset = (): void => {
    for (const connection of [...living]) connection.close();
    lanes = [];
    over.abort(new Error("the connection was closed"));
    over = new AbortController();
    speaksHttp2 = true;
    held?.reset();
  };

  return {
    fetch: async (request) => await (await plain()).fetch(request),
    send,
    reset,
    close() {
      isClosed = true;
      reset();
      held?.close();
    },
  };
}

/** Whether a request that failed may be sent again. client-go sends again as well what only reads (k8s.io/client-go `rest`, Request.request). */
function mayGoAgain(error: unknown, { method, streams }: Outgoing): boolean {
  // Watches know themselves where to go on.
  return error instanceof NotProcessedError || error instanceof UnansweredError && method === "GET" && !streams;
}

/** No request waits for a connection longer than its signal allows. */
async function within<T>(opening: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return await opening;
  await Promise.race([opening, aborted(signal)]);
  signal.throwIfAborted();
  return await opening;
}
