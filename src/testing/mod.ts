/**
 * Tests of operators: {@linkcode memoryCluster} is a Kubernetes API server in the test process, whose time stands still; {@linkcode realCluster}
 * starts a real one; {@linkcode createApiserver} and {@linkcode serveApiserver} are the server alone.
 *
 * @module
 */
export { type Apiserver, type ApiserverOptions, createApiserver } from "../apiserver/mod.ts";
export { kubeconfigFor, serveApiserver, type ServedApiserver, type ServeOptions } from "../apiserver/serve.ts";
export { memoryCluster } from "./memory_cluster.ts";
export type { MemoryCluster, MemoryClusterOptions, Place, RequestRecord, SettleOptions } from "./memory_cluster.ts";
export { realCluster } from "./real_cluster.ts";
export type { RealCluster, RealClusterOptions } from "./real_cluster.ts";
