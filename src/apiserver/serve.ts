/** Serves an API server on a TCP port, for kubectl and other clients outside the process. */
import { isCrossOrigin, isLocalHost } from "../base/local_host.ts";
import { SUPERUSER } from "./access/user.ts";
import type { Apiserver, FetchOptions } from "./mod.ts";
import { statusResponse } from "./wire/formats.ts";
import { StatusError } from "./wire/status_error.ts";

/** Options for {@linkcode serveApiserver}. */
export interface ServeOptions {
  /** Port to listen on; 0 selects a free one. @default {0} */
  readonly port?: number;
  /** Address to listen on. @default {"127.0.0.1"} */
  readonly hostname?: string;
  /**
   * Certificate of the server, which enables HTTPS with HTTP/1.1 and HTTP/2.
   *
   * @default {plain HTTP}
   */
  readonly certificate?: ServerCertificate;
  /**
   * Whether a server without `rbac` accepts requests that have no token. kubectl sends no token
   * over plain HTTP.
   *
   * @default {false}
   */
  readonly anonymous?: boolean;
}

/**
 * A server's certificate and key, and the certificate of the authority that signed it, all as PEM.
 */
export interface ServerCertificate {
  /** Certificate of the server. */
  readonly certificate: string;
  /** Private key of the certificate. */
  readonly key: string;
  /** Certificate of the authority, with which clients verify the server. */
  readonly caCert: string;
}

/** An API server that listens on a port. */
export interface ServedApiserver extends AsyncDisposable {
  /** URL of the server, such as `http://127.0.0.1:8001`. */
  readonly url: string;
  /**
   * Bearer token of a user in the group `system:masters`. The API server's own tokens are accepted
   * too.
   */
  readonly token: string;
  /**
   * Certificate of the authority that signed the server's certificate, as PEM; absent over plain
   * HTTP.
   */
  readonly caCert?: string;
  /** Stops listening and closes all connections. The API server itself continues. */
  close(): Promise<void>;
}

/**
 * Serves an API server over HTTP, or over HTTPS if it has a certificate.
 *
 * The server protects itself against web pages. It rejects requests from pages of other origins
 * and, over plain HTTP, requests whose Host is neither an IP address nor `localhost`. Clients must
 * send the token, unless `anonymous` is set. {@linkcode kubeconfigFor} returns a kubeconfig that
 * contains the token.
 *
 * @param apiserver The API server.
 * @param options Additional options.
 * @returns The URL, the token, and a method to stop listening.
 * @throws {Deno.errors.AddrInUse} If the port is in use.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { createApiserver, serveApiserver } from "@op/sdk/testing";
 *
 * await using apiserver = createApiserver();
 * await using served = serveApiserver(apiserver);
 * const headers = { authorization: `Bearer ${served.token}` };
 * const response = await fetch(`${served.url}/api/v1/namespaces/default`, { headers });
 * assert.equal((await response.json()).kind, "Namespace");
 * ```
 */
export function serveApiserver(apiserver: Apiserver, options: ServeOptions = {}): ServedApiserver {
  const { port = 0, hostname = "127.0.0.1", certificate, anonymous = false } = options;
  const tls = certificate && { cert: certificate.certificate, key: certificate.key };
  const token = crypto.randomUUID();
  const open = new AbortController();
  const server = Deno.serve(
    { port, hostname, onListen: () => {}, signal: open.signal, ...tls },
    (request) => {
      // Over TLS, this check is not needed, since the client compares the host with the
      // certificate.
      if (tls === undefined && !isLocalHost(request)) return forbidden(hostRejection(request));
      if (isCrossOrigin(request)) return forbidden(originRejection(request.headers));
      return apiserver.fetch(withoutSignal(request), senderOf(request.headers.get("authorization"), token, anonymous));
    },
  );
  const address = server.addr as Deno.NetAddr;
  const host = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname;
  async function close(): Promise<void> {
    open.abort();
    await server.finished;
  }
  return {
    url: `${tls === undefined ? "http" : "https"}://${host}:${address.port}`,
    token,
    ...(certificate === undefined ? {} : { caCert: certificate.caCert }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Returns the superuser for the server's own token; otherwise, the API server authenticates the
 * request.
 */
export function senderOf(authorization: string | null | undefined, token: string, anonymous: boolean): FetchOptions {
  return authorization === `Bearer ${token}` ? { user: SUPERUSER } : { anonymous };
}

function hostRejection({ url, headers }: Request): string {
  const host = URL.canParse(url) ? new URL(url).hostname : headers.get("host");
  return `Host ${JSON.stringify(host)} is not served. Use an IP address or "localhost".`;
}

/** Returns the error message for a request from a web page of another origin. */
export function originRejection(headers: Headers): string {
  const origin = JSON.stringify(headers.get("origin"));
  return `Origin ${origin} is not served. Pages of other origins must not call this server.`;
}

/** Returns a response with the status 403. */
export function forbidden(message: string): Response {
  const { status, code } = new StatusError(403, "Forbidden", message);
  return statusResponse(status, code);
}

/**
 * Returns the request without its signal. The signal is not needed: a client that disconnects
 * cancels the response's body, which ends an open watch. Deno aborts the signal even after
 * successful responses, and prints a warning when code reads it.
 */
function withoutSignal({ url, method, headers, body }: Request): Request {
  return new Request(url, { method, headers, body });
}

/** Options for {@linkcode kubeconfigFor}. */
export interface KubeconfigOptions {
  /** Name of the cluster, the user and the context. @default {"apiserver"} */
  readonly name?: string;
  /**
   * Bearer token of the user. Without a token, kubectl asks for credentials, even if the server
   * accepts anonymous requests.
   *
   * @default {the served API server's token, else "anything"}
   */
  readonly token?: string;
  /**
   * Client certificate of the user and its key, both as PEM. If set, the kubeconfig contains no
   * token.
   *
   * @default {none}
   */
  readonly certificate?: { readonly certificate: string; readonly key: string };
  /**
   * Certificate of the authority that signed the server's, as PEM.
   *
   * @default {the served API server's authority, else those that the client trusts}
   */
  readonly caCert?: string;
}

/**
 * Returns a kubeconfig file for a server.
 *
 * @param server The served API server, or the URL of another server. For a served API server, the
 * file contains its token and the certificate of its authority.
 * @param options Additional options, or only the name.
 * @returns The content of the file as JSON, which is valid YAML.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
 *
 * await using apiserver = createApiserver();
 * await using served = serveApiserver(apiserver);
 * assert.match(kubeconfigFor(served), /"server": "http:\/\/127.0.0.1:\d+"/);
 * ```
 */
export function kubeconfigFor(
  server: string | Pick<ServedApiserver, "url" | "token" | "caCert">,
  options: KubeconfigOptions | string = {},
): string {
  const known: KubeconfigOptions & { readonly url: string } = typeof server === "string" ? { url: server } : server;
  const given: KubeconfigOptions = typeof options === "string" ? { name: options } : options;
  const { url, name = "apiserver", token = "anything", certificate, caCert } = { ...known, ...given };
  const user = certificate === undefined
    ? { token }
    : { "client-certificate-data": btoa(certificate.certificate), "client-key-data": btoa(certificate.key) };
  const authority = caCert !== undefined && { "certificate-authority-data": btoa(caCert) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, ...authority } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
