/** The error for a missing or unusable API server configuration. */

/** Why there is no usable API server configuration. */
export type ClusterConfigErrorCode = "NoCluster" | "InvalidKubeconfig" | "InvalidServiceAccount";

/**
 * The configuration of the connection to the API server is missing (`NoCluster`), or cannot be read
 * or used (`InvalidKubeconfig`, and `InvalidServiceAccount` in a pod). The message says what to do.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { ClusterConfigError, connect } from "@op/sdk/client";
 *
 * const error = await connect({ kubeconfig: "/nowhere/config" }).catch((error) => error);
 * assert(error instanceof ClusterConfigError && error.code === "InvalidKubeconfig");
 * ```
 */
export class ClusterConfigError extends Error {
  /** Always `ClusterConfigError`. */
  override name = "ClusterConfigError";
  /** The reason. */
  readonly code: ClusterConfigErrorCode;

  /**
   * Creates the error.
   *
   * @param code The reason.
   * @param message What is wrong, and what to do.
   * @param options The cause.
   */
  constructor(code: ClusterConfigErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
