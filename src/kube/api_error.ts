/** Error responses of an API server. */

/** A field that the API server rejected, and why. */
export interface StatusCause {
  /** Reason in one word, such as `FieldValueInvalid`. */
  readonly reason?: string;
  /** What is wrong, with the value. */
  readonly message?: string;
  /** Path of the field, such as `spec.ports[0].port`. */
  readonly field?: string;
}

/** The verb and the object of a request, for error messages and traces. */
export interface RequestInfo {
  /** The verb, such as `patch` or `list`. */
  readonly verb: string;
  /** The kind, with namespace and name if there are any, such as `Website "shop/web"`. */
  readonly target: string;
}

// Added because the server's own message is only "Unauthorized".
const UNAUTHORIZED_HINT = ". The token has expired or is for another cluster. Log in again, or renew the kubeconfig";

/**
 * The API server responded with an error. A request without a response fails with another class.
 *
 * @example Recognizing a missing object
 * ```ts
 * import assert from "node:assert/strict";
 * import { ApiError } from "@op/sdk";
 * import { Secret } from "@op/sdk/kinds";
 * import { memoryCluster } from "@op/sdk/testing";
 *
 * await using cluster = await memoryCluster();
 * const options = { namespace: "default" };
 * const error = await cluster.client.get(Secret, "none", options).catch((error) => error);
 * assert(error instanceof ApiError && error.code === "NotFound" && error.status === 404);
 * ```
 */
export class ApiError extends Error {
  /** Always `ApiError`. */
  override name = "ApiError";
  /**
   * The reason in one word: {@linkcode ApiError.reason}, such as `Conflict`. A response without a
   * reason, such as one from a proxy, has `Http` and its status, such as `Http502`.
   */
  readonly code: string;
  /** HTTP status, such as 409. */
  readonly status: number;
  /** Kubernetes' reason in one word, such as `Conflict`; empty if the response has none. */
  readonly reason: string;
  /** The fields that were rejected. */
  readonly causes: readonly StatusCause[];
  /** Milliseconds to wait before the next attempt, from `Retry-After`: at most 120,000. */
  readonly retryAfter: number | undefined;

  /**
   * Reads the reason, the message and the causes of a response.
   *
   * @param info What was requested.
   * @param status HTTP status.
   * @param body Body of the response: a `Status` as JSON, or any other string.
   * @param retryAfter Milliseconds to wait, from `Retry-After`.
   */
  constructor(info: RequestInfo, status: number, body: string, retryAfter?: number) {
    const { reason = "", message = "", details } = readStatus(body);
    const explanation = (message === "" ? "" : `: ${message}`) + (status === 401 ? UNAUTHORIZED_HINT : "");
    super(
      `Cannot ${info.verb} ${info.target}: the apiserver answered ${status}${reason && ` ${reason}`}${explanation}`,
    );
    this.code = reason === "" ? `Http${status}` : reason;
    this.status = status;
    this.reason = reason;
    this.causes = details?.causes ?? [];
    this.retryAfter = retryAfter;
  }
}

/**
 * Returns whether an error is an {@linkcode ApiError} with a status.
 *
 * @param error A caught error.
 * @param status HTTP status.
 */
export function isStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

interface Status {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly StatusCause[] };
}

/**
 * Parses a `Status`. The first 300 characters of any other body, such as a proxy's error page,
 * become the message.
 */
function readStatus(body: string): Status {
  try {
    const status = JSON.parse(body);
    if (status?.kind === "Status") return status;
  } catch { /* It is not JSON. */ }
  return { message: body.trim().slice(0, 300) };
}
