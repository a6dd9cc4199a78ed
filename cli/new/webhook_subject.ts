/** Provides valid objects for the tests of new webhooks. */
import type { OperatorFacts } from "../inspect.ts";
import type { KindNames } from "./kind_names.ts";

/** The object that a webhook's test creates. */
export interface Subject {
  /** The object without `apiVersion`, `kind` and `metadata`. */
  readonly object: object;
  /**
   * The errors for which an API server would still reject it, because a value cannot be guessed.
   */
  readonly errors: readonly string[];
}

const DRIVER = "driver.example.com";
const labels = { app: "web" };
const containers = [{ name: "web", image: "registry.example.com/web:1" }];
const template = { metadata: { labels }, spec: { containers } };
const workload = { selector: { matchLabels: labels }, template };
const job = { template: { spec: { containers, restartPolicy: "Never" } } };
const binding = { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" } };

/**
 * Fields that built-in kinds require in addition to a name. Kinds that are not listed require none.
 * Neither OpenAPI nor the in-process API server has all of these requirements, so a test creates
 * each kind on a real API server.
 */
const BUILTIN: Readonly<Record<string, object>> = {
  ClusterRoleBinding: binding,
  ControllerRevision: { revision: 1, data: {} },
  CronJob: { spec: { schedule: "0 * * * *", jobTemplate: { spec: job } } },
  CSIDriver: { spec: {} },
  CSINode: { spec: { drivers: [] } },
  CSIStorageCapacity: { storageClassName: "standard" },
  DaemonSet: { spec: workload },
  Deployment: { spec: workload },
  DeviceClass: { spec: {} },
  EndpointSlice: { addressType: "IPv4", endpoints: [] },
  FlowSchema: { spec: { priorityLevelConfiguration: { name: "global-default" } } },
  HorizontalPodAutoscaler: {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
  },
  Ingress: { spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } } },
  IngressClass: { spec: { controller: "example.com/ingress" } },
  Job: { spec: job },
  LimitRange: { spec: { limits: [] } },
  PersistentVolume: {
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/data" } },
  },
  PersistentVolumeClaim: {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  },
  Pod: { spec: { containers } },
  PodTemplate: { template },
  PriorityLevelConfiguration: {
    spec: { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } } },
  },
  ReplicaSet: { spec: workload },
  ReplicationController: { spec: { selector: labels, template } },
  ResourceClaim: { spec: {} },
  ResourceClaimTemplate: { spec: { spec: {} } },
  ResourceSlice: {
    spec: { driver: DRIVER, nodeName: "first", pool: { name: "pool", generation: 1, resourceSliceCount: 1 } },
  },
  RoleBinding: binding,
  RuntimeClass: { handler: "runc" },
  ServiceCIDR: { spec: { cidrs: ["192.0.2.0/24"] } },
  Service: { spec: { ports: [{ port: 80 }] } },
  StatefulSet: { spec: { serviceName: "web", ...workload } },
  StorageClass: { provisioner: DRIVER },
  VolumeAttachment: { spec: { attacher: DRIVER, nodeName: "first", source: { persistentVolumeName: "volume" } } },
  VolumeAttributesClass: { driverName: DRIVER, parameters: { iops: "1000" } },
};

/** Kinds of Kubernetes that are reviews, that clients do not create, or whose names are fixed. */
const UNTESTED_KINDS = new Set([
  "APIService",
  "Binding",
  "CertificateSigningRequest",
  "ComponentStatus",
  "CustomResourceDefinition",
  "Event",
  "IPAddress",
  "LocalSubjectAccessReview",
  "SelfSubjectAccessReview",
  "SelfSubjectReview",
  "SelfSubjectRulesReview",
  "SubjectAccessReview",
  "TokenReview",
]);

/**
 * Returns the object that the test of a webhook creates.
 *
 * @param names The kind.
 * @param facts The operator, which has samples of its own kinds.
 * @returns The object, or `undefined` for the kinds in {@linkcode UNTESTED_KINDS} and for a version
 *   without a sample.
 */
export function subjectOf(
  { kind, group, apiVersion, isBuiltin }: KindNames,
  facts: Pick<OperatorFacts, "samples">,
): Subject | undefined {
  if (isBuiltin) return UNTESTED_KINDS.has(kind) ? undefined : { object: BUILTIN[kind] ?? {}, errors: [] };
  const sample = facts.samples.find(({ manifest }) =>
    manifest.kind === kind && manifest.apiVersion === `${group}/${apiVersion}`
  );
  if (sample === undefined) return undefined;
  const { apiVersion: _, kind: __, metadata: ___, ...object } = sample.manifest;
  return { object, errors: sample.errors.map(({ field, message }) => `${field}: ${message}`) };
}
