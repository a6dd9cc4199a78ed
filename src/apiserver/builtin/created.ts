/** What the server sets in objects of built-in kinds when they are made (`PrepareForCreate` of `k8s.io/kubernetes/pkg/registry`, and admission). */
import { equal } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type StoredObject, timestamp, withMetadata } from "../objects/objects.ts";
import { type Fields, fields, or, within } from "./_parts.ts";

/** By `group/plural`: what becomes of an object that is new. */
export const CREATED: Readonly<Record<string, (object: StoredObject, now: number) => StoredObject>> = {
  // Elections by emulation version are off by default: what asks for one is dropped.
  "coordination.k8s.io/leases": (it) => {
    const { strategy: _strategy, preferredHolder: _holder, ...spec } = fields(it.spec);
    return { ...it, spec };
  },
  "/namespaces": (it) => ({
    // A name that the server made is a label too.
    ...withMetadata(it, { labels: { ...it.metadata.labels, "kubernetes.io/metadata.name": it.metadata.name } }),
    spec: { ...fields(it.spec), finalizers: own(fields(it.spec), "finalizers") ?? ["kubernetes"] },
    status: { phase: "Active" },
  }),
  "/pods": (it, now) => ({
    ...it,
    spec: admittedPod(fields(it.spec)),
    status: { phase: "Pending", qosClass: qosClass(fields(it.spec)), ...gated(fields(it.spec), now) },
  }),
  "/services": (it) => ({ ...it, spec: addressed(fields(it.spec)), status: { loadBalancer: {} } }),
  "/nodes": (it) => ({ ...it, spec: tainted(fields(it.spec)) }),
  "/persistentvolumes": (it, now) => ({
    ...withMetadata(it, { finalizers: [...it.metadata.finalizers ?? [], "kubernetes.io/pv-protection"] }),
    status: { phase: "Pending", lastPhaseTransitionTime: timestamp(now) },
  }),
  "batch/jobs": labelledJob,
  "apps/daemonsets": (it) => withTemplateGeneration(it, "1"),
  "/persistentvolumeclaims": (it) => ({
    ...withMetadata(it, { finalizers: [...it.metadata.finalizers ?? [], "kubernetes.io/pvc-protection"] }),
    status: { phase: "Pending" },
  }),
};

/** Nothing is to run on a node that has not said that it is ready. */
function tainted(spec: Fields): Fields {
  const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  const taints = Array.isArray(spec.taints) ? spec.taints.map(fields) : [];
  const isThere = taints.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  return isThere ? spec : { ...spec, taints: [...taints, taint] };
}

/** The annotation with the number of a daemon set's template. */
export const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

/** A daemon set with the number of its template. */
export function withTemplateGeneration(daemonSet: StoredObject, generation: string): StoredObject {
  const annotations = { ...daemonSet.metadata.annotations, [TEMPLATE_GENERATION]: generation };
  return withMetadata(daemonSet, { annotations });
}

/** A job has its pods' labels where it has none, also those that the server gives them. */
function labelledJob(job: StoredObject): StoredObject {
  const given = own(fields(fields(fields(job.spec).template).metadata), "labels");
  const isTheirs = equal(job.metadata.labels ?? {}, fields(given));
  const spec = selectingJob(job, fields(job.spec));
  const labels = fields(fields(spec.template).metadata).labels as Record<string, string> | undefined;
  return isTheirs && labels !== undefined
    ? withMetadata({ ...job, spec }, { labels: { ...labels } })
    : { ...job, spec };
}

/** A job tells its pods by its own uid, unless it says by what. */
function selectingJob({ metadata }: StoredObject, spec: Fields): Fields {
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

/** The addresses of a service that has none of its own. Others would get one from a range, which there is not here. */
function addressed(spec: Fields): Fields {
  if (own(spec, "clusterIP") !== "None") return spec;
  // Without a selector nobody can tell of which family its endpoints are.
  const isChosen = own(spec, "selector") !== undefined;
  return or(spec, {
    clusterIPs: ["None"],
    ipFamilies: isChosen ? ["IPv4"] : ["IPv4", "IPv6"],
    ipFamilyPolicy: isChosen ? "SingleStack" : "RequireDualStack",
  });
}

/** What admission adds to a pod: its priority, and patience. */
export function admittedPod(spec: Fields): Fields {
  const filled = or(spec, { priority: 0, preemptionPolicy: "PreemptLowerPriority" });
  return patientPod(filled);
}

/** A pod's spec with patience for a node that is away, where it says nothing of that: so it is admitted, when made and when changed. */
export function patientPod(spec: Fields): Fields {
  const given = own(spec, "tolerations");
  const tolerations: Fields[] = Array.isArray(given) ? given.map(fields) : [];
  const added = ["not-ready", "unreachable"].map((name) => `node.kubernetes.io/${name}`).filter((key) =>
    !tolerations.some((each) => each.key === key || (each.key === undefined && each.operator === "Exists"))
  ).map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
  return { ...spec, tolerations: [...tolerations, ...added] };
}

/** A pod with gates says from the start that it waits for them. */
function gated({ schedulingGates }: Fields, now: number): Fields {
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

/** How well a pod says what it needs: all of it, some of it, nothing. */
function qosClass(spec: Fields): string {
  const all = ["containers", "initContainers"].flatMap((key) => {
    const list = own(spec, key);
    return Array.isArray(list) ? list.map((each) => fields(own(fields(each), "resources"))) : [];
  });
  const amounts = all.flatMap((
    { limits, requests },
  ) => [...Object.keys(fields(limits)), ...Object.keys(fields(requests))]);
  if (!amounts.some((name) => name === "cpu" || name === "memory")) return "BestEffort";
  const isFull = all.every(({ limits, requests }) =>
    ["cpu", "memory"].every((name) => {
      const limit = own(fields(limits), name);
      return limit !== undefined && (own(fields(requests), name) ?? limit) === limit;
    })
  );
  return isFull ? "Guaranteed" : "Burstable";
}
