/** The error with which a memory cluster reports that its operator cannot finish its work. */

/**
 * Error that `settle` and `advance` of a memory cluster reject with if the operator does not become
 * idle, or if its roles reject a request.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { controller, requeue } from "@op/sdk";
 * import { Namespace } from "@op/sdk/kinds";
 * import { memoryCluster, SettleError } from "@op/sdk/testing";
 *
 * const restless = controller(Namespace, { reconcile: () => requeue("0s") });
 *
 * await using cluster = await memoryCluster({ parts: { restless } });
 * const error = await cluster.settle().catch((error) => error);
 * assert(error instanceof SettleError && error.code === "HotLoop");
 * ```
 */
export class SettleError extends Error {
  /** Always `SettleError`. */
  override name = "SettleError";
  /**
   * The reason: `StillBusy` if a reconcile does not return, `NeverIdle` if the operator always has
   * more to do, `HotLoop` if an object is reconciled repeatedly without a pause,
   * `MissingPermissions` if the roles reject a request.
   */
  readonly code: "StillBusy" | "NeverIdle" | "HotLoop" | "MissingPermissions";
  /**
   * The objects that are busy or do not converge, or the missing RBAC permissions, such as
   * `patch configmaps in namespace "default"`.
   */
  readonly details: readonly string[];

  /**
   * Creates the error.
   *
   * @param code The reason.
   * @param details The objects or permissions.
   * @param message The report.
   */
  constructor(code: SettleError["code"], details: readonly string[], message: string) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
