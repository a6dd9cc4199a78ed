/** Sends requests with `fetch`, and adds bearer tokens to requests. */
import { type Linked, linked } from "../base/abort.ts";
import type { WireBody, WireBodyReader, WireResponse } from "./response.ts";
import type { Connection, Transport, WireRequest } from "./connection.ts";
import { type FirstRequestGate, firstRequestGate } from "./first_request_gate.ts";
import { ConnectionClosedError } from "./http2/errors.ts";

/** Trusted certificate authorities, the client certificate and the proxy. */
export interface TlsOptions {
  /** The trusted certificate authorities as PEM. @default {those of the system} */
  readonly ca?: string;
  /** The client certificate and its key, as PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** URL of a proxy. */
  readonly proxy?: string;
}

/**
 * Sends requests with `fetch`. If the server supports HTTP/2, all requests with the same
 * `connectionIndex` share one connection.
 */
export class FetchTransport implements Transport {
  readonly #tls: TlsOptions;
  /** The clients, by `connectionIndex`. An index that no request has used has no client. */
  #clients: (FetchClient | undefined)[];

  /**
   * @param tls Trusted authorities, client certificate and proxy.
   * @throws {TypeError} If the certificate authority is not PEM.
   */
  constructor(tls: TlsOptions) {
    if (tls.ca !== undefined) rejectInvalidCa(tls.ca);
    this.#tls = tls;
    this.#clients = [new FetchClient(tls)];
  }

  fetch(request: Request): Promise<Response> {
    // Watches must not be compressed, because fetch decodes only the first gzip member of a
    // response. `Client` sets the header for its own watches.
    if (new URL(request.url).searchParams.has("watch")) request.headers.set("accept-encoding", "identity");
    return this.#clients[0]!.fetch(request);
  }

  send(url: string, request: WireRequest): Promise<WireResponse> {
    const client = this.#clients[request.connectionIndex ?? 0] ??= new FetchClient(this.#tls);
    return client.send(url, request);
  }

  reset(): void {
    this.close();
    this.#clients = [new FetchClient(this.#tls)];
  }

  close(): void {
    for (const client of this.#clients) client?.close();
  }
}

/** An HTTP client of Deno, and its pending requests. With HTTP/2, it opens one connection. */
class FetchClient {
  readonly #client: Deno.HttpClient;
  readonly #gate: FirstRequestGate = firstRequestGate();
  /** Requests whose response has not been read completely. */
  readonly #pending = new Set<Linked>();

  constructor({ ca, certificate, proxy }: TlsOptions) {
    this.#client = Deno.createHttpClient({
      ...(ca === undefined ? {} : { caCerts: [ca] }),
      ...(certificate ?? {}),
      ...(proxy === undefined ? {} : { proxy: { url: proxy } }),
      http2: true,
      http1: true,
    });
  }

  async fetch(request: Request): Promise<Response> {
    const { signal, onEnd } = this.#track(request.signal);
    const init = { signal, client: this.#client };
    try {
      return withBodyCallback(await this.#gate(() => fetch(request, init), signal), onEnd);
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  async send(url: string, request: WireRequest): Promise<WireResponse> {
    const { method, headers, body } = request;
    const { signal, onEnd } = this.#track(request.signal);
    // Headers are passed as a list because it is faster: Deno validates each property of an object.
    const init = { method, headers: Object.entries(headers), body, signal, client: this.#client };
    try {
      return new PendingResponse(await this.#gate(() => fetch(url, init), signal), onEnd);
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  /**
   * Adds a pending request.
   *
   * @param requestSignal Signal of the request.
   * @returns The signal to send the request with, and a function to call at the end of the request.
   */
  #track(requestSignal: AbortSignal | null): { readonly signal: AbortSignal; readonly onEnd: () => void } {
    const pending = linked(requestSignal === null ? [] : [requestSignal]);
    this.#pending.add(pending);
    const onEnd = (): void => {
      this.#pending.delete(pending);
      pending[Symbol.dispose]();
    };
    return { signal: pending.signal, onEnd };
  }

  /**
   * Closes the connections. Closing only Deno's client would leave connections with pending
   * requests open.
   */
  close(): void {
    const error = new ConnectionClosedError();
    for (const pending of this.#pending) pending.abort(error);
    this.#client.close();
  }
}

/** Returns a response that calls back when its body has been read or discarded, or has failed. */
function withBodyCallback(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onEnd();
    },
    cancel(reason) {
      onEnd();
      return reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, response);
}

/** A response that calls back when its body has been read or discarded. */
class PendingResponse implements WireResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly #response: Response;
  readonly #onEnd: () => void;

  constructor(response: Response, onEnd: () => void) {
    this.#response = response;
    this.#onEnd = onEnd;
    this.ok = response.ok;
    this.status = response.status;
    this.headers = response.headers;
    if (response.body === null) onEnd();
  }

  get body(): WireBody | null {
    const { body } = this.#response;
    if (body === null) return null;
    const cancel = (reason?: unknown): Promise<void> => {
      this.#onEnd();
      return body.cancel(reason);
    };
    const getReader = (): WireBodyReader => {
      const reader = body.getReader();
      return {
        read: () => reader.read(),
        cancel: (reason) => {
          this.#onEnd();
          return reader.cancel(reason);
        },
      };
    };
    return { cancel, getReader };
  }

  json(): Promise<unknown> {
    return this.#response.json().finally(this.#onEnd);
  }

  text(): Promise<string> {
    return this.#response.text().finally(this.#onEnd);
  }
}

/**
 * Rejects a certificate authority that is not PEM. Deno accepts any string, and then rejects every
 * server certificate.
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

/** Returns the current token. If `again` is true, it reads the token from its source again. */
export type TokenSource = (again: boolean) => Promise<string>;

/**
 * Adds a bearer token to requests.
 *
 * @param transport Sends the requests.
 * @param token Returns the token.
 * @returns The methods of a connection. `renew` reads the token again, because tokens are rotated.
 */
export function withToken(
  transport: Pick<Transport, "fetch"> & Partial<Pick<Transport, "send">>,
  token: TokenSource,
): Required<Pick<Connection, "fetch" | "renew" | "token">> & Pick<Connection, "send"> {
  let current = { token: "", authorization: "" };
  // The header string is created once per token, because comparing a long string with itself is
  // faster than with a copy.
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
      send: async (url, request) => {
        request.headers.authorization = await authorization(false);
        return await transport.send!(url, request);
      },
    }),
    renew: async (rejected) => rejected !== await authorization(true),
    token: () => token(false),
  };
}
