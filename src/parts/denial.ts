/** Denials of webhooks. */

/**
 * A denial, as {@linkcode deny} returns it. A webhook may return or throw it, or return several in
 * a list.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { deny } from "@op/sdk";
 * import type { Denial } from "@op/sdk/webhook";
 *
 * const denial: Denial = deny("the host cannot be changed", { field: ".spec.host" });
 * assert.deepEqual([denial.field, denial.status], ["spec.host", 422]);
 * ```
 */
export class Denial extends Error {
  /** Always `Denial`. */
  override name = "Denial";
  /** Always `Denied`. */
  readonly code = "Denied";
  /** HTTP status of the API server's response. */
  readonly status: number;
  /** The field that is denied, such as `spec.host`. */
  readonly field: string | undefined;

  /** Use {@linkcode deny}. */
  constructor(message: string, status: number, field: string | undefined) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

/** Options of {@linkcode deny}. */
export interface DenyOptions {
  /**
   * HTTP status of the API server's response, from 400 to 599. @default {422 with a field,
   * otherwise 403}
   */
  readonly status?: number;
  /**
   * The field that is denied, such as `spec.host`. It is reported as the server reports its own
   * validation errors. @default {none}
   */
  readonly field?: string;
}

/**
 * Denies the request that a webhook reviews. Throw the denial anywhere in the webhook, return it,
 * or return several in a list.
 *
 * @param message The message for the user who sent the request.
 * @param options Status and field.
 * @returns The denial, to be thrown or returned.
 * @throws {TypeError} If the message is empty.
 * @throws {RangeError} If the status is not from 400 to 599.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { deny } from "@op/sdk";
 *
 * assert.equal(deny("host must be below example.com", { field: "spec.host" }).status, 422);
 * assert.equal(deny("the shop is closed").status, 403);
 * ```
 */
export function deny(message: string, options: DenyOptions = {}): Denial {
  const { field, status = field === undefined ? 403 : 422 } = options;
  if (message.trim() === "") throw new TypeError("deny(): the message is empty. State why the request is denied.");
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new RangeError(`deny(): status ${status} is not the HTTP status of an error. Use one from 400 to 599.`);
  }
  // The API server writes paths without the leading dot.
  return new Denial(message, status, field?.replace(/^\./, ""));
}
