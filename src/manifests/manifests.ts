/** All that a cluster needs for an operator, by what it is for. */
import type { AnyKind, CustomResourceDefinitionManifest } from "../resource/kind.ts";
import { installOf, type InstallOptions } from "./install.ts";
import { kindRoles } from "./kind_roles.ts";
import type { Manifest } from "./manifest.ts";
import type { Right } from "./rights.ts";
import { accessManifests } from "./roles.ts";
import { type Sample, sampleOf } from "./sample.ts";
import { metricsReader, serviceMonitor } from "./monitoring.ts";
import { networkPolicy, type Workload, workloadManifests } from "./workload.ts";

/** What of an operator its manifests are made from. */
export interface Installed extends Workload {
  readonly crds: readonly CustomResourceDefinitionManifest[];
  readonly rights: readonly Right[];
  /** What makes the API server ask it, where it has webhooks. @default {[]} */
  readonly webhooks?: readonly Manifest[];
}

/** The groups in which manifests come, in the order in which a cluster takes them. */
export interface ManifestGroups {
  /** The definitions of its kinds. */
  readonly crd: readonly CustomResourceDefinitionManifest[];
  /** The namespace that all the rest is in. */
  readonly namespace: readonly Manifest[];
  /** Account, roles and bindings, and roles for the users of its kinds. */
  readonly rbac: readonly Manifest[];
  /** ConfigMap, Deployment, Services, PodDisruptionBudget. */
  readonly manager: readonly Manifest[];
  readonly networkPolicy: readonly Manifest[];
  /** What makes the API server ask it before it takes an object; empty without webhooks. */
  readonly webhook: readonly Manifest[];
  /** What makes Prometheus read its metrics: only for clusters that have the Prometheus Operator. */
  readonly prometheus: readonly Manifest[];
}

/**
 * The manifests of an operator.
 *
 * @param operator The operator.
 * @param options Where and how it is installed.
 * @throws {TypeError} If an option is wrong.
 */
export function manifestsOf(operator: Installed, options: InstallOptions = {}): ManifestGroups {
  const { name, crds, rights } = operator;
  const install = installOf(operator, options);
  const [namespace, ...manager] = workloadManifests(operator, install);
  return {
    crd: crds,
    namespace: namespace === undefined ? [] : [namespace],
    rbac: [
      ...accessManifests(name, rights, install),
      ...(operator.metrics?.guarded ? [metricsReader(operator)] : []),
      ...kindRoles(name, crds),
    ],
    manager,
    networkPolicy: [networkPolicy(operator, install)],
    webhook: operator.webhooks ?? [],
    prometheus: operator.metrics === undefined ? [] : [serviceMonitor(operator, install)],
  };
}

/**
 * A sample of each own kind that is declared, each kind once.
 *
 * @param kinds The kinds.
 */
export function samplesOf(kinds: readonly AnyKind[]): Sample[] {
  const own = new Map(
    kinds.filter(({ crd }) => crd !== undefined).map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind]),
  );
  return [...own.values()].map(sampleOf);
}
