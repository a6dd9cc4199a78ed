/**
 * Validation of built-in kinds, limited to rules that operators encounter
 * (`k8s.io/kubernetes/pkg/apis/.../validation`).
 */
import { equal } from "../../base/json.ts";
import { labelErrors } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from "../../schema/field_error.ts";
import type { StoredObject } from "../objects/objects.ts";
import { configMapErrors, secretErrors } from "./config_errors.ts";
import { cronJobErrors, jobErrors } from "./job_errors.ts";
import { imageErrors, podErrors } from "./pod_errors.ts";
import { bindingErrors, roleErrors } from "./rbac_errors.ts";
import { restartForeverErrors, statefulSetErrors } from "./stateful_set_errors.ts";
import { webhookErrors } from "./webhook_errors.ts";
import { type Fields, fields, items, matchesLabels } from "./_parts.ts";

type Check = (object: StoredObject, old?: StoredObject) => FieldError[];

const CHECKS: Readonly<Record<string, Check>> = {
  "/configmaps": (object, old) => [
    ...immutableErrors(object, old, ["data", "binaryData"]),
    ...configMapErrors(object),
  ],
  "/secrets": (object, old) => [
    ...(old !== undefined && !equal(object.type, old.type) ? [invalid("type", object.type, "field is immutable")] : []),
    ...immutableErrors(object, old, ["data"]),
    ...secretErrors(object),
  ],
  "/pods": (pod) => [...podErrors(fields(pod.spec), "spec"), ...imageErrors(fields(pod.spec))],
  "apps/deployments": workloadErrors,
  "apps/replicasets": workloadErrors,
  "apps/statefulsets": statefulSetErrors,
  "apps/daemonsets": workloadErrors,
  "batch/jobs": (job, old) => jobErrors(job, templateErrors(fields(fields(job.spec).template), "spec.template"), old),
  "batch/cronjobs": (cronJob) => {
    const path = "spec.jobTemplate.spec.template";
    const { template } = fields(fields(fields(cronJob.spec).jobTemplate).spec);
    return cronJobErrors(cronJob, templateErrors(fields(template), path));
  },
  "coordination.k8s.io/leases": leaseErrors,
  "/services": serviceErrors,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": webhookErrors,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": webhookErrors,
  "rbac.authorization.k8s.io/roles": roleErrors,
  "rbac.authorization.k8s.io/clusterroles": roleErrors,
  "rbac.authorization.k8s.io/rolebindings": bindingErrors,
  "rbac.authorization.k8s.io/clusterrolebindings": bindingErrors,
};

/**
 * Returns the errors of an object of a built-in kind, except those of its metadata.
 *
 * @param name `group/plural`.
 * @param object The object.
 * @param old The previous object; absent if it is new.
 */
export function builtinErrors(name: string, object: StoredObject, old?: StoredObject): FieldError[] {
  return CHECKS[name]?.(object, old) ?? [];
}

function immutableErrors(object: StoredObject, old: StoredObject | undefined, keys: readonly string[]): FieldError[] {
  if (old?.immutable !== true) return [];
  const reason = "field is immutable when `immutable` is set";
  const errors = object.immutable === true ? [] : [forbidden("immutable", reason)];
  for (const key of keys) if (!equal(own(object, key) ?? {}, own(old, key) ?? {})) errors.push(forbidden(key, reason));
  return errors;
}

function workloadErrors(object: StoredObject, old?: StoredObject): FieldError[] {
  const spec = fields(object.spec);
  const template = fields(spec.template);
  const errors: FieldError[] = [];
  const workload = object.kind === "DaemonSet" ? "daemonset" : "deployment";
  const selector = own(spec, "selector");
  const labels = own(fields(template.metadata), "labels");
  if (selector === undefined) {
    if (old !== undefined && own(fields(old.spec), "selector") !== undefined) {
      errors.push(invalid("spec.selector", null, "field is immutable"));
    }
    errors.push(required("spec.selector"));
  } else if (Object.keys(fields(selector)).length === 0) {
    errors.push(invalid("spec.selector", selector, `empty selector is invalid for ${workload}`));
  } else if (old !== undefined && !equal(selector, fields(old.spec).selector)) {
    errors.push(invalid("spec.selector", selector, "field is immutable"));
  }
  if (selector === undefined || !matchesLabels(fields(selector), fields(labels))) {
    const reason = "`selector` does not match template `labels`";
    errors.push(invalid("spec.template.metadata.labels", labels ?? null, reason));
  }
  const replicas = own(spec, "replicas");
  if (typeof replicas === "number" && replicas < 0) {
    errors.push(invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  return [
    ...errors,
    ...templateErrors(template, "spec.template"),
    ...restartForeverErrors(fields(template.spec), object.kind === "DaemonSet" ? "DaemonSet" : "ReplicaSet"),
  ];
}

function templateErrors(template: Fields, path: string): FieldError[] {
  return podErrors(fields(template.spec), `${path}.spec`);
}

function leaseErrors({ spec }: StoredObject): FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions, preferredHolder, strategy } = fields(spec);
  const errors: FieldError[] = [];
  if (typeof duration === "number" && duration <= 0) {
    errors.push(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  if (typeof transitions === "number" && transitions < 0) {
    errors.push(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  }
  if (preferredHolder && !strategy) {
    errors.push(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"));
  }
  return errors;
}

function serviceErrors({ spec }: StoredObject): FieldError[] {
  const { ports, clusterIP, type } = fields(spec);
  const list = items(ports);
  if (list.length === 0) return clusterIP === "None" || type === "ExternalName" ? [] : [required("spec.ports")];
  const names = new Set<unknown>();
  return list.flatMap((port, i) => {
    const path = `spec.ports[${i}]`;
    const { name, protocol } = port;
    const errors: FieldError[] = [];
    if (!name) { if (list.length > 1) errors.push(required(`${path}.name`)); }
    else {
      errors.push(...labelErrors(String(name)).map((reason) => invalid(`${path}.name`, name, reason)));
      if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
      names.add(name);
    }
    errors.push(...portErrors(port.port).map((reason) => invalid(`${path}.port`, port.port, reason)));
    if (!PROTOCOLS.includes(String(protocol))) errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
    errors.push(...portErrors(port.targetPort).map((reason) => invalid(`${path}.targetPort`, port.targetPort, reason)));
    return errors;
  });
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Returns the errors of the number or name of a port. */
function portErrors(port: unknown): string[] {
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
