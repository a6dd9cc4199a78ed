/** Errors that say what was asked. */

/** A field that the API server refused, with its reason. */
export interface StatusCause {
  /** In one word, such as `FieldValueInvalid`. */
  readonly reason?: string;
  /** What is wrong with it, with its value. */
  readonly message?: string;
  /** Its path, such as `spec.ports[0].port`. */
  readonly field?: string;
}

/** What was asked: a verb, and what it was asked of. */
export interface RequestInfo {
  /** As a person says it: `patch`, `list`. */
  readonly verb: string;
  /** Kind and, where there is one, namespace and name: `Website "shop/web"`. */
  readonly what: string;
}

// The server says no more than "Unauthorized".
const UNKNOWN_USER = ": the token is expired or not of this cluster: log in again, or renew the kubeconfig";

/**
 * The API server answered, and it did not do what was asked. Where nothing was answered it is another error.
 *
 * @example What a reconciler does about one
 * ```ts
 * import assert from "node:assert/strict";
 * import { ApiError } from "@op/sdk";
 * import { Secret } from "@op/sdk/kinds";
 * import { memoryCluster } from "@op/sdk/testing";
 *
 * await using cluster = await memoryCluster();
 * const error = await cluster.client.get(Secret, "none", { namespace: "default" }).catch((error) => error);
 * assert(error instanceof ApiError && error.status === 404 && error.reason === "NotFound");
 * ```
 */
export class ApiError extends Error {
  /** Always `ApiError`. */
  override name = "ApiError";
  /** HTTP status, such as 409. */
  readonly status: number;
  /** Kubernetes' reason in one word, such as `Conflict`; empty when the answer had none. */
  readonly reason: string;
  /** The fields that were refused. */
  readonly causes: readonly StatusCause[];
  /** Milliseconds to wait before the next try, from `Retry-After`: at most 120,000. */
  readonly retryAfter: number | undefined;

  /**
   * Reads the reason, the message and the causes out of an answer.
   *
   * @param asked What was asked.
   * @param status HTTP status.
   * @param body The answer: a `Status` object as text, or any other text.
   * @param retryAfter Milliseconds that the server asks to wait.
   */
  constructor(asked: RequestInfo, status: number, body: string, retryAfter?: number) {
    const { reason = "", message = "", details } = readStatus(body);
    const told = (message === "" ? "" : `: ${message}`) + (status === 401 ? UNKNOWN_USER : "");
    super(`Cannot ${asked.verb} ${asked.what}: the apiserver answered ${status}${reason && ` ${reason}`}${told}`);
    this.status = status;
    this.reason = reason;
    this.causes = details?.causes ?? [];
    this.retryAfter = retryAfter;
  }
}

/**
 * Whether an error is an {@linkcode ApiError} with a status.
 *
 * @param error What was caught.
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

/** A proxy in between may answer with anything, so text that is no Status is shown as it is, cut short. */
function readStatus(body: string): Status {
  try {
    const status = JSON.parse(body);
    if (status?.kind === "Status") return status;
  } catch { /* not JSON: shown below */ }
  return { message: body.trim().slice(0, 300) };
}
