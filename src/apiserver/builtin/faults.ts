/**
 * Validation of built-in kinds, limited to rules that operators encounter
 * (`k8s.io/kubernetes/pkg/apis/.../validation`).
 */
import { equal } from "../../base/json.ts";
import { labelFaults } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from "../../schema/field_error.ts";
import type { StoredObject } from "../objects/objects.ts";
import { configMapFaults, secretFaults } from "./config_faults.ts";
import { cronJobFaults, jobFaults } from "./job_faults.ts";
import { imageFaults, podFaults } from "./pod_faults.ts";
import { bindingFaults, roleFaults } from "./rbac_faults.ts";
import { restartForeverFaults, statefulSetFaults } from "./stateful_set_faults.ts";
import { webhookFaults } from "./webhook_faults.ts";
import { type Fields, fields, items, matchesLabels } from "./_parts.ts";

type Check = (object: StoredObject, old?: StoredObject) => FieldError[];

const CHECKS: Readonly<Record<string, Check>> = {
  "/configmaps": (object, old) => [
    ...immutableFaults(object, old, ["data", "binaryData"]),
    ...configMapFaults(object),
  ],
  "/secrets": (object, old) => [
    ...(old !== undefined && !equal(object.type, old.type) ? [invalid("type", object.type, "field is immutable")] : []),
    ...immutableFaults(object, old, ["data"]),
    ...secretFaults(object),
  ],
  "/pods": (pod) => [...podFaults(fields(pod.spec), "spec"), ...imageFaults(fields(pod.spec))],
  "apps/deployments": workloadFaults,
  "apps/replicasets": workloadFaults,
  "apps/statefulsets": statefulSetFaults,
  "apps/daemonsets": workloadFaults,
  "batch/jobs": (job, old) => jobFaults(job, templateFaults(fields(fields(job.spec).template), "spec.template"), old),
  "batch/cronjobs": (cronJob) => {
    const path = "spec.jobTemplate.spec.template";
    const { template } = fields(fields(fields(cronJob.spec).jobTemplate).spec);
    return cronJobFaults(cronJob, templateFaults(fields(template), path));
  },
  "coordination.k8s.io/leases": leaseFaults,
  "/services": serviceFaults,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": webhookFaults,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": webhookFaults,
  "rbac.authorization.k8s.io/roles": roleFaults,
  "rbac.authorization.k8s.io/clusterroles": roleFaults,
  "rbac.authorization.k8s.io/rolebindings": bindingFaults,
  "rbac.authorization.k8s.io/clusterrolebindings": bindingFaults,
};

/**
 * Returns the errors of an object of a built-in kind, except those of its metadata.
 *
 * @param name `group/plural`.
 * @param object The object.
 * @param old The previous object; absent if it is new.
 */
export function builtinFaults(name: string, object: StoredObject, old?: StoredObject): FieldError[] {
  return CHECKS[name]?.(object, old) ?? [];
}

function immutableFaults(object: StoredObject, old: StoredObject | undefined, keys: readonly string[]): FieldError[] {
  if (old?.immutable !== true) return [];
  const reason = "field is immutable when `immutable` is set";
  const faults = object.immutable === true ? [] : [forbidden("immutable", reason)];
  for (const key of keys) if (!equal(own(object, key) ?? {}, own(old, key) ?? {})) faults.push(forbidden(key, reason));
  return faults;
}

function workloadFaults(object: StoredObject, old?: StoredObject): FieldError[] {
  const spec = fields(object.spec);
  const template = fields(spec.template);
  const faults: FieldError[] = [];
  const workload = object.kind === "DaemonSet" ? "daemonset" : "deployment";
  const selector = own(spec, "selector");
  const labels = own(fields(template.metadata), "labels");
  if (selector === undefined) {
    if (old !== undefined && own(fields(old.spec), "selector") !== undefined) {
      faults.push(invalid("spec.selector", null, "field is immutable"));
    }
    faults.push(required("spec.selector"));
  } else if (Object.keys(fields(selector)).length === 0) {
    faults.push(invalid("spec.selector", selector, `empty selector is invalid for ${workload}`));
  } else if (old !== undefined && !equal(selector, fields(old.spec).selector)) {
    faults.push(invalid("spec.selector", selector, "field is immutable"));
  }
  if (selector === undefined || !matchesLabels(fields(selector), fields(labels))) {
    const reason = "`selector` does not match template `labels`";
    faults.push(invalid("spec.template.metadata.labels", labels ?? null, reason));
  }
  const replicas = own(spec, "replicas");
  if (typeof replicas === "number" && replicas < 0) {
    faults.push(invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  return [
    ...faults,
    ...templateFaults(template, "spec.template"),
    ...restartForeverFaults(fields(template.spec), object.kind === "DaemonSet" ? "DaemonSet" : "ReplicaSet"),
  ];
}

function templateFaults(template: Fields, path: string): FieldError[] {
  return podFaults(fields(template.spec), `${path}.spec`);
}

function leaseFaults({ spec }: StoredObject): FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions, preferredHolder, strategy } = fields(spec);
  const faults: FieldError[] = [];
  if (typeof duration === "number" && duration <= 0) {
    faults.push(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  if (typeof transitions === "number" && transitions < 0) {
    faults.push(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  }
  if (preferredHolder && !strategy) {
    faults.push(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"));
  }
  return faults;
}

function serviceFaults({ spec }: StoredObject): FieldError[] {
  const { ports, clusterIP, type } = fields(spec);
  const list = items(ports);
  if (list.length === 0) return clusterIP === "None" || type === "ExternalName" ? [] : [required("spec.ports")];
  const names = new Set<unknown>();
  return list.flatMap((port, i) => {
    const path = `spec.ports[${i}]`;
    const { name, protocol } = port;
    const faults: FieldError[] = [];
    if (!name) { if (list.length > 1) faults.push(required(`${path}.name`)); }
    else {
      faults.push(...labelFaults(String(name)).map((reason) => invalid(`${path}.name`, name, reason)));
      if (names.has(name)) faults.push(duplicate(`${path}.name`, name));
      names.add(name);
    }
    faults.push(...portFaults(port.port).map((reason) => invalid(`${path}.port`, port.port, reason)));
    if (!PROTOCOLS.includes(String(protocol))) faults.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
    faults.push(...portFaults(port.targetPort).map((reason) => invalid(`${path}.targetPort`, port.targetPort, reason)));
    return faults;
  });
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Returns the errors of the number or name of a port. */
function portFaults(port: unknown): string[] {
  if (typeof port === "number") return port < 1 || port > 65535 ? ["must be between 1 and 65535, inclusive"] : [];
  const name = String(port);
  return [
    ...name.length > 15 ? ["must be no more than 15 characters"] : [],
    ...!/^[-a-z0-9]+$/.test(name) ? ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"] : [],
    ...!/[a-z]/.test(name) ? ["must contain at least one letter (a-z)"] : [],
    ...name.includes("--") ? ["must not contain consecutive hyphens"] : [],
    ...name.startsWith("-") || name.endsWith("-") ? ["must not begin or end with a hyphen"] : [],
  ];
}
