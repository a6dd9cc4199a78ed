/** Tables of built-in kinds: the columns are generated, what stands in them is told here (`k8s.io/kubernetes/pkg/printers/internalversion`). */
import { isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { columns as generated, columnTexts } from "../openapi/kubernetes.gen.ts";
import { age, humanDuration } from "./columns.ts";
import type { Column } from "./kinds.ts";
import type { StoredObject } from "./objects.ts";

type Cell = (object: StoredObject, now: number) => unknown;
type Fields = Readonly<Record<string, unknown>>;

/**
 * The columns of a built-in kind.
 *
 * @param group The group.
 * @param plural The plural name.
 * @returns Nothing where it is not known what stands in them.
 */
export function builtinColumns(group: string, plural: string): readonly Column[] | undefined {
  const name = `${group}/${plural}`;
  const cells = { ...COMMON, ...CELLS[name] };
  const columns = (own(generated, name) ?? []).map(([name, type, format, priority, text]): Column | undefined => {
    const cell = own(cells, name);
    return cell && { name, type, format, priority, description: columnTexts[text] ?? "", cell };
  });
  const known = columns.filter((column) => column !== undefined);
  return known.length === columns.length && known.length > 0 ? known : undefined;
}

const COMMON: Readonly<Record<string, Cell>> = {
  Name: ({ metadata }) => metadata.name,
  Age: age,
  "Created At": ({ metadata }) => metadata.creationTimestamp,
};

const CELLS: Readonly<Record<string, Readonly<Record<string, Cell>>>> = {
  "/configmaps": { Data: ({ data, binaryData }) => size(data) + size(binaryData) },
  "/secrets": { Type: ({ type }) => type, Data: ({ data }) => size(data) },
  "/namespaces": { Status: at("status", "phase") },
  "/services": {
    Type: at("spec", "type"),
    "Cluster-IP": (it) => at("spec", "clusterIP")(it) ?? "<none>",
    "External-IP": orNone("spec", "externalName"),
    "Port(s)": (it) => list(it.spec, "ports").map(servicePort).join(",") || "<none>",
    Selector: (it) => labels(fields(it.spec).selector),
  },
  "/pods": {
    Ready: (it) =>
      `${list(it.status, "containerStatuses").filter(({ ready }) => ready).length}/${
        list(it.spec, "containers").length
      }`,
    Status: podStatus,
    Restarts: (it) =>
      String(list(it.status, "containerStatuses").reduce((sum, each) => sum + Number(each.restartCount ?? 0), 0)),
    IP: orNone("status", "podIP"),
    Node: orNone("spec", "nodeName"),
    "Nominated Node": orNone("status", "nominatedNodeName"),
    "Readiness Gates": () => "<none>",
  },
  "/nodes": {
    Status: (it) =>
      list(it.status, "conditions").some(({ type, status }) => type === "Ready" && status === "True")
        ? "Ready"
        : "NotReady",
    Roles: ({ metadata }) =>
      Object.keys(metadata.labels ?? {}).flatMap((key) => /^node-role\.kubernetes\.io\/(.+)$/.exec(key)?.[1] ?? [])
        .sort()
        .join(",") || "<none>",
    Version: at("status", "nodeInfo", "kubeletVersion"),
    "Internal-IP": (it) => nodeAddress(it, "InternalIP"),
    "External-IP": (it) => nodeAddress(it, "ExternalIP"),
    "OS-Image": orUnknown("status", "nodeInfo", "osImage"),
    "Kernel-Version": orUnknown("status", "nodeInfo", "kernelVersion"),
    "Container-Runtime": orUnknown("status", "nodeInfo", "containerRuntimeVersion"),
  },
  "/events": {
    "Last Seen": (it, now) => since(it.lastTimestamp ?? it.deprecatedLastTimestamp ?? it.eventTime, now),
    Type: ({ type }) => type ?? "",
    Reason: ({ reason }) => reason ?? "",
    Object: (it) => {
      const { kind, name } = fields(it.involvedObject ?? it.regarding);
      return `${String(kind ?? "").toLowerCase()}/${name ?? ""}`;
    },
    Subobject: (it) => fields(it.involvedObject ?? it.regarding).fieldPath ?? "",
    Source: (it) =>
      fields(it.source ?? it.deprecatedSource).component ?? it.reportingComponent ?? it.reportingController ?? "",
    Message: (it) => String(it.message ?? it.note ?? "").trim(),
    "First Seen": (it, now) => since(it.firstTimestamp ?? it.deprecatedFirstTimestamp ?? it.eventTime, now),
    Count: (it) => it.count ?? it.deprecatedCount ?? 1,
  },
  "apps/deployments": {
    Ready: (it) => `${at("status", "readyReplicas")(it) ?? 0}/${at("spec", "replicas")(it) ?? 0}`,
    "Up-to-date": (it) => String(at("status", "updatedReplicas")(it) ?? 0),
    Available: (it) => String(at("status", "availableReplicas")(it) ?? 0),
    ...ofTemplate("template"),
  },
  "apps/replicasets": { ...replicas(), ...ofTemplate("template") },
  "/replicationcontrollers": { ...replicas(), ...ofTemplate("template") },
  "apps/statefulsets": {
    Ready: (it) => `${at("status", "readyReplicas")(it) ?? 0}/${at("spec", "replicas")(it) ?? 0}`,
    ...ofTemplate("template"),
  },
  "apps/daemonsets": {
    Desired: (it) => at("status", "desiredNumberScheduled")(it) ?? 0,
    Current: (it) => at("status", "currentNumberScheduled")(it) ?? 0,
    Ready: (it) => at("status", "numberReady")(it) ?? 0,
    "Up-to-date": (it) => at("status", "updatedNumberScheduled")(it) ?? 0,
    Available: (it) => at("status", "numberAvailable")(it) ?? 0,
    "Node Selector": (it) => labels(at("spec", "template", "spec", "nodeSelector")(it)),
    ...ofTemplate("template"),
  },
  "batch/jobs": {
    Status: jobStatus,
    Completions: (it) => `${at("status", "succeeded")(it) ?? 0}/${at("spec", "completions")(it) ?? 1}`,
    Duration: (it, now) => {
      const { startTime, completionTime } = fields(it.status);
      if (typeof startTime !== "string") return "";
      return humanDuration(
        (typeof completionTime === "string" ? Date.parse(completionTime) : now) - Date.parse(startTime),
      );
    },
    ...ofTemplate("template"),
  },
  "batch/cronjobs": {
    Schedule: at("spec", "schedule"),
    Timezone: orNone("spec", "timeZone"),
    Suspend: (it) => String(at("spec", "suspend")(it) ?? false) === "true" ? "True" : "False",
    Active: (it) => list(it.status, "active").length,
    "Last Schedule": (it, now) => {
      const last = at("status", "lastScheduleTime")(it);
      return typeof last === "string" ? since(last, now) : "<none>";
    },
    ...ofTemplate("jobTemplate", "spec", "template"),
  },
  "rbac.authorization.k8s.io/rolebindings": binding(),
  "rbac.authorization.k8s.io/clusterrolebindings": binding(),
  "coordination.k8s.io/leases": { Holder: (it) => at("spec", "holderIdentity")(it) ?? "" },
  "networking.k8s.io/ingresses": {
    Class: orNone("spec", "ingressClassName"),
    Hosts: (it) => list(it.spec, "rules").map(({ host }) => host || "*").join(",") || "*",
    Address: (it) =>
      list(fields(it.status).loadBalancer, "ingress").map(({ ip, hostname }) => ip ?? hostname).join(","),
    Ports: (it) => list(it.spec, "tls").length > 0 ? "80, 443" : "80",
  },
  "networking.k8s.io/networkpolicies": { "Pod-Selector": (it) => selectorText(at("spec", "podSelector")(it)) },
  "storage.k8s.io/storageclasses": {
    Provisioner: ({ provisioner }) => provisioner,
    ReclaimPolicy: ({ reclaimPolicy }) => reclaimPolicy ?? "Delete",
    VolumeBindingMode: ({ volumeBindingMode }) => volumeBindingMode ?? "<unset>",
    AllowVolumeExpansion: ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
  },
  "scheduling.k8s.io/priorityclasses": {
    Value: ({ value }) => value,
    "Global-Default": ({ globalDefault }) => globalDefault ?? false,
    PreemptionPolicy: ({ preemptionPolicy }) => preemptionPolicy ?? "",
  },
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": { Webhooks: (it) => list(it, "webhooks").length },
  "admissionregistration.k8s.io/validatingwebhookconfigurations": { Webhooks: (it) => list(it, "webhooks").length },
  "policy/poddisruptionbudgets": {
    "Min Available": (it) => String(at("spec", "minAvailable")(it) ?? "N/A"),
    "Max Unavailable": (it) => String(at("spec", "maxUnavailable")(it) ?? "N/A"),
    "Allowed Disruptions": (it) => at("status", "disruptionsAllowed")(it) ?? 0,
  },
};

function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function list(holder: unknown, key: string): Fields[] {
  const value = own(fields(holder), key);
  return Array.isArray(value) ? value.map(fields) : [];
}

function size(value: unknown): number {
  return Object.keys(fields(value)).length;
}

function at(...path: readonly string[]): (object: StoredObject) => unknown {
  return (object) => path.reduce<unknown>((value, key) => own(fields(value), key), object);
}

function orNone(...path: readonly string[]): Cell {
  return (object) => at(...path)(object) || "<none>";
}

function orUnknown(...path: readonly string[]): Cell {
  return (object) => at(...path)(object) || "<unknown>";
}

function since(time: unknown, now: number): string {
  return typeof time === "string" ? humanDuration(now - Date.parse(time)) : "<unknown>";
}

function labels(value: unknown): string {
  return Object.entries(fields(value)).sort().map(([key, each]) => `${key}=${each}`).join(",") || "<none>";
}

function selectorText(value: unknown): string {
  return labels(fields(value).matchLabels);
}

function servicePort({ port, nodePort, protocol }: Fields): string {
  return `${port}${nodePort ? `:${nodePort}` : ""}/${protocol ?? "TCP"}`;
}

function nodeAddress(node: StoredObject, type: string): unknown {
  return list(node.status, "addresses").find((each) => each.type === type)?.address ?? "<none>";
}

function podStatus({ metadata, status }: StoredObject): unknown {
  const { phase, reason } = fields(status);
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  const waiting = list(status, "containerStatuses").map(({ state }) => fields(fields(fields(state).waiting))).find((
    each,
  ) => each.reason);
  return waiting?.reason ?? reason ?? phase ?? "";
}

function jobStatus({ status, spec, metadata }: StoredObject): string {
  const is = (type: string) => list(status, "conditions").some((each) => each.type === type && each.status === "True");
  if (is("Complete")) return "Complete";
  if (is("Failed")) return "Failed";
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  if (fields(spec).suspend === true) return "Suspended";
  return is("FailureTarget") ? "FailureTarget" : is("SuccessCriteriaMet") ? "SuccessCriteriaMet" : "Running";
}

function replicas(): Readonly<Record<string, Cell>> {
  return {
    Desired: (it) => at("spec", "replicas")(it) ?? 0,
    Current: (it) => at("status", "replicas")(it) ?? 0,
    Ready: (it) => at("status", "readyReplicas")(it) ?? 0,
  };
}

function ofTemplate(...path: readonly string[]): Readonly<Record<string, Cell>> {
  const containers = (it: StoredObject) => list(at("spec", ...path, "spec")(it), "containers");
  return {
    Containers: (it) => containers(it).map(({ name }) => name).join(","),
    Images: (it) => containers(it).map(({ image }) => image).join(","),
    Selector: (it) => {
      const selector = fields(fields(it.spec).selector);
      return labels(selector.matchLabels ?? selector);
    },
  };
}

function binding(): Readonly<Record<string, Cell>> {
  const subjects = (kind: string): Cell => (it) =>
    list(it, "subjects").filter((each) => each.kind === kind)
      .map(({ name, namespace }) => kind === "ServiceAccount" ? `${namespace}/${name}` : name).join(", ");
  return {
    Role: ({ roleRef }) => `${fields(roleRef).kind}/${fields(roleRef).name}`,
    Users: subjects("User"),
    Groups: subjects("Group"),
    ServiceAccounts: subjects("ServiceAccount"),
  };
}
