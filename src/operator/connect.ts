/** Finds the API server from this machine. */
import { systemClock } from "../base/clock.ts";
import { connect as connectFrom, type ConnectOptions } from "../kube/connect.ts";
import type { Connection } from "../kube/connection.ts";
import { denoMachine } from "./machine.ts";

export type { ConnectOptions };

/**
 * Finds the API server as kubectl and controller-runtime do: the `kubeconfig` option, `KUBECONFIG`,
 * the pod's service account, `~/.kube/config`.
 *
 * @param options The kubeconfig and its context.
 * @returns The connection, for a {@linkcode Client} or for `run` of an operator.
 * @throws {ClusterConfigError} If no configuration is found, or it cannot be used.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect } from "@op/sdk/client";
 *
 * await assert.rejects(connect({ kubeconfig: "/nowhere/config" }), { code: "InvalidKubeconfig" });
 * ```
 */
export function connect(options: ConnectOptions = {}): Promise<Connection> {
  return connectFrom(denoMachine, systemClock, options);
}
