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
export type { Duration } from "./src/base/duration.ts";
export type { InferSchema, InputSchema, JsonSchema, Schema } from "./src/schema/mod.ts";
export * as s from "./src/schema/builders.ts";
export type { FieldError, FieldErrorReason } from "./src/schema/mod.ts";
export { type Resource, resource, type ResourceOptions } from "./src/resource/mod.ts";
export type {
  AnyKind,
  Condition,
  CustomResourceDefinitionManifest,
  Infer,
  Input,
  Kind,
  KubeObject,
  ObjectMeta,
  ObjectMetaInput,
} from "./src/resource/kind.ts";
export { type Access, access, type Verb } from "./src/parts/access.ts";
export {
  type Controller,
  controller,
  type ControllerMaker,
  type ControllerOptions,
  type Part,
} from "./src/parts/controller.ts";
export { type Webhook, webhook, type WebhookMaker, type WebhookOptions } from "./src/parts/webhook.ts";
export type { AdmissionRequest, Operation, UserInfo, Verdict, WebhookContext } from "./src/parts/webhook_context.ts";
export { type Denial, deny, type DenyOptions } from "./src/parts/denial.ts";
export { type Conversion, conversion, type ConversionOptions } from "./src/parts/conversion.ts";
export type { Context, EventOptions, Events, Log, Reason } from "./src/parts/context.ts";
export {
  type Index,
  index,
  type MapContext,
  type Wake,
  type Watch,
  watch,
  type WatchOptions,
} from "./src/parts/watch.ts";
export { every, source, type Trigger } from "./src/parts/trigger.ts";
export { type Outcome, PermanentError, type Requeue, requeue, TemporaryError } from "./src/parts/outcome.ts";
export type { PermissionClass, Permissions } from "./src/parts/permissions.ts";
export { offload, type Offloaded, type OffloadOptions, type Tasks } from "./src/runtime/offload.ts";
export { ApiError } from "./src/kube/api_error.ts";
export { Client } from "./src/kube/client.ts";
export { connect, type ConnectOptions } from "./src/operator/connect.ts";
export type { Connection } from "./src/kube/connection.ts";
export { findKind } from "./src/kube/discovery.ts";
export { operator, type OperatorOptions } from "./src/operator/operator.ts";
export type { HealthOptions, MetricsOptions, Operator } from "./src/operator/operator_value.ts";
export type { ConfigFile } from "./src/operator/config_file.ts";
export type { ImageParts } from "./src/manifests/image.ts";
export type { LeaderElection, LeaderElectionOptions } from "./src/operator/leader_election.ts";
export type { WebhookServerOptions } from "./src/operator/webhook_options.ts";
export type { ServicesContext } from "./src/operator/services.ts";
export type {
  LabelValues,
  OwnCounter,
  OwnGauge,
  OwnHistogram,
  OwnHistogramOptions,
  OwnMetricOptions,
  OwnMetrics,
} from "./src/parts/own_metrics.ts";
export type { RunOptions } from "./src/operator/run_options.ts";
export type { Permission } from "./src/manifests/sandbox.ts";
export type { InstallOptions, PolicyRule } from "./src/manifests/install.ts";
export type { Manifest } from "./src/manifests/manifest.ts";
export type { ManifestGroups } from "./src/manifests/manifests.ts";
export type { Right, RightScope } from "./src/manifests/rights.ts";
export type { Sample } from "./src/manifests/sample.ts";
