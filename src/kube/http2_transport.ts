/** Requests over HTTP/2 connections of our own: one a lane, opened when it is first needed, and again when it is gone. */
import { aborted } from "../base/abort.ts";
import type { Answer } from "./answer.ts";
import type { Connection, Outgoing } from "./connection.ts";
import { refuseNoPem, tlsTransport } from "./http.ts";
import { Http2 } from "./http2.ts";
import { NotProcessedError } from "./http2_asking.ts";

// A server that takes no more requests on a connection may say so again on the next.
const MOST_TRIES = 3;

/** One connection, or what is to become one. */
interface Lane {
  opening: Promise<Http2 | undefined> | undefined;
  open: Http2 | undefined;
}

/**
 * Sends requests to one server. A server that speaks no HTTP/2 is asked by `fetch`.
 *
 * @param ca The authorities to trust, PEM.
 * @throws {TypeError} If they are not PEM.
 */
export function http2Transport(ca: string): Required<Pick<Connection, "fetch" | "send" | "reset">> & { close(): void } {
  refuseNoPem(ca);
  let held: ReturnType<typeof tlsTransport> | undefined;
  const plain = () => held ??= tlsTransport({ ca });
  let speaksHttp2 = true;
  let isClosed = false;
  let lanes: Lane[] = [];

  const connect = async (authority: string): Promise<Http2 | undefined> => {
    const { hostname, port } = new URL(`https://${authority}`);
    const options = {
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 443),
      caCerts: [ca],
      alpnProtocols: ["h2", "http/1.1"],
    };
    const connection = await Deno.connectTls(options);
    try {
      const { alpnProtocol } = await connection.handshake();
      if (alpnProtocol === "h2") return new Http2(connection);
      connection.close();
      return undefined;
    } catch (error) {
      connection.close();
      throw error;
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

  const send = async (url: string, outgoing: Outgoing): Promise<Answer> => {
    const { method, headers, body, signal, streams = false } = outgoing;
    const start = "https://".length;
    const slash = url.indexOf("/", start);
    const [authority, path] = [url.slice(start, slash), url.slice(slash)];
    for (let attempt = 1;; attempt++) {
      if (!speaksHttp2) return await plain().send(url, outgoing);
      const lane = lanes[outgoing.lane ?? 0] ??= { opening: undefined, open: undefined };
      const connection = lane.open?.isOpen ? lane.open : await within(opened(lane, authority), signal);
      if (connection === undefined) continue;
      try {
        return await connection.request({ method, authority, path, headers, body, signal, streams });
      } catch (error) {
        if (!(error instanceof NotProcessedError) || attempt === MOST_TRIES) throw error;
      }
    }
  };

  const reset = (): void => {
    for (const { open } of lanes) open?.close();
    lanes = [];
    held?.reset();
  };

  return {
    fetch: (request) => plain().fetch(request),
    send,
    reset,
    close() {
      isClosed = true;
      reset();
      held?.close();
    },
  };
}

/** No request waits for a connection longer than its signal allows. */
async function within<T>(opening: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return await opening;
  await Promise.race([opening, aborted(signal)]);
  signal.throwIfAborted();
  return await opening;
}
