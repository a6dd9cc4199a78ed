/** An API server on a TCP port, for kubectl and any other client outside the process. */
import type { Apiserver } from "./mod.ts";

/** Options for {@linkcode serveApiserver}. */
export interface ServeOptions {
  /** The port; 0 takes a free one. @default {0} */
  readonly port?: number;
  /** The address to listen on. @default {"127.0.0.1"} */
  readonly hostname?: string;
  /** By which it is known; then it speaks HTTPS, HTTP/2 included. @default {plain HTTP} */
  readonly certificate?: ServerCertificate;
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
  /** Stops listening and closes all connections. The server itself is not stopped. */
  close(): Promise<void>;
}

/**
 * Serves an API server over HTTP.
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
 * const response = await fetch(`${served.url}/readyz`);
 * assert.equal(await response.text(), "ok");
 * ```
 */
export function serveApiserver(apiserver: Apiserver, options: ServeOptions = {}): ServedApiserver {
  const { port = 0, hostname = "127.0.0.1", certificate } = options;
  const tls = certificate && { cert: certificate.certificate, key: certificate.key };
  const open = new AbortController();
  const server = Deno.serve(
    { port, hostname, onListen: () => {}, signal: open.signal, ...tls },
    (request) => apiserver.fetch(withoutSignal(request)),
  );
  const address = server.addr as Deno.NetAddr;
  const host = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname;
  async function close(): Promise<void> {
    open.abort();
    await server.finished;
  }
  return {
    url: `${tls === undefined ? "http" : "https"}://${host}:${address.port}`,
    close,
    [Symbol.asyncDispose]: close,
  };
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
  /** The bearer token. kubectl wants one even where the server asks for none. @default {"anything"} */
  readonly token?: string;
  /** The certificate by which the user is known, and its key, both as PEM: in place of a token. @default {none} */
  readonly certificate?: { readonly certificate: string; readonly key: string };
  /** The certificate of the authority that signed the server's, as PEM. @default {none: those that the client trusts} */
  readonly caCert?: string;
}

/**
 * A kubeconfig file for a server.
 *
 * @param url Where the server listens.
 * @param options Additional options, or the name alone.
 * @returns The text of the file: YAML, in its JSON form.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { kubeconfigFor } from "@op/sdk/testing";
 *
 * assert.match(kubeconfigFor("http://127.0.0.1:8001"), /"server": "http:\/\/127.0.0.1:8001"/);
 * ```
 */
export function kubeconfigFor(url: string, options: KubeconfigOptions | string = {}): string {
  const given: KubeconfigOptions = typeof options === "string" ? { name: options } : options;
  const { name = "apiserver", token = "anything", certificate, caCert } = given;
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
