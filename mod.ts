/**
 * The best way to write a Kubernetes operator: kinds, controllers and permissions as plain values, and everything follows from them.
 *
 * @example An operator
 * ```ts
 * import { controller, operator, resource, s } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const Note = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Note",
 *   spec: s.object({ text: s.string() }),
 *   status: s.object({ length: s.optional(s.integer()) }),
 * });
 *
 * const notes = controller(Note, {
 *   owns: [ConfigMap],
 *   async reconcile(note, { apply, status }) {
 *     await apply(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: note.spec.text } });
 *     status({ length: note.spec.text.length });
 *   },
 * });
 *
 * const op = operator({ name: "note-operator", parts: { notes } });
 * ```
 *
 * @module
 */
export { type Duration, duration } from "./src/base/duration.ts";
export { Quantity, type QuantityFormat } from "./src/base/quantity.ts";
export type { Clock } from "./src/base/clock.ts";
export type { InferSchema, InputSchema, JsonSchema, Schema } from "./src/schema/mod.ts";
/** Schemas: each builder makes a piece of JSON Schema that knows the TypeScript type of what it describes. */
export * as s from "./src/schema/builders.ts";
export type { FieldError, FieldErrorReason } from "./src/schema/mod.ts";
export { type Resource, resource, type ResourceOptions } from "./src/resource/mod.ts";
export type {
  AnyKind,
  Condition,
  CustomResourceDefinitionManifest,
  DefinitionVersion,
  Infer,
  Input,
  Kind,
  KubeObject,
  ManagedFields,
  ObjectMeta,
  ObjectMetaInput,
  OwnerReference,
  WebhookConversion,
} from "./src/resource/kind.ts";
export { type Access, access, type Verb } from "./src/parts/access.ts";
export {
  type Controller,
  controller,
  type ControllerFactory,
  type ControllerOptions,
  type Part,
} from "./src/parts/controller.ts";
export type { LabelSelector } from "./src/parts/selectors.ts";
export {
  type Webhook,
  webhook,
  type WebhookFactory,
  type WebhookFilters,
  type WebhookOptions,
} from "./src/parts/webhook.ts";
export type {
  AdmissionRequest,
  GroupVersionKind,
  GroupVersionResource,
  MutableObject,
  MutateResult,
  Operation,
  ReviewedObject,
  UserInfo,
  ValidateResult,
  WebhookContext,
} from "./src/parts/webhook_context.ts";
export { type Denial, deny, type DenyOptions } from "./src/parts/denial.ts";
export { type Conversion, conversion, type ConversionOptions, type ConvertedObject } from "./src/parts/conversion.ts";
export type {
  ApplyOptions,
  Context,
  DeleteOptions,
  EventOptions,
  Events,
  IndexMap,
  ListOptions,
  Log,
  NamespaceOptions,
  PatchOptions,
  Reason,
  StatusPart,
  WritesStatus,
} from "./src/parts/context.ts";
export {
  type Index,
  index,
  type MapContext,
  type ReconcileRequest,
  type Watch,
  watch,
  type WatchOptions,
} from "./src/parts/watch.ts";
export { every, source, type SourceContext, type Trigger } from "./src/parts/trigger.ts";
export { PermanentError, type ReconcileResult, type Requeue, requeue, TemporaryError } from "./src/parts/outcome.ts";
export type { SandboxPermissionName, SandboxPermissions } from "./src/parts/sandbox.ts";
export { offload, type Offloaded, type OffloadOptions, type Tasks } from "./src/runtime/offload.ts";
export { ApiError, type RequestInfo, type StatusCause } from "./src/kube/api_error.ts";
export { Client } from "./src/kube/client.ts";
export type { ClientOptions } from "./src/kube/client_options.ts";
export type {
  CallOptions,
  DeleteCallOptions,
  Page,
  SelectOptions,
  WatchCallOptions,
  WatchEvent,
  WriteOptions,
} from "./src/kube/calls.ts";
export { connect, type ConnectOptions } from "./src/operator/connect.ts";
export type { Connection } from "./src/kube/connection.ts";
export { findKind, type UntypedKind } from "./src/kube/discovery.ts";
export { operator, type OperatorOptions } from "./src/operator/operator.ts";
export type { HealthOptions, MetricsOptions, Operator } from "./src/operator/operator_value.ts";
export type { ConfigFile } from "./src/operator/config_file.ts";
export type { RawSettings, Settings } from "./src/operator/settings.ts";
export type { ImageParts } from "./src/manifests/image.ts";
export type { LeaderElection, LeaderElectionOptions } from "./src/operator/leader_election.ts";
export type { LeaseTimes } from "./src/runtime/lease.ts";
export type { WebhookServerOptions, WebhookServing } from "./src/operator/webhook_options.ts";
export type { WebhookLimits } from "./src/runtime/webhooks/handler.ts";
export type { CertificatePaths } from "./src/runtime/webhooks/certificate_files.ts";
export type { ServicesContext } from "./src/operator/services.ts";
export type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  LabelValues,
  MetricOptions,
  Metrics,
} from "./src/parts/metrics.ts";
export type { RunOptions } from "./src/operator/run_options.ts";
export type { SandboxRule } from "./src/manifests/sandbox.ts";
export type { CertificateSource, InstallOptions, PolicyRule } from "./src/manifests/install.ts";
export type { Manifest } from "./src/manifests/manifest.ts";
export type { ManifestGroups } from "./src/manifests/manifests.ts";
export type { RbacRule, RbacScope } from "./src/manifests/rbac.ts";
export type { Sample } from "./src/manifests/sample.ts";
