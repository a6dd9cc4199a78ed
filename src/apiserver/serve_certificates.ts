/**
 * Serves an API server on a TCP port for users with client certificates. `Deno.serve` cannot
 * request client certificates, so this module uses Node's HTTPS server, which can in Deno 2.9 but
 * not in 2.4. It supports only HTTP/1.1.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { PeerCertificate, TLSSocket } from "node:tls";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { Readable } from "node:stream";
import { isCrossOrigin } from "../base/local_host.ts";
import { unauthorized } from "./access/denial.ts";
import { AUTHENTICATED, type User } from "./access/user.ts";
import type { Apiserver } from "./mod.ts";
import { forbidden, originRejection, senderOf, type ServedApiserver, type ServeOptions } from "./serve.ts";
import { statusResponse } from "./wire/formats.ts";

/** Options for {@linkcode serveWithClientCertificates}. */
export interface ServeWithClientCertificatesOptions extends ServeOptions {
  /** Certificate of the server. */
  readonly certificate: NonNullable<ServeOptions["certificate"]>;
  /**
   * Certificate of the authority that signs client certificates, as PEM.
   *
   * @default {`certificate.caCert`}
   */
  readonly clientCaCert?: string;
}

/**
 * Returns whether this version of Deno can request client certificates: 2.9 can, 2.4 cannot.
 * Without them, users authenticate with tokens.
 *
 * @example Usage
 * ```ts
 * import {
 *   createApiserver,
 *   localCertificate,
 *   serveApiserver,
 *   serveWithClientCertificates,
 *   supportsClientCertificates,
 * } from "@op/sdk/testing";
 *
 * const certificate = await localCertificate();
 * await using apiserver = createApiserver();
 * await using served = supportsClientCertificates()
 *   ? await serveWithClientCertificates(apiserver, { certificate })
 *   : serveApiserver(apiserver, { certificate });
 * ```
 */
export function supportsClientCertificates(): boolean {
  return "getPeerX509Certificate" in process.getBuiltinModule("node:tls").TLSSocket.prototype;
}

/**
 * Serves an API server over HTTPS for users with client certificates and for users with tokens.
 *
 * The common name of a certificate is the user, and its organizations are the user's groups, as
 * with a real API server.
 *
 * @param apiserver The API server.
 * @param options Certificates and address.
 * @returns The URL, the token, and a method to stop listening.
 * @throws {Deno.errors.NotSupported} If this version of Deno cannot request client certificates.
 * @throws {Deno.errors.AddrInUse} If the port is in use.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import {
 *   createApiserver,
 *   localAuthority,
 *   serveWithClientCertificates,
 *   supportsClientCertificates,
 * } from "@op/sdk/testing";
 *
 * if (supportsClientCertificates()) {
 *   const authority = await localAuthority();
 *   await using apiserver = createApiserver({ rbac: true });
 *   const certificate = await authority.server();
 *   await using served = await serveWithClientCertificates(apiserver, { certificate });
 *   const { certificate: cert, key } = await authority.client("jane", ["system:masters"]);
 *   using client = Deno.createHttpClient({ caCerts: [authority.caCert], cert, key });
 *   const response = await fetch(`${served.url}/api/v1/namespaces/default`, { client });
 *   assert.equal((await response.json()).metadata.name, "default");
 * }
 * ```
 */
export async function serveWithClientCertificates(
  apiserver: Apiserver,
  options: ServeWithClientCertificatesOptions,
): Promise<ServedApiserver> {
  const { port = 0, hostname = "127.0.0.1", certificate: { certificate, key, caCert }, clientCaCert = caCert } =
    options;
  const { anonymous = false } = options;
  const token = crypto.randomUUID();
  if (!supportsClientCertificates()) {
    throw new Deno.errors.NotSupported(
      `serveWithClientCertificates(): Deno ${Deno.version.deno} cannot request client certificates. ` +
        "Use tokens, or Deno 2.9 or later.",
    );
  }
  // Loading the module takes long, so it is loaded only here.
  const { createServer } = process.getBuiltinModule("node:https");
  const tls = { cert: certificate, key, ca: [clientCaCert], requestCert: true, rejectUnauthorized: false };
  const server = createServer(
    tls,
    (incoming, outgoing) => void serve(apiserver, incoming, outgoing, { token, anonymous }),
  );
  await listen(server, port, hostname);
  const address = server.address() as AddressInfo;
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }
  return { url: `https://${host}:${address.port}`, token, caCert, close, [Symbol.asyncDispose]: close };
}

function listen(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: Error & { code?: string }) => {
      reject(error.code === "EADDRINUSE" ? new Deno.errors.AddrInUse(error.message, { cause: error }) : error);
    });
    server.listen(port, hostname, resolve);
  });
}

async function serve(
  apiserver: Apiserver,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { token, anonymous }: { readonly token: string; readonly anonymous: boolean },
): Promise<void> {
  const closed = new AbortController();
  outgoing.once("close", () => closed.abort());
  try {
    const request = toRequest(incoming, closed.signal);
    const sender = certifiedUser(incoming);
    // A browser that has the client certificate sends it with the requests of any page.
    const rejection = isCrossOrigin(request)
      ? forbidden(originRejection(request.headers))
      : sender === "invalid"
      ? unauthorizedResponse()
      : undefined;
    const response = rejection ?? await apiserver.fetch(
      request,
      typeof sender === "object" ? { user: sender } : senderOf(incoming.headers.authorization, token, anonymous),
    );
    await send(response, outgoing, closed.signal);
  } catch {
    // The client has disconnected, or the API server has stopped.
    outgoing.destroy();
  }
}

/**
 * Returns the user of a connection's client certificate; `undefined` if it has none, or if another
 * authority signed it and the request has a token.
 */
function certifiedUser({ socket, headers }: IncomingMessage): User | "invalid" | undefined {
  const tls = socket as TLSSocket;
  const certificate = tls.getPeerCertificate();
  if (certificate?.subject === undefined) return undefined;
  if (tls.authorized) return certificateUser(certificate);
  return headers.authorization === undefined ? "invalid" : undefined;
}

function unauthorizedResponse(): Response {
  const { status, code } = unauthorized();
  return statusResponse(status, code);
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", url = "/", headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(new URL(url, `https://${headers.host ?? "localhost"}`), {
    method,
    headers: toHeaders(incoming),
    signal,
    ...hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array> },
  });
}

function toHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return headers;
}

/**
 * Sends a response with backpressure. If the client disconnects, the rest of the response is
 * cancelled, such as a watch.
 */
async function send(response: Response, outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of response.headers) {
    const known = headers[name];
    headers[name] = known === undefined ? value : [...[known].flat(), value];
  }
  outgoing.writeHead(response.status, headers);
  // The headers of a watch are sent before its first event.
  outgoing.flushHeaders();
  if (response.body !== null) {
    const reader = response.body.getReader();
    const cancel = () => void reader.cancel().catch(() => {});
    signal.addEventListener("abort", cancel, { once: true });
    for (let next = await reader.read(); !next.done && !signal.aborted; next = await reader.read()) {
      if (!outgoing.write(next.value)) await waitForDrain(outgoing, signal);
    }
  }
  outgoing.end();
}

function waitForDrain(outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    outgoing.once("drain", done);
    signal.addEventListener("abort", done, { once: true });
  });
}

/**
 * Returns the user of a certificate: the common name is the user name, and the organizations are
 * the groups (`k8s.io/apiserver/pkg/authentication/request/x509`).
 *
 * @param certificate A verified certificate.
 * @returns The user; `undefined` if the certificate has no common name.
 */
function certificateUser({ subject, fingerprint256 }: PeerCertificate): User | undefined {
  const [name] = asList(subject?.CN);
  if (!name) return undefined;
  const id = `X509SHA256=${fingerprint256.replaceAll(":", "").toLowerCase()}`;
  return {
    name,
    groups: [...asList(subject.O), AUTHENTICATED],
    extra: { "authentication.kubernetes.io/credential-id": [id] },
  };
}

/** A subject's attribute is a string if it occurs once, and a list if it occurs more often. */
function asList(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}
