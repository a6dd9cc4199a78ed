/** Generates all objects that a cluster needs to run an operator, grouped by purpose. */
import type { CustomResourceDefinitionManifest } from "../resource/kind.ts";
import { isOwnKind } from "../resource/ownership.ts";
import { certificatePolicyManifests, certificateSecretManifest, type CertificateWrites } from "./certificate_policy.ts";
import { reconciledDefinitions } from "./crds.ts";
import { installOf, type InstallOptions } from "./install.ts";
import { kindRoles } from "./kind_roles.ts";
import { type Manifest, withId } from "./manifest.ts";
import { type RbacRule, withoutCertificates } from "./rbac.ts";
import { accessManifests } from "./roles.ts";
import { type Sample, sampleOf } from "./sample.ts";
import type { Alerting } from "./alerts.ts";
import { dashboard, metricsReader, prometheusRule, serviceMonitor } from "./monitoring.ts";
import { compile, type Parts, partTypeOf } from "../parts/part_types.ts";
import { needsRunner } from "../parts/units.ts";
import {
  certManagerManifests,
  webhookConfigurations,
  webhookService,
  webhookServices,
  withConversion,
} from "./webhooks.ts";
import { networkPolicy, type Workload, workloadManifests } from "./workload.ts";

/** The parts of an operator from which its manifests are generated. */
export interface Installed extends Workload {
  /** The CustomResourceDefinitions of the operator's own kinds. */
  readonly crds: readonly CustomResourceDefinitionManifest[];
  /** All RBAC permissions that it may need, for any source of its certificate. */
  readonly rbac: readonly RbacRule[];
  /**
   * The objects that it writes for its webhook certificate, if it may issue the certificate itself.
   * @default {none}
   */
  readonly certificates?: CertificateWrites | undefined;
  /**
   * Its parts. Webhook configurations are generated for those that the API server calls. @default
   * {none}
   */
  readonly parts?: Parts;
}

/** The groups of manifests, in the order in which they are applied. */
export interface ManifestGroups {
  /** The CustomResourceDefinitions of the operator's own kinds. */
  readonly crd: readonly CustomResourceDefinitionManifest[];
  /** The namespace of all other objects. */
  readonly namespace: readonly Manifest[];
  /** Service account, roles and bindings, and roles for users of the kinds. */
  readonly rbac: readonly Manifest[];
  /** ConfigMap, Deployment, Services, PodDisruptionBudget. */
  readonly manager: readonly Manifest[];
  /**
   * The network policy: pods in namespaces with the label `metrics: enabled` may reach the port of
   * the metrics, and any client may reach the port of the webhooks.
   */
  readonly networkPolicy: readonly Manifest[];
  /**
   * The webhook configurations, the Service of the webhooks, and the objects with which the
   * operator or cert-manager issues the certificate. Empty without webhooks.
   */
  readonly webhook: readonly Manifest[];
  /**
   * The ServiceMonitor, the alert rules and a dashboard, for clusters with the Prometheus Operator.
   */
  readonly prometheus: readonly Manifest[];
}

/**
 * Returns the manifests of an operator.
 *
 * @param operator The operator.
 * @param options Where and how it is installed.
 * @throws {TypeError} If an option is invalid.
 */
export function manifestsOf(operator: Installed, options: InstallOptions = {}): ManifestGroups {
  const { name, crds, rbac, certificates, parts = {} } = operator;
  const install = installOf(operator, options);
  const [namespace, ...manager] = workloadManifests(operator, install);
  const { webhookUrl: url } = install;
  const place = url === undefined ? { service: { namespace: install.namespace, name: webhookService(name) } } : { url };
  const usesCertManager = install.certificates === "cert-manager" && needsRunner(compile(parts), "webhookServer");
  const webhookOptions = {
    place,
    ...(usesCertManager ? { injectFrom: `${install.namespace}/${webhookService(name)}` } : {}),
  };
  const groups: ManifestGroups = {
    crd: withConversion(crds, parts, webhookOptions),
    namespace: namespace === undefined ? [] : [namespace],
    rbac: [
      ...accessManifests(name, install.certificates === "self" ? rbac : withoutCertificates(rbac), install),
      ...(operator.metrics?.authorization ? [metricsReader(operator)] : []),
      ...kindRoles(name, crds),
    ],
    manager,
    networkPolicy: [networkPolicy(operator, install)],
    webhook: [
      ...(certificates === undefined || install.certificates !== "self" ? [] : [
        certificateSecretManifest(name, certificates.secret, install.namespace),
        ...certificatePolicyManifests(name, certificates),
      ]),
      ...(url === undefined ? webhookServices(name, parts, install.namespace) : []),
      ...(usesCertManager ? certManagerManifests(name, install.namespace) : []),
      ...webhookConfigurations(name, parts, { ...webhookOptions, namespace: install.namespace }),
    ],
    prometheus: operator.metrics === undefined ? [] : [
      serviceMonitor(operator, install),
      prometheusRule({ name, ...alertingOf(operator) }, install),
      dashboard(operator, install),
    ],
  };
  return install.id === undefined ? groups : withIds(groups, parts, install.id);
}

/**
 * Returns the groups with the operator's ID as a label of each object. Definitions of kinds that it
 * does not reconcile have no such label, because other operators may use them too.
 */
function withIds(groups: ManifestGroups, parts: Parts, id: string): ManifestGroups {
  const reconciled = new Set(reconciledDefinitions(parts));
  const withLabel = (manifests: readonly Manifest[]) => manifests.map((manifest) => withId(manifest, id));
  return {
    crd: groups.crd.map((crd) => reconciled.has(crd.metadata.name) ? withId(crd, id) : crd),
    namespace: withLabel(groups.namespace),
    rbac: withLabel(groups.rbac),
    manager: withLabel(groups.manager),
    networkPolicy: withLabel(groups.networkPolicy),
    webhook: withLabel(groups.webhook),
    prometheus: withLabel(groups.prometheus),
  };
}

/** Returns the parts of an operator that decide which alerts it has. */
function alertingOf({ isElected, parts = {} }: Installed): Omit<Alerting, "name"> {
  const units = compile(parts);
  const hasControllers = needsRunner(units, "controllerLoop");
  return { hasControllers, isElected: isElected && hasControllers, hasWebhooks: needsRunner(units, "webhookServer") };
}

/**
 * Returns a sample of each own kind that parts handle or create, each kind once. Of the versions
 * that a part converts, it is the latest.
 *
 * @param parts The parts.
 */
export function samplesOf(parts: Parts): Sample[] {
  const kinds = Object.values(parts).flatMap((part) => {
    const { own, owned } = partTypeOf(part).kinds(part);
    return [...own.slice(0, 1), ...owned];
  });
  const own = new Map(
    kinds.filter(isOwnKind).map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind]),
  );
  const versions = Map.groupBy(own.values(), ({ group, kind }) => `${kind}.${group}`);
  return [...own.values()].map((kind) => {
    const sample = sampleOf(kind);
    if (versions.get(`${kind.kind}.${kind.group}`)!.length === 1) return sample;
    // The name includes the version, so that samples of two versions do not overwrite each other.
    const metadata = { name: `${kind.singular}-${kind.version}-sample` };
    return { ...sample, manifest: { ...sample.manifest, metadata } };
  });
}
