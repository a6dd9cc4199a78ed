/**
 * Defaults that the server sets by code, not by schema (`zz_generated.defaults.go` of
 * `k8s.io/kubernetes/pkg/apis`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type Draft, metadataOf, type StoredObject } from "../objects/objects.ts";
import { each, type Fields, fields, withDefaults, within } from "./_parts.ts";
import { CREATE_FIELDS, TEMPLATE_GENERATION } from "./created.ts";

/** The functions that complete the objects of a kind. */
export interface BuiltinDefaults {
  /** Returns a written object with its defaults. */
  readonly withDefaults: (object: Draft) => Draft;
  /** Returns a new object with the fields that the server sets on create. */
  readonly withCreateFields: (object: StoredObject, now: number) => StoredObject;
}

/**
 * Returns the functions that complete the objects of a kind.
 *
 * @param name `group/plural`.
 */
export function builtinDefaults(name: string): BuiltinDefaults {
  return {
    withDefaults: DEFAULTS[name] ?? ((object) => object),
    withCreateFields: CREATE_FIELDS[name] ?? ((object) => object),
  };
}

const DEFAULTS: Readonly<Record<string, (object: Draft) => Draft>> = {
  "/pods": (pod) =>
    within(
      inSpec(pod, (spec) => withHostPorts(withPodDefaults(withDefaults(spec, { enableServiceLinks: true })))),
      "status",
      withPodAddresses,
    ),
  "/podtemplates": (it) => within(it, "template", (template) => within(template, "spec", withPodDefaults)),
  "/secrets": (secret) => withSecretData(withDefaults(secret, { type: "Opaque" })),
  "/services": (service) => inSpec(service, withServiceDefaults),
  "/namespaces": (namespace) => {
    const { name } = metadataOf(namespace);
    if (!name) return namespace;
    const labels = { ...metadataOf(namespace).labels, "kubernetes.io/metadata.name": name };
    return { ...namespace, metadata: { ...metadataOf(namespace), labels } };
  },
  "/endpoints": (it) =>
    each(it, "subsets", (subset) => each(subset, "ports", (port) => withDefaults(port, { protocol: "TCP" }))) as Draft,
  "discovery.k8s.io/endpointslices": (it) =>
    each(it, "ports", (port) => ({ name: "", ...withDefaults(port, { protocol: "TCP" }) })) as Draft,
  "/persistentvolumeclaims": (claim) => inSpec(claim, (spec) => withDefaults(spec, { volumeMode: "Filesystem" })),
  "/persistentvolumes": (volume) =>
    inSpec(volume, (spec) => {
      const filled = withDefaults(spec, { volumeMode: "Filesystem", persistentVolumeReclaimPolicy: "Retain" });
      return within(filled, "hostPath", (path) => ({ type: "", ...path }));
    }),
  "/replicationcontrollers": (it) => withPodLabels(inSpec(it, withReplicationControllerDefaults)),
  "/limitranges": (it) => inSpec(it, (spec) => each(spec, "limits", withLimitDefaults)),
  "apps/deployments": (it) => inSpec(it, withDeploymentDefaults),
  "apps/replicasets": (it) => inSpec(it, (spec) => withTemplateDefaults(withDefaults(spec, { replicas: 1 }))),
  "apps/statefulsets": (it) => inSpec(it, withStatefulSetDefaults),
  "apps/daemonsets": (it) => withInitialGeneration(inSpec(it, withDaemonSetDefaults)),
  "batch/jobs": (it) => withPodLabels(inSpec(it, withJobDefaults)),
  "batch/cronjobs": (it) => inSpec(it, withCronJobDefaults),
  "networking.k8s.io/networkpolicies": (it) =>
    inSpec(
      it,
      (spec) =>
        withDefaults(spec, { policyTypes: own(spec, "egress") === undefined ? ["Ingress"] : ["Ingress", "Egress"] }),
    ),
  "rbac.authorization.k8s.io/roles": (it) => ({ ...it, rules: own(it, "rules") ?? null }),
  "rbac.authorization.k8s.io/clusterroles": (it) => ({ ...it, rules: own(it, "rules") ?? null }),
  "autoscaling/horizontalpodautoscalers": withAutoscalerDefaults,
  "rbac.authorization.k8s.io/rolebindings": withBindingDefaults,
  "rbac.authorization.k8s.io/clusterrolebindings": withBindingDefaults,
  "networking.k8s.io/ingressclasses": (it) =>
    inSpec(it, (spec) => within(spec, "parameters", (parameters) => withDefaults(parameters, { scope: "Cluster" }))),
  "storage.k8s.io/csidrivers": (it) => inSpec(it, (spec) => withDefaults(spec, CSI_DRIVER)),
  "storage.k8s.io/storageclasses": (it) =>
    withDefaults(it, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": (it) =>
    withWebhookDefaults(it, { reinvocationPolicy: "Never" }),
  "admissionregistration.k8s.io/validatingwebhookconfigurations": (it) => withWebhookDefaults(it, {}),
  "scheduling.k8s.io/priorityclasses": (it) => withDefaults(it, { preemptionPolicy: "PreemptLowerPriority" }),
  "apiextensions.k8s.io/customresourcedefinitions": (it) =>
    inSpec(it, (spec) => withDefaults(spec, { conversion: { strategy: "None" } })),
};

const CSI_DRIVER = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: "ReadWriteOnceWithFSType",
  volumeLifecycleModes: ["Persistent"],
  requiresRepublish: false,
  seLinuxMount: false,
};

/** The default metric of autoscalers in v2. Those in v1 get it by conversion. */
const DEFAULT_METRIC = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};

const [FOUR_PODS, ALL_PODS] = [
  { type: "Pods", value: 4, periodSeconds: 15 },
  { type: "Percent", value: 100, periodSeconds: 15 },
];

/** Defaults for an autoscaler that sets any part of `behavior`. */
const BEHAVIOR = {
  scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: "Max", policies: [FOUR_PODS, ALL_PODS] },
  scaleDown: { selectPolicy: "Max", policies: [ALL_PODS] },
};

function withAutoscalerDefaults(it: Draft): Draft {
  const isV2 = own(it, "apiVersion") === "autoscaling/v2";
  return inSpec(it, (spec) => {
    const metrics = own(spec, "metrics");
    const hasNone = metrics === undefined || (Array.isArray(metrics) && metrics.length === 0);
    const filled = { ...withDefaults(spec, { minReplicas: 1 }), ...isV2 && hasNone && { metrics: [DEFAULT_METRIC] } };
    return within(filled, "behavior", (behavior) => ({
      ...behavior,
      scaleUp: { ...BEHAVIOR.scaleUp, ...fields(own(behavior, "scaleUp")) },
      scaleDown: { ...BEHAVIOR.scaleDown, ...fields(own(behavior, "scaleDown")) },
    }));
  });
}

/** Sets `podIP` from the first of `podIPs`, or `podIPs` from `podIP`. */
function withPodAddresses(status: Fields): Fields {
  const { podIP, podIPs } = status;
  if (podIP && podIPs === undefined) return { ...status, podIPs: [{ ip: podIP }] };
  const first = Array.isArray(podIPs) ? fields(podIPs[0]).ip : undefined;
  return !podIP && first ? { ...status, podIP: first } : status;
}

function inSpec(object: Draft, fill: (spec: Fields) => Fields): Draft {
  return within(object, "spec", fill);
}

function withTemplateDefaults(spec: Fields): Fields {
  return within(spec, "template", (template) => within(template, "spec", withPodDefaults));
}

function withPodDefaults(spec: Fields): Fields {
  let next = withDefaults(spec, {
    restartPolicy: "Always",
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    terminationGracePeriodSeconds: 30,
    securityContext: {},
    ...accountNames(own(spec, "serviceAccountName") ?? own(spec, "serviceAccount")),
  });
  for (const key of ["containers", "initContainers", "ephemeralContainers"]) {
    next = each(next, key, withContainerDefaults);
  }
  return each(next, "volumes", withVolumeDefaults);
}

/** Sets the host ports of a pod in the host network to its container ports. */
function withHostPorts(spec: Fields): Fields {
  if (own(spec, "hostNetwork") !== true) return spec;
  const port = (it: Fields) => withDefaults(it, { hostPort: own(it, "containerPort") });
  const ports = (it: Fields) => each(it, "ports", port);
  return each(each(spec, "containers", ports), "initContainers", ports);
}

/** Sets the annotation with the generation of the template, which replaces a removed field. */
function withInitialGeneration(daemonSet: Draft): Draft {
  const metadata = fields(daemonSet.metadata);
  const annotations = { [TEMPLATE_GENERATION]: "0", ...fields(own(metadata, "annotations")) };
  return { ...daemonSet, metadata: { ...metadata, annotations } };
}

/** Sets the deprecated `serviceAccount` to the same value as `serviceAccountName`. */
function accountNames(name: unknown): Fields {
  return name === undefined ? {} : { serviceAccountName: name, serviceAccount: name };
}

function withContainerDefaults(it: Fields): Fields {
  const image = String(own(it, "image") ?? "");
  const tag = /:([^/:@]+)(?:@|$)/.exec(image)?.[1];
  const isLatest = !image.includes("@") && (tag === undefined || tag === "latest");
  const filled = withDefaults(it, {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: isLatest ? "Always" : "IfNotPresent",
  });
  const probed = ["livenessProbe", "readinessProbe", "startupProbe"].reduce(
    (next, key) => within(next, key, withProbeDefaults),
    filled,
  );
  const hooked = within(
    probed,
    "lifecycle",
    (hooks) =>
      ["postStart", "preStop"].reduce(
        (next, key) => within(next, key, (hook) => within(hook, "httpGet", withHttpGetDefaults)),
        hooks,
      ),
  );
  return each(hooked, "env", (variable) => {
    // Go drops an empty value.
    const { value, ...rest } = variable;
    return within(
      value === "" ? rest : variable,
      "valueFrom",
      (from) => within(from, "fieldRef", withFieldRefDefaults),
    );
  });
}

function withHttpGetDefaults(it: Fields): Fields {
  return withDefaults(it, { path: "/", scheme: "HTTP" });
}

function withFieldRefDefaults(it: Fields): Fields {
  return withDefaults(it, { apiVersion: "v1" });
}

function withProbeDefaults(it: Fields): Fields {
  const filled = withDefaults(it, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  return within(filled, "httpGet", withHttpGetDefaults);
}

function withVolumeDefaults(it: Fields): Fields {
  const parts: Readonly<Record<string, Fields>> = {
    configMap: { defaultMode: 420 },
    secret: { defaultMode: 420 },
    downwardAPI: { defaultMode: 420 },
    projected: { defaultMode: 420 },
    hostPath: { type: "" },
  };
  const filled = Object.entries(parts).reduce(
    (next, [key, defaults]) => within(next, key, (part) => withDefaults(part, defaults)),
    Object.keys(it).some((key) => key !== "name") ? it : { ...it, emptyDir: {} },
  );
  const items = (part: Fields) => each(part, "items", (item) => within(item, "fieldRef", withFieldRefDefaults));
  const projected = within(filled, "projected", (part) =>
    each(part, "sources", (source) => {
      const token = within(source, "serviceAccountToken", (given) => withDefaults(given, { expirationSeconds: 3600 }));
      return within(token, "downwardAPI", items);
    }));
  return within(projected, "downwardAPI", items);
}

function withDeploymentDefaults(spec: Fields): Fields {
  const filled = withDefaults(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const typed = { ...filled, strategy: withDefaults(fields(own(filled, "strategy")), { type: "RollingUpdate" }) };
  if (typed.strategy.type !== "RollingUpdate") return withTemplateDefaults(typed);
  const rollingUpdate = withDefaults(fields(own(typed.strategy, "rollingUpdate")), {
    maxUnavailable: "25%",
    maxSurge: "25%",
  });
  return withTemplateDefaults({ ...typed, strategy: { ...typed.strategy, rollingUpdate } });
}

function withStatefulSetDefaults(spec: Fields): Fields {
  const filled = withDefaults(spec, {
    replicas: 1,
    revisionHistoryLimit: 10,
    podManagementPolicy: "OrderedReady",
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
  });
  const claimed = each(filled, "volumeClaimTemplates", withClaimDefaults);
  const updateStrategy = withDefaults(fields(own(claimed, "updateStrategy")), { type: "RollingUpdate" });
  if (updateStrategy.type !== "RollingUpdate") return withTemplateDefaults({ ...claimed, updateStrategy });
  const rollingUpdate = withDefaults(fields(own(updateStrategy, "rollingUpdate")), { partition: 0 });
  return withTemplateDefaults({ ...claimed, updateStrategy: { ...updateStrategy, rollingUpdate } });
}

/** Completes a claim template, which is stored as a claim with its initial status. */
function withClaimDefaults(claim: Fields): Fields {
  const spec = withDefaults(fields(own(claim, "spec")), { volumeMode: "Filesystem" });
  const status = withDefaults(fields(own(claim, "status")), { phase: "Pending" });
  return { ...claim, apiVersion: "v1", kind: "PersistentVolumeClaim", spec, status };
}

function withDaemonSetDefaults(spec: Fields): Fields {
  const filled = withDefaults(spec, { revisionHistoryLimit: 10 });
  const updateStrategy = withDefaults(fields(own(filled, "updateStrategy")), { type: "RollingUpdate" });
  if (updateStrategy.type !== "RollingUpdate") return withTemplateDefaults({ ...filled, updateStrategy });
  const rollingUpdate = withDefaults(fields(own(updateStrategy, "rollingUpdate")), { maxUnavailable: 1, maxSurge: 0 });
  return withTemplateDefaults({ ...filled, updateStrategy: { ...updateStrategy, rollingUpdate } });
}

function withReplicationControllerDefaults(spec: Fields): Fields {
  const labels = own(fields(fields(own(spec, "template")).metadata), "labels");
  const hasSelector = Object.keys(fields(own(spec, "selector"))).length > 0;
  return withTemplateDefaults({
    ...withDefaults(spec, { replicas: 1 }),
    ...!hasSelector && labels !== undefined && { selector: labels },
  });
}

/**
 * Sets the default limits and requests of a container limit range: limits default to `max`, and
 * requests to the limits.
 */
function withLimitDefaults(limit: Fields): Fields {
  if (limit.type !== "Container") return limit;
  const given = { ...fields(limit.max), ...fields(limit.default) };
  const requested = { ...fields(limit.min), ...given, ...fields(limit.defaultRequest) };
  return {
    ...limit,
    ...Object.keys(given).length > 0 && { default: given },
    ...Object.keys(requested).length > 0 && { defaultRequest: requested },
  };
}

/** Sets the labels of an object to those of its pod template, if it has none. */
function withPodLabels<T extends Draft>(it: T): T {
  const metadata = fields(it.metadata);
  const labels = own(fields(fields(fields(it.spec).template).metadata), "labels");
  const hasOwn = Object.keys(fields(own(metadata, "labels"))).length > 0;
  return hasOwn || labels === undefined ? it : { ...it, metadata: { ...metadata, labels } };
}

function withJobDefaults(spec: Fields): Fields {
  const isCounted = own(spec, "completions") !== undefined || own(spec, "parallelism") !== undefined;
  return withTemplateDefaults(withDefaults(spec, {
    ...(!isCounted && { completions: 1 }),
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: "TerminatingOrFailed",
    manualSelector: false,
  }));
}

function withCronJobDefaults(spec: Fields): Fields {
  const filled = withDefaults(spec, {
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  // The defaults of the job are set when the job is created; those of its pods are set here.
  return within(filled, "jobTemplate", (template) => within(template, "spec", withTemplateDefaults));
}

function withServiceDefaults(spec: Fields): Fields {
  const typed = withDefaults(spec, { sessionAffinity: "None", type: "ClusterIP" });
  const isInCluster = own(typed, "type") !== "ExternalName";
  const isExternal = ["NodePort", "LoadBalancer"].includes(String(own(typed, "type"))) ||
    (isInCluster && Array.isArray(own(typed, "externalIPs")));
  const filled = withDefaults(typed, {
    ...isInCluster && { internalTrafficPolicy: "Cluster" },
    ...isExternal && { externalTrafficPolicy: "Cluster" },
    ...own(typed, "type") === "LoadBalancer" && { allocateLoadBalancerNodePorts: true },
  });
  return each(filled, "ports", (port) => {
    const target = own(port, "targetPort");
    return target === undefined || target === 0 || target === "" ? { ...port, targetPort: own(port, "port") } : port;
  });
}

function withSecretData(secret: Draft): Draft {
  const text = own(secret, "stringData");
  if (!isObject(text)) return secret;
  const { stringData: _stringData, ...rest } = secret;
  const encoded = Object.entries(text).map(([key, value]) => [key, base64(String(value))]);
  return { ...rest, data: { ...fields(own(secret, "data")), ...Object.fromEntries(encoded) } };
}

function base64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function withBindingDefaults(binding: Draft): Draft {
  const group = "rbac.authorization.k8s.io";
  const withRole = within(binding, "roleRef", (role) => withDefaults(role, { apiGroup: group }));
  const subject = (it: Fields) => own(it, "kind") === "ServiceAccount" ? it : withDefaults(it, { apiGroup: group });
  return each(withRole, "subjects", subject);
}

function withWebhookDefaults(configuration: Draft, more: Fields): Draft {
  return each(configuration, "webhooks", (webhook) => {
    const filled = withDefaults(webhook, {
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      ...more,
    });
    const scoped = each(filled, "rules", (rule) => withDefaults(rule, { scope: "*" }));
    return within(
      scoped,
      "clientConfig",
      (client) => within(client, "service", (service) => withDefaults(service, { port: 443 })),
    );
  }) as Draft;
}
