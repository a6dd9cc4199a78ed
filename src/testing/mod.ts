/**
 * Tests for operators. {@linkcode memoryCluster} runs an operator on a Kubernetes API server in the
 * test process, with a virtual clock. {@linkcode realCluster} starts a real API server.
 * {@linkcode createApiserver} and {@linkcode serveApiserver} provide the in-process API server
 * alone.
 *
 * @module
 */
export { type Apiserver, type ApiserverOptions, createApiserver, type FetchOptions } from "../apiserver/mod.ts";
export {
  kubeconfigFor,
  type KubeconfigOptions,
  serveApiserver,
  type ServedApiserver,
  type ServeOptions,
  type ServerCertificate,
} from "../apiserver/serve.ts";
export {
  serveWithClientCertificates,
  type ServeWithClientCertificatesOptions,
  supportsClientCertificates,
} from "../apiserver/serve_certificates.ts";
export {
  type FakeContext,
  fakeContext,
  type FakeContextOptions,
  type FakeHandlerFields,
  type FakeObject,
  type FakeWrite,
} from "./fake_context.ts";
export { type Fault, type FaultFilter, type Faults, faults, type InjectedFault } from "./faults.ts";
export { type ClientCertificate, type LocalAuthority, localAuthority, localCertificate } from "./local_certificate.ts";
export { memoryCluster } from "./memory_cluster.ts";
export { OperatorFailedError } from "./operator_failed.ts";
export { SettleError } from "./settle_error.ts";
export type { CodeFailure } from "../runtime/code_failure.ts";
export type {
  AdvanceOptions,
  MemoryCluster,
  MemoryClusterOptions,
  ObjectLocation,
  RestartServerOptions,
  SettleOptions,
} from "./memory_cluster.ts";
export type { PolicyRule, UsedRbacRule } from "./rbac.ts";
export type { LogLine } from "../operator/log.ts";
export type { RequestFilter, RequestRecord, RequestVerb } from "./request_log.ts";
export type { WatchFault } from "../apiserver/verbs/watch.ts";
export type { User } from "../apiserver/access/user.ts";
export { roundTrips, type RoundTripsOptions } from "./round_trips.ts";
export { realCluster } from "./real_cluster.ts";
export type {
  AuditEvent,
  CertificateAccess,
  ControlPlane,
  RealCluster,
  RealClusterOptions,
  StopOptions,
  TokenAccess,
  UserAccess,
  UserOptions,
} from "./real_cluster.ts";
export { VirtualClock } from "../base/virtual_clock.ts";
export type { ServiceCaller } from "../apiserver/webhooks/call.ts";
