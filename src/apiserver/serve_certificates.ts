/**
 * An API server on a TCP port that knows users by their client certificates. `Deno.serve` cannot ask for one, so this is Node's HTTPS server, which on
 * Deno 2.4 cannot either: there users are known by tokens alone. It speaks HTTP/1.1.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { Readable } from "node:stream";
import { isCrossOrigin } from "../base/local_host.ts";
import { certificateUser } from "./access/certificate_user.ts";
import { unauthorized } from "./access/refusal.ts";
import type { User } from "./access/user.ts";
import type { Apiserver } from "./mod.ts";
import { callerOf, forbidden, originRefusal, type ServedApiserver, type ServeOptions } from "./serve.ts";
import { statusResponse } from "./wire/formats.ts";

/** Options for {@linkcode serveToCertificates}. */
export interface ServeToCertificatesOptions extends ServeOptions {
  /** By which the server is known. */
  readonly certificate: NonNullable<ServeOptions["certificate"]>;
  /** The certificate of the authority that signs those of users, as PEM. @default {that of the server's own} */
  readonly clientCaCert?: string;
}

/**
 * Whether this Deno can ask clients for a certificate: 2.9 can, 2.4 cannot. Where it cannot, users are known by their tokens.
 *
 * @example Usage
 * ```ts
 * import { createApiserver, localCertificate, serveApiserver, serveToCertificates, takesClientCertificates } from "@op/sdk/testing";
 *
 * const certificate = await localCertificate();
 * await using apiserver = createApiserver();
 * await using served = takesClientCertificates()
 *   ? await serveToCertificates(apiserver, { certificate })
 *   : serveApiserver(apiserver, { certificate });
 * ```
 */
export function takesClientCertificates(): boolean {
  return "getPeerX509Certificate" in process.getBuiltinModule("node:tls").TLSSocket.prototype;
}

/**
 * Serves an API server over HTTPS to users who show a client certificate, and to those who show a token.
 *
 * A certificate's common name is the user, its organisations are the user's groups, as with a real API server.
 *
 * @param apiserver The server.
 * @param options Where it listens, and whom it trusts.
 * @returns Where it listens, and how to stop it.
 * @throws {Error} If this Deno cannot ask for certificates, or the port is taken (`Deno.errors.AddrInUse`).
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { createApiserver, localAuthority, serveToCertificates, takesClientCertificates } from "@op/sdk/testing";
 *
 * if (takesClientCertificates()) {
 *   const authority = await localAuthority();
 *   await using apiserver = createApiserver({ rbac: true });
 *   await using served = await serveToCertificates(apiserver, { certificate: await authority.server() });
 *   const { certificate: cert, key } = await authority.client("jane", ["system:masters"]);
 *   using client = Deno.createHttpClient({ caCerts: [authority.caCert], cert, key });
 *   const response = await fetch(`${served.url}/api/v1/namespaces/default`, { client });
 *   assert.equal((await response.json()).metadata.name, "default");
 * }
 * ```
 */
export async function serveToCertificates(
  apiserver: Apiserver,
  options: ServeToCertificatesOptions,
): Promise<ServedApiserver> {
  const { port = 0, hostname = "127.0.0.1", certificate: { certificate, key, caCert }, clientCaCert = caCert } =
    options;
  const { anonymous = false } = options;
  const token = crypto.randomUUID();
  if (!takesClientCertificates()) {
    throw new Error(
      `Cannot ask for client certificates: Deno ${Deno.version.deno} cannot; use tokens, or Deno 2.9 and later`,
    );
  }
  // Loaded only where it is used: it takes long.
  const { createServer } = process.getBuiltinModule("node:https");
  const tls = { cert: certificate, key, ca: [clientCaCert], requestCert: true, rejectUnauthorized: false };
  const server = createServer(
    tls,
    (incoming, outgoing) => void serve(apiserver, incoming, outgoing, { token, anonymous }),
  );
  await listening(server, port, hostname);
  const address = server.address() as AddressInfo;
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }
  return { url: `https://${host}:${address.port}`, token, caCert, close, [Symbol.asyncDispose]: close };
}

function listening(server: Server, port: number, hostname: string): Promise<void> {
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
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  try {
    const request = requestOf(incoming, gone.signal);
    const sender = senderOf(incoming);
    // A browser may have the client certificate, and shows it for the requests of any page.
    const refused = isCrossOrigin(request)
      ? forbidden(originRefusal(request.headers))
      : sender === "refused"
      ? refusal()
      : undefined;
    const response = refused ?? await apiserver.fetch(
      request,
      typeof sender === "object" ? { user: sender } : callerOf(incoming.headers.authorization, token, anonymous),
    );
    await send(response, outgoing, gone.signal);
  } catch {
    // Who went away hears no answer; a server that has stopped has none.
    outgoing.destroy();
  }
}

/** Whose certificate a connection shows; nobody where it shows none, or where a token is to say it, since the certificate is none of ours. */
function senderOf({ socket, headers }: IncomingMessage): User | "refused" | undefined {
  const tls = socket as TLSSocket;
  const certificate = tls.getPeerCertificate();
  if (certificate?.subject === undefined) return undefined;
  if (tls.authorized) return certificateUser(certificate);
  return headers.authorization === undefined ? "refused" : undefined;
}

function refusal(): Response {
  const { status, code } = unauthorized();
  return statusResponse(status, code);
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", url = "/", headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(new URL(url, `https://${headers.host ?? "localhost"}`), {
    method,
    headers: headersOf(incoming),
    signal,
    ...hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array> },
  });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return headers;
}

/** Sends an answer as fast as it is taken; who goes away cancels what is left of it, such as a watch. */
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
      if (!outgoing.write(next.value)) await drained(outgoing, signal);
    }
  }
  outgoing.end();
}

function drained(outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      outgoing.off("drain", go);
      signal.removeEventListener("abort", go);
      resolve();
    };
    outgoing.once("drain", go);
    signal.addEventListener("abort", go, { once: true });
  });
}
