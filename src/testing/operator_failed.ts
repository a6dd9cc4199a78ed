/** The error with which a memory cluster fails a test whose operator failed. */
import type { CodeFailure } from "../runtime/code_failure.ts";

/**
 * Error that `settle` and `advance` of a memory cluster reject with if the operator's code failed:
 * a reconcile or cleanup threw an error other than `TemporaryError` and `PermanentError`, the API
 * server rejected one of its requests, or a webhook, a conversion or a function of a declaration
 * threw.
 *
 * Failures that neither call reported are thrown when the cluster is disposed of.
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
  // A private field: printing the error must not print the failures, because only the message masks
  // values of Secrets.
  readonly #failures: readonly CodeFailure[];

  /**
   * Creates the error.
   *
   * @param message The report.
   * @param failures The reported failures, in order.
   */
  constructor(message: string, failures: readonly CodeFailure[]) {
    super(message);
    this.#failures = failures;
  }

  /** The reported failures, in order. */
  get failures(): readonly CodeFailure[] {
    return this.#failures;
  }
}
