/** Errors of requests that got no usable response. */
import { ResponseTooLargeError } from "./response.ts";
import type { RequestInfo } from "./api_error.ts";
import { CredentialError } from "./http.ts";
import { NetworkError, networkError } from "./network_error.ts";

/** Why a request got no usable response. `ConnectionLost` covers all other reasons. */
export type ConnectionErrorCode =
  | "ConnectionRefused"
  | "UntrustedCertificate"
  | "NetworkUnreachable"
  | "NameNotFound"
  | "HandshakeClosed"
  | "NotTls"
  | "CredentialsUnavailable"
  | "ResponseTooLarge"
  | "InvalidResponse"
  | "ConnectionLost";

/**
 * The API server did not respond, or its response is not JSON. The server may have processed the
 * request, unless the code means that no connection was opened, such as `ConnectionRefused`.
 *
 * @example Recognizing a server that is down
 * ```ts
 * import assert from "node:assert/strict";
 * import { Client, ConnectionError } from "@op/sdk/client";
 *
 * const client = new Client({ url: "http://127.0.0.1:2", fetch, close() {} });
 * const error = await client.raw("/version").catch((error) => error);
 * assert(error instanceof ConnectionError && error.code === "ConnectionRefused");
 * ```
 */
export class ConnectionError extends Error {
  /** Always `ConnectionError`. */
  override name = "ConnectionError";
  /** The reason. */
  readonly code: ConnectionErrorCode;

  /**
   * Creates the error.
   *
   * @param code The reason.
   * @param message What failed, and why.
   * @param options The cause.
   */
  constructor(code: ConnectionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The response to a watch ended in the middle of an event, or before the initial list was complete.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { Client, TruncatedStreamError } from "@op/sdk/client";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const fetch = () => Promise.resolve(new Response('{"type":"ADD'));
 * const client = new Client({ url: "http://cluster", fetch, close() {} });
 * const error = await client.watch(ConfigMap).next().catch((error) => error);
 * assert(error instanceof TruncatedStreamError);
 * ```
 */
export class TruncatedStreamError extends Error {
  /** Always `TruncatedStreamError`. */
  override name = "TruncatedStreamError";
  /** Always `TruncatedStream`. */
  readonly code = "TruncatedStream";
}

/**
 * Returns the error for a request that got no response.
 *
 * @param request What was requested.
 * @param url URL of the server.
 * @param cause The error that the connection threw.
 */
export function connectionError({ verb, target }: RequestInfo, url: string, cause: unknown): ConnectionError {
  const failed = `Cannot ${verb} ${target}`;
  if (cause instanceof CredentialError) {
    return new ConnectionError(cause.code, `${failed}: ${lowerFirst(cause.message)}`, { cause });
  }
  if (cause instanceof ResponseTooLargeError) {
    return new ConnectionError(cause.code, `${failed}: ${cause.message}`, { cause });
  }
  const reason = networkError(cause);
  const code = reason instanceof NetworkError ? reason.code : "ConnectionLost";
  const message = reason instanceof Error ? reason.message : String(reason);
  return new ConnectionError(code, `${failed}: no response from "${url}": ${message}`, { cause });
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
