/** Requests over `fetch`, and bearer tokens. */
import { type FirstRequestGate, firstRequestGate } from "./first_request_gate.ts";
import type { Answer } from "./answer.ts";
import type { Connection, Outgoing, Transport } from "./connection.ts";

/** How a server is trusted, and the client's certificate. */
export interface TlsOptions {
  /** The trusted certificate authorities as PEM. @default {those of the system} */
  readonly ca?: string;
  /** The client certificate and its key, as PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** URL of a proxy. */
  readonly proxy?: string;
}

/** One connection. Deno's clients do not share connections, so each lane has its own client. */
interface Lane {
  readonly client: Deno.HttpClient;
  readonly gate: FirstRequestGate;
}

/**
 * Sends requests with `fetch`. It uses HTTP/2 if the server does, so all requests share a
 * connection.
 */
export class FetchTransport implements Transport {
  readonly #tls: TlsOptions;
  #lanes: Lane[];

  /**
   * @param tls Trust and certificates.
   * @throws {TypeError} If the certificate authority is not PEM.
   */
  constructor(tls: TlsOptions) {
    if (tls.ca !== undefined) rejectInvalidCa(tls.ca);
    this.#tls = tls;
    this.#lanes = [newLane(tls)];
  }

  fetch(request: Request): Promise<Response> {
    // As the client does for its own watches: fetch decodes only the first gzip member of a
    // response.
    if (new URL(request.url).searchParams.has("watch")) request.headers.set("accept-encoding", "identity");
    const { client, gate } = this.#lanes[0]!;
    return gate(() => fetch(request, { client }), request.signal);
  }

  send(url: string, { lane = 0, headers, streams: _, ...outgoing }: Outgoing): Promise<Answer> {
    const { client, gate } = this.#lanes[lane] ??= newLane(this.#tls);
    // Headers as a list: Deno validates each property of an object.
    return gate(() => fetch(url, { ...outgoing, headers: Object.entries(headers), client }), outgoing.signal);
  }

  reset(): void {
    this.close();
    this.#lanes = [newLane(this.#tls)];
  }

  close(): void {
    for (const { client } of this.#lanes) client.close();
  }
}

function newLane(tls: TlsOptions): Lane {
  const client = Deno.createHttpClient({
    ...(tls.ca === undefined ? {} : { caCerts: [tls.ca] }),
    ...(tls.certificate ?? {}),
    ...(tls.proxy === undefined ? {} : { proxy: { url: tls.proxy } }),
    http2: true,
    http1: true,
  });
  return { client, gate: firstRequestGate() };
}

/**
 * Rejects a certificate authority that is not PEM. Deno accepts any string, and then trusts no
 * server.
 *
 * @throws {TypeError} If no line is `-----BEGIN CERTIFICATE-----`.
 */
export function rejectInvalidCa(ca: string): void {
  if (ca.includes("-----BEGIN CERTIFICATE-----")) return;
  throw new TypeError(
    "Invalid certificate authority: it is not PEM. It must contain the line -----BEGIN CERTIFICATE-----",
  );
}

/** The client's own credentials are unavailable, so the request was not sent. */
export class CredentialError extends Error {
  override name = "CredentialError";
  /** Always `CredentialsUnavailable`. */
  readonly code = "CredentialsUnavailable";
}

/** Returns the current token. With `again`, the token is read again from its source. */
export type TokenSource = (again: boolean) => Promise<string>;

/**
 * Adds a bearer token to requests.
 *
 * @param transport Sends the requests.
 * @param token Returns the token.
 * @returns The methods of a connection. `renew` reads the token again: tokens rotate.
 */
export function withToken(
  transport: Pick<Transport, "fetch"> & Partial<Pick<Transport, "send">>,
  token: TokenSource,
): Required<Pick<Connection, "fetch" | "renew">> & Pick<Connection, "send"> {
  let current = { token: "", authorization: "" };
  // Long strings are compared faster if they are the same object, so the header is created once per
  // token.
  const authorization = async (again: boolean): Promise<string> => {
    const latest = await token(again);
    if (latest !== current.token) current = { token: latest, authorization: `Bearer ${latest}` };
    return current.authorization;
  };
  return {
    fetch: async (request) => {
      request.headers.set("authorization", await authorization(false));
      return await transport.fetch(request);
    },
    ...(transport.send === undefined ? {} : {
      send: async (url, outgoing) => {
        outgoing.headers.authorization = await authorization(false);
        return await transport.send!(url, outgoing);
      },
    }),
    renew: async (refused) => refused !== await authorization(true),
  };
}
