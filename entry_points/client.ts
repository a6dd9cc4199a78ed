/**
 * The client of the API server, and how to connect it.
 *
 * @example Read a Deployment
 * ```ts
 * import { Client, connect } from "@op/sdk/client";
 * import { Deployment } from "@op/sdk/kinds";
 *
 * async function readyReplicas(name: string): Promise<number> {
 *   const client = new Client(await connect());
 *   const { status } = await client.get(Deployment, name, { namespace: "default" });
 *   return status?.readyReplicas ?? 0;
 * }
 * ```
 *
 * @module
 */
export { ApiError, type RequestInfo, type StatusCause } from "../src/kube/api_error.ts";
export { Client } from "../src/kube/client.ts";
export type { ClientOptions } from "../src/kube/client.ts";
export type {
  CallOptions,
  DeleteCallOptions,
  Page,
  SelectOptions,
  WatchCallOptions,
  WatchEvent,
  WriteOptions,
} from "../src/kube/calls.ts";
export type { Connection } from "../src/kube/connection.ts";
export { ClusterConfigError, type ClusterConfigErrorCode } from "../src/kube/cluster_config_error.ts";
export { ConnectionError, type ConnectionErrorCode, TruncatedStreamError } from "../src/kube/connection_error.ts";
export { findKind, KindNotFoundError, type UntypedKind } from "../src/kube/discovery.ts";
export { connect, type ConnectOptions } from "../src/operator/connect.ts";
export type { Clock } from "../src/base/clock.ts";
export type { AnyKind, Infer, Input, Kind, KubeObject } from "../src/resource/kind.ts";
