/** The error with which a memory cluster fails a test whose operator failed. */
import type { CodeFailure } from "../runtime/code_failure.ts";

/**
 * User code of an operator failed in a memory cluster: a reconcile or cleanup threw an error other than `TemporaryError` and `PermanentError`, the API
 * server rejected one of its requests, or a webhook, a conversion or a function of a declaration threw.
 *
 * `settle` and `advance` of a memory cluster reject with it. Failures that neither reported are thrown when the cluster is disposed.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { controller } from "@op/sdk";
 * import { Namespace } from "@op/sdk/kinds";
 * import { memoryCluster, OperatorFailedError } from "@op/sdk/testing";
 *
 * const broken = controller(Namespace, {
 *   reconcile: ({ metadata }) => void metadata.labels!.team!.toUpperCase(),
 * });
 *
 * await using cluster = await memoryCluster({ parts: { broken } });
 * const error = await cluster.settle().catch((error) => error);
 * assert(error instanceof OperatorFailedError && error.code === "OperatorFailed");
 * assert(error.failures[0]?.error instanceof TypeError);
 * ```
 */
export class OperatorFailedError extends Error {
  /** Always `OperatorFailedError`. */
  override name = "OperatorFailedError";
  /** Always `OperatorFailed`. */
  readonly code = "OperatorFailed";
  // Not an own property: printing the error must not print what the failures carry, which the message masks.
  readonly #failures: readonly CodeFailure[];

  /**
   * Creates the error.
   *
   * @param message The report.
   * @param failures The failures that it reports, in order.
   */
  constructor(message: string, failures: readonly CodeFailure[]) {
    super(message);
    this.#failures = failures;
  }

  /** The failures that it reports, in order. */
  get failures(): readonly CodeFailure[] {
    return this.#failures;
  }
}
