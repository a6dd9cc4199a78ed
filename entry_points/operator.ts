/**
 * Operators: `operator()`, the types of its options, and of what it returns.
 *
 * @example The ClusterRole of an operator
 * ```ts
 * import { controller } from "@op/sdk";
 * import { Namespace } from "@op/sdk/kinds";
 * import { type Manifest, operator } from "@op/sdk/operator";
 *
 * const namespaces = controller(Namespace, { reconcile() {} });
 * const op = operator({ name: "names", parts: { namespaces } });
 * const { rbac } = op.manifests();
 * const role: Manifest | undefined = rbac.find(({ kind }) => kind === "ClusterRole");
 * ```
 *
 * @module
 */
export type { Clock } from "../src/base/clock.ts";
export type { Duration } from "../src/base/duration.ts";
export type { ClusterAccess } from "../src/kube/cluster_access.ts";
export type { Connection } from "../src/kube/connection.ts";
export type { ImageParts } from "../src/manifests/image.ts";
export type { AdditionalPolicyRule, CertificateSource, InstallOptions } from "../src/manifests/install.ts";
export type { Manifest } from "../src/manifests/manifest.ts";
export type { ManifestGroups } from "../src/manifests/manifests.ts";
export type { RbacRule, RbacScope } from "../src/manifests/rbac.ts";
export type { Sample } from "../src/manifests/sample.ts";
export type { SandboxRule } from "../src/manifests/sandbox.ts";
export type { LeaderElectionOptions } from "../src/operator/leader_election.ts";
export { operator, type OperatorOptions } from "../src/operator/operator.ts";
export type { HealthOptions, MetricsOptions, Operator, RunningOperator } from "../src/operator/operator_value.ts";
export type { RunOptions } from "../src/operator/run_options.ts";
export type { ServicesContext } from "../src/operator/services.ts";
export type { WebhookServerOptions } from "../src/operator/webhook_options.ts";
export type { Log } from "../src/parts/context.ts";
export type { Controller, Part } from "../src/parts/controller.ts";
export type { Conversion } from "../src/parts/conversion.ts";
export type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  LabelValues,
  MetricOptions,
  Metrics,
} from "../src/parts/metrics.ts";
export type { SandboxPermissionName, SandboxPermissions } from "../src/parts/sandbox.ts";
export type { Webhook } from "../src/parts/webhook.ts";
export type { CustomResourceDefinitionManifest } from "../src/resource/kind.ts";
export type { CertificatePaths } from "../src/runtime/webhooks/certificate_files.ts";
export type { WebhookLimits } from "../src/runtime/webhooks/handler.ts";
export type { FieldError } from "../src/schema/mod.ts";
