/** How a webhook refuses. */

/**
 * A refusal, as {@linkcode deny} makes it. It may be returned or thrown; several may be returned in a list.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { deny } from "@op/sdk";
 * import type { Denial } from "@op/sdk/webhook";
 *
 * const refusal: Denial = deny("it keeps its host", { field: ".spec.host" });
 * assert.deepEqual([refusal.message, refusal.field, refusal.code], ["it keeps its host", "spec.host", 422]);
 * ```
 */
export class Denial extends Error {
  /** Always `Denial`. */
  override name = "Denial";
  /** The status of the API server's answer. */
  readonly code: number;
  /** Which field it is about, such as `spec.host`. */
  readonly field: string | undefined;

  /** Use {@linkcode deny}. */
  constructor(message: string, status: number, field: string | undefined) {
    super(message);
    this.code = status;
    this.field = field;
  }
}

/** Options of {@linkcode deny}. */
export interface DenyOptions {
  /** The status of the API server's answer, from 400 to 599. @default {422 with a field, otherwise 403} */
  readonly code?: number;
  /** Which field it is about, such as `spec.host`: it is told as the server tells faults of its own. @default {none} */
  readonly field?: string;
}

/**
 * Refuses what a webhook was asked about. Throw it from wherever it is found, or return it; several are returned in a list.
 *
 * @param message What whoever made the request reads.
 * @param options A status, and which field it is about.
 * @returns The refusal, to be thrown or returned.
 * @throws {TypeError} If there is no message: nobody could tell why.
 * @throws {RangeError} If the status is none of a refusal.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { deny } from "@op/sdk";
 *
 * assert.equal(deny("host must be below example.com", { field: "spec.host" }).code, 422);
 * assert.equal(deny("the shop is closed").code, 403);
 * ```
 */
export function deny(message: string, options: DenyOptions = {}): Denial {
  const { field, code = field === undefined ? 403 : 422 } = options;
  if (message.trim() === "") throw new TypeError("Cannot deny: there is no message, and nobody could tell why");
  if (!Number.isInteger(code) || code < 400 || code > 599) {
    throw new RangeError(`Cannot deny "${message}": status ${code} is no refusal: choose one from 400 to 599`);
  }
  // As the API server writes paths: without the dot that ours begin with.
  return new Denial(message, code, field?.replace(/^\./, ""));
}
