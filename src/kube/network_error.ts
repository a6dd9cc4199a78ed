/**
 * Errors of connections that could not be opened. Deno has classes for only some of them and puts
 * the rest into messages, so this file is the only one that reads those messages.
 */

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
 * Returns the error of a TLS handshake as a {@linkcode NetworkError}.
 *
 * @param cause What the handshake threw.
 * @param authority Host and port of the server, such as `10.0.0.1:6443`.
 * @returns The error; `undefined` if the cause is of another kind, such as an untrusted
 * certificate.
 */
export function handshakeError(cause: unknown, authority: string): NetworkError | undefined {
  if (CLOSING.some((closing) => cause instanceof closing)) {
    const message = `the connection was closed during the TLS handshake. ` +
      `Check the process that listens on "${authority}", its log, and proxies and load balancers in front of it`;
    return new NetworkError("HandshakeClosed", message, { cause });
  }
  if (cause instanceof Error && /corrupt message/.test(cause.message)) {
    const message = `"${authority}" does not use TLS. Check the port, and proxies in front of it`;
    return new NetworkError("NotTls", message, { cause });
  }
  return undefined;
}

const CLOSING = [
  Deno.errors.UnexpectedEof,
  Deno.errors.ConnectionReset,
  Deno.errors.BrokenPipe,
  Deno.errors.ConnectionAborted,
];

const PATTERNS: readonly { pattern: RegExp; code: NetworkErrorCode; message: string }[] = [
  {
    pattern: /connection refused/i,
    code: "ConnectionRefused",
    message: "connection refused. Check that the API server is running, and its address",
  },
  {
    pattern: /UnknownIssuer/,
    code: "UntrustedCertificate",
    message: "the server's certificate is not signed by the certificate authority of the kubeconfig (UnknownIssuer). " +
      "Set certificate-authority-data",
  },
  {
    pattern: /network is unreachable|no route to host/i,
    code: "NetworkUnreachable",
    message: "there is no route to it. Check the address and the network",
  },
  {
    pattern: /dns error|failed to lookup/i,
    code: "NameNotFound",
    message: "its name cannot be resolved. Check the address and DNS",
  },
];

/**
 * Returns what Deno threw for a request as a {@linkcode NetworkError}. Deno has the reason in the
 * innermost cause.
 *
 * @param cause What `fetch`, `Deno.connect` or the client in `http2` threw.
 * @returns The error; the innermost cause if its reason is none of {@linkcode NetworkErrorCode}.
 */
export function networkError(cause: unknown): unknown {
  let inner = cause;
  while (!(inner instanceof NetworkError) && inner instanceof Error && inner.cause instanceof Error) {
    inner = inner.cause;
  }
  if (!(inner instanceof Error) || inner instanceof NetworkError) return inner;
  const { message: text } = inner;
  const found = PATTERNS.find(({ pattern }) => pattern.test(text));
  return found === undefined ? inner : new NetworkError(found.code, found.message, { cause });
}
