/** An API server on a TCP port, for kubectl and any other client outside the process. */
import { isCrossOrigin, isLocalHost } from "../base/local_host.ts";
import { ADMINISTRATOR } from "./access/user.ts";
import type { Apiserver, FetchOptions } from "./mod.ts";
import { statusResponse } from "./wire/formats.ts";
import { StatusError } from "./wire/status_error.ts";

/** Options for {@linkcode serveApiserver}. */
export interface ServeOptions {
  /** The port; 0 takes a free one. @default {0} */
  readonly port?: number;
  /** The address to listen on. @default {"127.0.0.1"} */
  readonly hostname?: string;
  /** By which it is known; then it speaks HTTPS, HTTP/2 included. @default {plain HTTP} */
  readonly certificate?: ServerCertificate;
  /**
   * Whether a server that enforces no roles answers callers without a token. kubectl sends none over plain HTTP.
   *
   * @default {false}
   */
  readonly anonymous?: boolean;
}

/** A server's certificate, its key, and that of the authority that signed it, all as PEM. */
export interface ServerCertificate {
  /** The certificate. */
  readonly certificate: string;
  /** Its key. */
  readonly key: string;
  /** The authority's certificate, for those who are to trust it. */
  readonly caCert: string;
}

/** An API server that listens. */
export interface ServedApiserver extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:8001`. */
  readonly url: string;
  /** A bearer token of the group `system:masters`. Tokens that the API server knows are accepted too. */
  readonly token: string;
  /** The certificate of the authority that signed the server's, as PEM; absent over plain HTTP. */
  readonly caCert?: string;
  /** Stops listening and closes all connections. The server itself is not stopped. */
  close(): Promise<void>;
}

/**
 * Serves an API server over HTTP, or HTTPS with a certificate.
 *
 * A page in a browser must not reach it: over plain HTTP, a request is answered only if its Host is an IP address or `localhost`, and requests of pages of
 * another origin are rejected. A caller must show a token, unless `anonymous` is set; {@linkcode kubeconfigFor} writes it into a kubeconfig.
 *
 * @param apiserver The server.
 * @param options Additional options.
 * @returns Where it listens, and how to stop it.
 * @throws {Deno.errors.AddrInUse} If the port is taken.
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
      // Over TLS, the client compares the name with the certificate.
      if (tls === undefined && !isLocalHost(request)) return forbidden(hostRefusal(request));
      if (isCrossOrigin(request)) return forbidden(originRefusal(request.headers));
      return apiserver.fetch(withoutSignal(request), callerOf(request.headers.get("authorization"), token, anonymous));
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

/** Who sends a request: the administrator with the server's own token; otherwise the API server looks at the request. */
export function callerOf(authorization: string | null | undefined, token: string, anonymous: boolean): FetchOptions {
  return authorization === `Bearer ${token}` ? { user: ADMINISTRATOR } : { anonymous };
}

function hostRefusal({ url, headers }: Request): string {
  const host = URL.canParse(url) ? new URL(url).hostname : headers.get("host");
  return `Host ${JSON.stringify(host)} is not served: use an IP address or "localhost"`;
}

/** Why a page of another origin gets no answer. */
export function originRefusal(headers: Headers): string {
  const origin = JSON.stringify(headers.get("origin"));
  return `Origin ${origin} is not served: pages of other origins may not call this server`;
}

/** Returns a response with the status 403. */
export function forbidden(message: string): Response {
  const { status, code } = new StatusError(403, "Forbidden", message);
  return statusResponse(status, code);
}

/**
 * A client that goes away cancels the response's body, and with it an open watch. Deno's signal of a served request is aborted after answers that
 * went well, too, and warns about it when it is looked at: it is left behind.
 */
function withoutSignal({ url, method, headers, body }: Request): Request {
  return new Request(url, { method, headers, body });
}

/** Options for {@linkcode kubeconfigFor}. */
export interface KubeconfigOptions {
  /** What cluster, user and context are called. @default {"apiserver"} */
  readonly name?: string;
  /** The bearer token. kubectl wants one even where the server asks for none. @default {the served API server's, else "anything"} */
  readonly token?: string;
  /** The certificate by which the user is known, and its key, both as PEM: in place of a token. @default {none} */
  readonly certificate?: { readonly certificate: string; readonly key: string };
  /** The certificate of the authority that signed the server's, as PEM. @default {none: those that the client trusts} */
  readonly caCert?: string;
}

/**
 * Returns the kubeconfig file for a server.
 *
 * @param server The served API server, whose token and authority it gets; or the URL of another server.
 * @param options Additional options, or the name alone.
 * @returns The text of the file: YAML, in its JSON form.
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
