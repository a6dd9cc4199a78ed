/** Cells of nodes, RBAC, policies, events and other kinds of the cluster. */
import type { StoredObject } from "../../objects/objects.ts";
import { humanDuration } from "../columns.ts";
import { at, type Cells, count, fields, isTrueCondition, list, orElse, selectorText, since, size } from "./_fields.ts";

export const clusterCells: Readonly<Record<string, Cells>> = {
  "/configmaps": { Data: ({ data, binaryData }) => size(data) + size(binaryData) },
  "/secrets": { Type: ({ type }) => type, Data: ({ data }) => size(data) },
  "/namespaces": { Status: at("status", "phase") },
  "/componentstatuses": { Status: () => "Unknown", Message: () => "", Error: () => "" },
  "/nodes": {
    Status: nodeStatus,
    Roles: ({ metadata }) => nodeRoles(metadata.labels ?? {}).join(",") || "<none>",
    Version: (it) => at("status", "nodeInfo", "kubeletVersion")(it) ?? "",
    "Internal-IP": (it) => nodeAddress(it, "InternalIP"),
    "External-IP": (it) => nodeAddress(it, "ExternalIP"),
    "OS-Image": orElse("<unknown>", "status", "nodeInfo", "osImage"),
    "Kernel-Version": (it) => {
      const { kernelVersion, architecture } = fields(at("status", "nodeInfo")(it));
      return `${kernelVersion || "<unknown>"}${architecture ? ` (${architecture})` : ""}`;
    },
    "Container-Runtime": orElse("<unknown>", "status", "nodeInfo", "containerRuntimeVersion"),
  },
  "/resourcequotas": {
    Request: (it) => quota(it, false),
    Limit: (it) => quota(it, true),
  },
  "/events": eventCells(),
  "events.k8s.io/events": eventCells(),
  "apiregistration.k8s.io/apiservices": {
    Service: ({ spec }) => {
      const { service } = fields(spec);
      return service === undefined ? "Local" : `${fields(service).namespace}/${fields(service).name}`;
    },
    Available: ({ status }) => {
      const condition = list(status, "conditions").find(({ type }) => type === "Available");
      if (condition === undefined) return "Unknown";
      return condition.status === "True" ? "True" : `${condition.status} (${condition.reason})`;
    },
  },
  "rbac.authorization.k8s.io/rolebindings": bindingCells(),
  "rbac.authorization.k8s.io/clusterrolebindings": bindingCells(),
  "certificates.k8s.io/certificatesigningrequests": {
    SignerName: orElse("<none>", "spec", "signerName"),
    Requestor: (it) => at("spec", "username")(it) ?? "",
    RequestedDuration: ({ spec }) => {
      const seconds = fields(spec).expirationSeconds;
      return typeof seconds === "number" ? humanDuration(seconds * 1000) : "<none>";
    },
    Condition: requestStatus,
  },
  "coordination.k8s.io/leases": { Holder: (it) => at("spec", "holderIdentity")(it) ?? "" },
  "node.k8s.io/runtimeclasses": { Handler: ({ handler }) => handler },
  "scheduling.k8s.io/priorityclasses": {
    Value: ({ value }) => value,
    "Global-Default": ({ globalDefault }) => globalDefault ?? false,
    PreemptionPolicy: ({ preemptionPolicy }) => preemptionPolicy ?? "",
  },
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": { Webhooks: (it) => list(it, "webhooks").length },
  "admissionregistration.k8s.io/validatingwebhookconfigurations": { Webhooks: (it) => list(it, "webhooks").length },
  "admissionregistration.k8s.io/validatingadmissionpolicies": {
    Validations: ({ spec }) => list(spec, "validations").length,
    ParamKind: paramKind,
  },
  "admissionregistration.k8s.io/mutatingadmissionpolicies": {
    Mutations: ({ spec }) => list(spec, "mutations").length,
    ParamKind: paramKind,
  },
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": policyBindingCells(),
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": policyBindingCells(),
  "resource.k8s.io/resourceclaims": { State: claimState },
  "resource.k8s.io/resourceslices": {
    Node: (it) => at("spec", "nodeName")(it) ?? "",
    Driver: at("spec", "driver"),
    Pool: at("spec", "pool", "name"),
  },
  "flowcontrol.apiserver.k8s.io/flowschemas": {
    PriorityLevel: at("spec", "priorityLevelConfiguration", "name"),
    MatchingPrecedence: count("spec", "matchingPrecedence"),
    DistinguisherMethod: orElse("<none>", "spec", "distinguisherMethod", "type"),
    MissingPL: ({ status }) => list(status, "conditions").find(({ type }) => type === "Dangling")?.status ?? "?",
  },
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": {
    Type: at("spec", "type"),
    NominalConcurrencyShares: (it) => at("spec", "limited", "nominalConcurrencyShares")(it) ?? "<none>",
    Queues: (it) => at("spec", "limited", "limitResponse", "queuing", "queues")(it) ?? "<none>",
    HandSize: (it) => at("spec", "limited", "limitResponse", "queuing", "handSize")(it) ?? "<none>",
    QueueLengthLimit: (it) => at("spec", "limited", "limitResponse", "queuing", "queueLengthLimit")(it) ?? "<none>",
  },
};

function nodeStatus({ spec, status }: StoredObject): string {
  const isKnown = list(status, "conditions").some(({ type }) => type === "Ready");
  const word = !isKnown ? "Unknown" : isTrueCondition(status, "Ready") ? "Ready" : "NotReady";
  return fields(spec).unschedulable === true ? `${word},SchedulingDisabled` : word;
}

function nodeRoles(labels: Readonly<Record<string, string>>): string[] {
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key === "kubernetes.io/role") return value === "" ? [] : [value];
    return /^node-role\.kubernetes\.io\/(.+)$/.exec(key)?.[1] ?? [];
  });
  return [...new Set(roles)].sort();
}

function nodeAddress({ status }: StoredObject, type: string): unknown {
  return list(status, "addresses").find((each) => each.type === type)?.address ?? "<none>";
}

function quota({ status }: StoredObject, ofLimits: boolean): string {
  const { hard, used } = fields(status);
  return Object.keys(fields(hard)).sort().filter((key) => key.startsWith("limits.") === ofLimits)
    .map((key) => `${key}: ${fields(used)[key] ?? "0"}/${fields(hard)[key]}`).join(", ");
}

/** Returns the cells of events. The two kinds of events name the same fields differently. */
function eventCells(): Cells {
  const first = (it: StoredObject, now: number) =>
    since(it.firstTimestamp ?? it.deprecatedFirstTimestamp ?? it.eventTime, now);
  const target = (it: StoredObject) => fields(it.involvedObject ?? it.regarding);
  return {
    "Last Seen": (it, now) => {
      if (it.series !== undefined) return since(fields(it.series).lastObservedTime, now);
      const last = it.lastTimestamp ?? it.deprecatedLastTimestamp;
      return typeof last === "string" ? since(last, now) : first(it, now);
    },
    Type: ({ type }) => type ?? "",
    Reason: ({ reason }) => reason ?? "",
    Object: (it) => {
      const { kind = "", name } = target(it);
      return name ? `${String(kind).toLowerCase()}/${name}` : String(kind).toLowerCase();
    },
    Subobject: (it) => target(it).fieldPath ?? "",
    Source: (it) => {
      const { component, host } = fields(it.source ?? it.deprecatedSource);
      const controller = component || it.reportingComponent || it.reportingController || "";
      const instance = host || it.reportingInstance || "";
      return instance ? `${controller}, ${instance}` : controller;
    },
    Message: (it) => String(it.message ?? it.note ?? "").trim(),
    "First Seen": first,
    Count: (it) => (it.series === undefined ? it.count ?? it.deprecatedCount : fields(it.series).count) || 1,
  };
}

function bindingCells(): Cells {
  const subjects = (kind: string) => (it: StoredObject) =>
    list(it, "subjects").filter((each) => each.kind === kind)
      .map(({ name, namespace }) => kind === "ServiceAccount" ? `${namespace}/${name}` : name).join(", ");
  return {
    Role: ({ roleRef }) => `${fields(roleRef).kind}/${fields(roleRef).name}`,
    Users: subjects("User"),
    Groups: subjects("Group"),
    ServiceAccounts: subjects("ServiceAccount"),
  };
}

function requestStatus({ status }: StoredObject): string {
  const has = (type: string) => list(status, "conditions").some((each) => each.type === type);
  const word = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return `${word}${has("Failed") ? ",Failed" : ""}${fields(status).certificate ? ",Issued" : ""}`;
}

function paramKind(it: StoredObject): string {
  const kind = at("spec", "paramKind")(it);
  return kind === undefined ? "<unset>" : `${fields(kind).apiVersion ?? ""}/${fields(kind).kind ?? ""}`;
}

function policyBindingCells(): Cells {
  return {
    PolicyName: (it) => at("spec", "policyName")(it) ?? "",
    ParamRef: (it) => {
      const reference = at("spec", "paramRef")(it);
      if (reference === undefined) return "<unset>";
      const { name, namespace, selector } = fields(reference);
      // The printer does not know whether the parameter is namespaced.
      if (name) return `${namespace || "*"}/${name}`;
      return selector === undefined ? "<unset>" : selectorText(selector);
    },
  };
}

function claimState({ metadata, status }: StoredObject): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ["deleted"] : [];
  if (fields(status).allocation === undefined) {
    if (!isDeleted) states.push("pending");
  } else {
    states.push("allocated");
    if (list(status, "reservedFor").length > 0) states.push("reserved");
  }
  return states.join(",");
}
