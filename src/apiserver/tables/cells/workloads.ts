/** Cells of workloads. */
import type { StoredObject } from "../../objects/objects.ts";
import { humanDuration } from "../columns.ts";
import {
  at,
  type Cells,
  containerCells,
  count,
  type Fields,
  fields,
  firstItems,
  isTrueCondition,
  labels,
  list,
  orElse,
  selectorText,
  since,
} from "./_fields.ts";

const readyOfDesired: Cells = {
  Ready: (it) => `${at("status", "readyReplicas")(it) ?? 0}/${at("spec", "replicas")(it) ?? 0}`,
};

const replicas: Cells = {
  Desired: count("spec", "replicas"),
  Current: count("status", "replicas"),
  Ready: count("status", "readyReplicas"),
};

const selector: Cells = { Selector: (it) => selectorText(at("spec", "selector")(it)) || "<none>" };

export const workloadCells: Readonly<Record<string, Cells>> = {
  "apps/deployments": {
    ...readyOfDesired,
    "Up-to-date": count("status", "updatedReplicas"),
    Available: count("status", "availableReplicas"),
    ...containerCells("spec", "template"),
    Selector: (it) => selectorText(at("spec", "selector")(it)),
  },
  "apps/replicasets": { ...replicas, ...containerCells("spec", "template"), ...selector },
  "/replicationcontrollers": {
    ...replicas,
    ...containerCells("spec", "template"),
    Selector: (it) => labels(at("spec", "selector")(it)),
  },
  "apps/statefulsets": { ...readyOfDesired, ...containerCells("spec", "template") },
  "apps/daemonsets": {
    Desired: count("status", "desiredNumberScheduled"),
    Current: count("status", "currentNumberScheduled"),
    Ready: count("status", "numberReady"),
    "Up-to-date": count("status", "updatedNumberScheduled"),
    Available: count("status", "numberAvailable"),
    "Node Selector": (it) => labels(at("spec", "template", "spec", "nodeSelector")(it)),
    ...containerCells("spec", "template"),
    ...selector,
  },
  "apps/controllerrevisions": {
    Controller: ({ metadata }) => {
      const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
      if (owner === undefined) return "<none>";
      const [group] = owner.apiVersion.includes("/") ? owner.apiVersion.split("/") : [""];
      return `${owner.kind.toLowerCase()}${group ? `.${group}` : ""}/${owner.name}`;
    },
    Revision: ({ revision }) => revision ?? 0,
  },
  "batch/jobs": {
    Status: jobStatus,
    Completions: jobCompletions,
    Duration: ({ status }, now) => {
      const { startTime, completionTime } = fields(status);
      if (typeof startTime !== "string") return "";
      const end = typeof completionTime === "string" ? Date.parse(completionTime) : now;
      return humanDuration(end - Date.parse(startTime));
    },
    ...containerCells("spec", "template"),
    ...selector,
  },
  "batch/cronjobs": {
    Schedule: at("spec", "schedule"),
    Timezone: orElse("<none>", "spec", "timeZone"),
    Suspend: (it) => {
      const suspend = at("spec", "suspend")(it);
      return suspend === undefined ? "<unset>" : suspend === true ? "True" : "False";
    },
    Active: ({ status }) => list(status, "active").length,
    "Last Schedule": ({ status }, now) => {
      const { lastScheduleTime } = fields(status);
      return lastScheduleTime === undefined ? "<none>" : since(lastScheduleTime, now);
    },
    ...containerCells("spec", "jobTemplate", "spec", "template"),
    Selector: (it) => selectorText(at("spec", "jobTemplate", "spec", "selector")(it)) || "<none>",
  },
  "/podtemplates": {
    ...containerCells("template"),
    "Pod Labels": (it) => labels(at("template", "metadata", "labels")(it)),
  },
  "policy/poddisruptionbudgets": {
    "Min Available": (it) => String(at("spec", "minAvailable")(it) ?? "N/A"),
    "Max Unavailable": (it) => String(at("spec", "maxUnavailable")(it) ?? "N/A"),
    "Allowed Disruptions": count("status", "disruptionsAllowed"),
  },
  "autoscaling/horizontalpodautoscalers": {
    Reference: ({ spec }) => {
      const { kind, name } = fields(fields(spec).scaleTargetRef);
      return `${kind ?? ""}/${name ?? ""}`;
    },
    Targets: metrics,
    MinPods: (it) => String(at("spec", "minReplicas")(it) ?? "<unset>"),
    MaxPods: count("spec", "maxReplicas"),
    Replicas: count("status", "currentReplicas"),
  },
};

function jobStatus({ status, metadata }: StoredObject): string {
  for (const type of ["Complete", "Failed"]) if (isTrueCondition(status, type)) return type;
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  for (const type of ["Suspended", "FailureTarget", "SuccessCriteriaMet"]) {
    if (isTrueCondition(status, type)) return type;
  }
  return "Running";
}

function jobCompletions({ spec, status }: StoredObject): string {
  const { completions, parallelism } = fields(spec);
  const succeeded = fields(status).succeeded ?? 0;
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return Number(parallelism ?? 0) > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

const SOURCES: Readonly<Record<string, string>> = {
  External: "external",
  Pods: "pods",
  Object: "object",
  Resource: "resource",
  ContainerResource: "containerResource",
};

function metrics({ spec, status }: StoredObject): string {
  const found = list(status, "currentMetrics");
  // The real server also lists metrics of v1 in their v2 form.
  const shown = list(spec, "metrics").map((metric, i) => metricText(metric, found[i]));
  return shown.length === 0 ? "<none>" : firstItems(shown, 2, ", ");
}

function metricText(metric: Fields, found: Fields | undefined): string {
  const key = SOURCES[String(metric.type)];
  if (key === undefined) return "<unknown type>";
  const { target, name } = fields(metric[key]);
  const current = fields(fields(found?.[key]).current);
  const { averageValue, averageUtilization, value } = fields(target);
  const unknown = (text: unknown) => text ?? "<unknown>";
  switch (key) {
    case "pods":
      return `${unknown(current.averageValue)}/${averageValue}`;
    case "external":
    case "object":
      return averageValue === undefined
        ? `${unknown(current.value)}/${value}`
        : `${unknown(current.averageValue)}/${averageValue} (avg)`;
    default: {
      if (averageValue !== undefined) return `${name}: ${unknown(current.averageValue)}/${averageValue}`;
      const percent = (value: unknown, placeholder: string) => value === undefined ? placeholder : `${value}%`;
      return `${name}: ${percent(current.averageUtilization, "<unknown>")}/${percent(averageUtilization, "<auto>")}`;
    }
  }
}
