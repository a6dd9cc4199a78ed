/** Errors for connections that could not be opened. */
import { type ConnectionFailure, connectionFailure, innermostCause } from "../base/deno_errors.ts";

/** Why a server could not be reached. */
export type NetworkErrorCode =
  | "ConnectionRefused"
  | "UntrustedCertificate"
  | "NetworkUnreachable"
  | "NameNotFound"
  | "HandshakeClosed"
  | "NotTls";

/** A connection to a server could not be opened. */
export class NetworkError extends Error {
  override name = "NetworkError";
  /** The reason. */
  readonly code: NetworkErrorCode;

  constructor(code: NetworkErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Converts the error of a TLS handshake to a {@linkcode NetworkError}.
 *
 * @param cause The error that the handshake threw.
 * @param authority Host and port of the server, such as `10.0.0.1:6443`.
 * @returns The error; `undefined` for other causes, such as an untrusted certificate.
 */
export function handshakeError(cause: unknown, authority: string): NetworkError | undefined {
  if (CLOSED_BY_PEER.some((type) => cause instanceof type)) {
    const message = `the connection was closed during the TLS handshake. ` +
      `Check the process that listens on "${authority}", its log, and proxies and load balancers in front of it`;
    return new NetworkError("HandshakeClosed", message, { cause });
  }
  if (connectionFailure(cause) === "NotTls") {
    const message = `"${authority}" does not use TLS. Check the port, and proxies in front of it`;
    return new NetworkError("NotTls", message, { cause });
  }
  return undefined;
}

const CLOSED_BY_PEER = [
  Deno.errors.UnexpectedEof,
  Deno.errors.ConnectionReset,
  Deno.errors.BrokenPipe,
  Deno.errors.ConnectionAborted,
];

const MESSAGES: { readonly [failure in ConnectionFailure]?: readonly [code: NetworkErrorCode, message: string] } = {
  ConnectionRefused: [
    "ConnectionRefused",
    "connection refused. Check that the API server is running, and its address",
  ],
  UntrustedCertificate: [
    "UntrustedCertificate",
    "the server's certificate is not signed by the certificate authority of the kubeconfig (UnknownIssuer). " +
    "Set certificate-authority-data",
  ],
  NetworkUnreachable: ["NetworkUnreachable", "there is no route to it. Check the address and the network"],
  NameNotFound: ["NameNotFound", "its name cannot be resolved. Check the address and DNS"],
};

/**
 * Converts the error of a request to a {@linkcode NetworkError}.
 *
 * @param cause The error that `fetch`, `Deno.connect` or the client in `http2` threw.
 * @returns The error; for reasons without a {@linkcode NetworkErrorCode}, the innermost cause.
 */
export function networkError(cause: unknown): unknown {
  const inner = innermostCause(cause, (error) => error instanceof NetworkError);
  if (!(inner instanceof Error) || inner instanceof NetworkError) return inner;
  const failure = connectionFailure(inner);
  const found = failure && MESSAGES[failure];
  return found === undefined ? inner : new NetworkError(...found, { cause });
}
