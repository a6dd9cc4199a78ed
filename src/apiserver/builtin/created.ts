/**
 * Fields that the server sets when it creates objects of built-in kinds (`PrepareForCreate` of
 * `k8s.io/kubernetes/pkg/registry`, and admission plugins).
 */
import { equal } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type StoredObject, timestamp, withMetadata } from "../objects/objects.ts";
import { type Fields, fields, withDefaults, within } from "./_parts.ts";

/** Functions that return a new object with these fields, by `group/plural`. */
export const CREATE_FIELDS: Readonly<Record<string, (object: StoredObject, now: number) => StoredObject>> = {
  // Coordinated leader election is off by default, and its fields are dropped.
  "coordination.k8s.io/leases": (it) => {
    const { strategy: _strategy, preferredHolder: _holder, ...spec } = fields(it.spec);
    return { ...it, spec };
  },
  "/namespaces": (it) => ({
    // The default is set before the server generates a name, so a generated name needs this.
    ...withMetadata(it, { labels: { ...it.metadata.labels, "kubernetes.io/metadata.name": it.metadata.name } }),
    spec: { ...fields(it.spec), finalizers: own(fields(it.spec), "finalizers") ?? ["kubernetes"] },
    status: { phase: "Active" },
  }),
  "/pods": (it, now) => ({
    ...it,
    spec: withAdmissionFields(fields(it.spec)),
    status: { phase: "Pending", qosClass: qosClass(fields(it.spec)), ...gateConditions(fields(it.spec), now) },
  }),
  "/services": (it) => ({ ...it, spec: withHeadlessAddress(fields(it.spec)), status: { loadBalancer: {} } }),
  "/nodes": (it) => ({ ...it, spec: withTaint(fields(it.spec)) }),
  "/persistentvolumes": (it, now) => ({
    ...withMetadata(it, { finalizers: [...it.metadata.finalizers ?? [], "kubernetes.io/pv-protection"] }),
    status: { phase: "Pending", lastPhaseTransitionTime: timestamp(now) },
  }),
  "storage.k8s.io/volumeattributesclasses": (it) =>
    withMetadata(it, { finalizers: [...it.metadata.finalizers ?? [], "kubernetes.io/vac-protection"] }),
  "batch/jobs": withJobLabels,
  "apps/daemonsets": (it) => withTemplateGeneration(it, "1"),
  "/persistentvolumeclaims": (it) => ({
    ...withMetadata(it, { finalizers: [...it.metadata.finalizers ?? [], "kubernetes.io/pvc-protection"] }),
    status: { phase: "Pending" },
  }),
};

/** Adds the taint of a node that is not ready. */
function withTaint(spec: Fields): Fields {
  const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  const taints = Array.isArray(spec.taints) ? spec.taints.map(fields) : [];
  const isPresent = taints.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  return isPresent ? spec : { ...spec, taints: [...taints, taint] };
}

/** Annotation with the generation of a DaemonSet's template. */
export const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

/** Returns a DaemonSet with the generation of its template. */
export function withTemplateGeneration(daemonSet: StoredObject, generation: string): StoredObject {
  const annotations = { ...daemonSet.metadata.annotations, [TEMPLATE_GENERATION]: generation };
  return withMetadata(daemonSet, { annotations });
}

/**
 * Sets the labels of a job to those of its pods, including those that the server generates, if it
 * has none of its own.
 */
function withJobLabels(job: StoredObject): StoredObject {
  const given = own(fields(fields(fields(job.spec).template).metadata), "labels");
  const hasPodLabels = equal(job.metadata.labels ?? {}, fields(given));
  const spec = withGeneratedSelector(job, fields(job.spec));
  const labels = fields(fields(spec.template).metadata).labels as Record<string, string> | undefined;
  return hasPodLabels && labels !== undefined
    ? withMetadata({ ...job, spec }, { labels: { ...labels } })
    : { ...job, spec };
}

/** Adds a selector with the uid of the job, unless `manualSelector` is set. */
function withGeneratedSelector({ metadata }: StoredObject, spec: Fields): Fields {
  if (own(spec, "manualSelector") === true) return spec;
  const { uid, name } = metadata;
  const labels = {
    "controller-uid": uid,
    "job-name": name,
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
  };
  const label = (template: Fields) =>
    within({ metadata: {}, ...template }, "metadata", (it) => ({ ...it, labels: { ...labels, ...fields(it.labels) } }));
  const matchLabels = {
    ...fields(fields(own(spec, "selector")).matchLabels),
    "batch.kubernetes.io/controller-uid": uid,
  };
  return within({ ...spec, selector: { ...fields(own(spec, "selector")), matchLabels } }, "template", label);
}

/** Sets the address fields of a headless Service. */
function withHeadlessAddress(spec: Fields): Fields {
  if (own(spec, "clusterIP") !== "None") return spec;
  // Without a selector, the IP families of the endpoints are unknown.
  const hasSelector = own(spec, "selector") !== undefined;
  return withDefaults(spec, {
    clusterIPs: ["None"],
    ipFamilies: hasSelector ? ["IPv4"] : ["IPv4", "IPv6"],
    ipFamilyPolicy: hasSelector ? "SingleStack" : "RequireDualStack",
  });
}

/** Sets the priority and the tolerations that admission plugins add to a new pod. */
export function withAdmissionFields(spec: Fields): Fields {
  return withTolerations(withDefaults(spec, { priority: 0, preemptionPolicy: "PreemptLowerPriority" }));
}

/**
 * Adds the tolerations for nodes that are not ready or unreachable (admission plugin
 * DefaultTolerationSeconds).
 */
export function withTolerations(spec: Fields): Fields {
  const given = own(spec, "tolerations");
  const tolerations: Fields[] = Array.isArray(given) ? given.map(fields) : [];
  const added = ["not-ready", "unreachable"].map((name) => `node.kubernetes.io/${name}`).filter((key) =>
    !tolerations.some((each) => each.key === key || (each.key === undefined && each.operator === "Exists"))
  ).map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
  return { ...spec, tolerations: [...tolerations, ...added] };
}

/** Returns the `conditions` of a new pod, which has one if it has scheduling gates. */
function gateConditions({ schedulingGates }: Fields, now: number): Fields {
  if (!Array.isArray(schedulingGates) || schedulingGates.length === 0) return {};
  return {
    conditions: [{
      type: "PodScheduled",
      status: "False",
      lastProbeTime: null,
      lastTransitionTime: timestamp(now),
      reason: "SchedulingGated",
      message: "Scheduling is blocked due to non-empty scheduling gates",
    }],
  };
}

/** Returns the QoS class of a pod. */
function qosClass(spec: Fields): string {
  const all = ["containers", "initContainers"].flatMap((key) => {
    const list = own(spec, key);
    return Array.isArray(list) ? list.map((each) => fields(own(fields(each), "resources"))) : [];
  });
  const amounts = all.flatMap((
    { limits, requests },
  ) => [...Object.keys(fields(limits)), ...Object.keys(fields(requests))]);
  if (!amounts.some((name) => name === "cpu" || name === "memory")) return "BestEffort";
  const isGuaranteed = all.every(({ limits, requests }) =>
    ["cpu", "memory"].every((name) => {
      const limit = own(fields(limits), name);
      return limit !== undefined && (own(fields(requests), name) ?? limit) === limit;
    })
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}
