/** Requests with credentials, over TLS. */
import { aloneFirst, type Gate } from "./alone_first.ts";
import type { Connection, Transport } from "./connection.ts";

/** How a server is trusted, and how we prove who we are by certificate. */
export interface TlsOptions {
  /** The authorities to trust, PEM. The system's where it is left out. */
  readonly ca?: string;
  /** Our certificate and its key, PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** A proxy's address. */
  readonly proxy?: string;
}

/**
 * A transport over TLS that speaks HTTP/2 where the server does, so that all requests share one connection.
 *
 * @param tls Trust and certificates.
 * @throws {TypeError} If the authority is not PEM.
 */
export function tlsTransport(
  tls: TlsOptions,
): Required<Pick<Connection, "fetch" | "send" | "reset">> & { close(): void } {
  if (tls.ca !== undefined) refuseNoPem(tls.ca);
  // Connections belong to a client of Deno's: another client opens its own.
  let lanes = [laneOver(tls)];
  const laneOf = (lane: number): Lane => lanes[lane] ??= laneOver(tls);
  const close = (): void => lanes.forEach(({ client }) => client.close());
  return {
    fetch: (request) => {
      // As the client does for its own watches: fetch decodes only the first gzip member of a response.
      if (new URL(request.url).searchParams.has("watch")) request.headers.set("accept-encoding", "identity");
      const { client, gate } = laneOf(0);
      return gate(() => fetch(request, { client }), request.signal);
    },
    send: (url, { lane = 0, headers, streams: _, ...outgoing }) => {
      const { client, gate } = laneOf(lane);
      // Headers as a list: Deno reads an object property by property, with a check of each.
      return gate(() => fetch(url, { ...outgoing, headers: Object.entries(headers), client }), outgoing.signal);
    },
    reset() {
      close();
      lanes = [laneOver(tls)];
    },
    close,
  };
}

/**
 * Refuses an authority that is no certificate.
 *
 * @throws {TypeError} If it is not PEM.
 */
export function refuseNoPem(ca: string): void {
  if (ca.includes("-----BEGIN CERTIFICATE-----")) return;
  // Deno takes any text, and trusts nobody for it.
  throw new TypeError(
    "Cannot trust the certificate authority: it is not PEM: no line reads -----BEGIN CERTIFICATE-----",
  );
}

/** One connection, or what is to become one. */
interface Lane {
  readonly client: Deno.HttpClient;
  readonly gate: Gate;
}

function laneOver(tls: TlsOptions): Lane {
  const client = Deno.createHttpClient({
    ...(tls.ca === undefined ? {} : { caCerts: [tls.ca] }),
    ...(tls.certificate ?? {}),
    ...(tls.proxy === undefined ? {} : { proxy: { url: tls.proxy } }),
    http2: true,
    http1: true,
  });
  return { client, gate: aloneFirst() };
}

/** Our own credentials cannot be had, so nothing was asked. */
export class CredentialError extends Error {
  override name = "CredentialError";
}

/** Answers the token of now, and on `again` one that is read anew. */
export type TokenSource = (again: boolean) => Promise<string>;

/**
 * Adds a bearer token to requests, and reads it anew when it was refused: tokens rotate.
 *
 * @param transport Where requests go.
 * @param token Where tokens come from.
 */
export function withToken(
  transport: { readonly fetch: Transport; readonly send?: Connection["send"] | undefined },
  token: TokenSource,
): Required<Pick<Connection, "fetch" | "renew">> & Pick<Connection, "send"> {
  const { send } = transport;
  let held = { token: "", authorization: "" };
  // The same text from request to request: it is long, and whoever sends it looks whether it is the same.
  const authorization = async (again: boolean): Promise<string> => {
    const now = await token(again);
    if (now !== held.token) held = { token: now, authorization: `Bearer ${now}` };
    return held.authorization;
  };
  return {
    fetch: async (request) => {
      request.headers.set("authorization", await authorization(false));
      return await transport.fetch(request);
    },
    ...(send === undefined ? {} : {
      send: async (url, outgoing) => {
        outgoing.headers.authorization = await authorization(false);
        return await send(url, outgoing);
      },
    }),
    renew: async (refused) => refused !== await authorization(true),
  };
}
