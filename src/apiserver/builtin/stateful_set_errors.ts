/**
 * Validation of stateful sets (`k8s.io/kubernetes/pkg/apis/apps/validation`,
 * `ValidateStatefulSet`).
 */
import { equal } from "../../base/json.ts";
import { labelErrors, subdomainErrors } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { Quantity } from "../../base/quantity.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../../schema/field_error.ts";
import { type Fields, fields, items, matchesLabels } from "./_parts.ts";
import type { StoredObject } from "../objects/objects.ts";
import { podErrors } from "./pod_errors.ts";

const MUTABLE_FIELDS = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];
const FORBIDDEN_CHANGES = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', " +
  "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES = ["Block", "Filesystem"];
const NOT_NEGATIVE = "must be greater than or equal to 0";

/**
 * Returns the errors of a stateful set.
 *
 * @param set The stateful set.
 * @param old The previous stateful set; absent if it is new.
 */
export function statefulSetErrors(set: StoredObject, old?: StoredObject): FieldError[] {
  const spec = fields(set.spec);
  const replicas = own(spec, "replicas");
  return [
    ...oneOf("podManagementPolicy", spec.podManagementPolicy, ["OrderedReady", "Parallel"]),
    ...strategyErrors(fields(spec.updateStrategy)),
    ...retentionErrors(fields(spec.persistentVolumeClaimRetentionPolicy)),
    // Claim templates cannot change, so those of an existing set are not validated again.
    ...old === undefined ? items(spec.volumeClaimTemplates).flatMap(claimErrors) : [],
    ...notNegative("spec.replicas", replicas),
    ...notNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...notNegative("spec.ordinals.start", fields(spec.ordinals).start),
    ...old === undefined && spec.serviceName ? nameErrors(String(spec.serviceName)) : [],
    ...selectorErrors(own(spec, "selector"), own(fields(fields(spec.template).metadata), "labels")),
    ...podErrors(createdPodSpec(spec), "spec.template.spec"),
    ...restartForeverErrors(fields(fields(spec.template).spec), "StatefulSet"),
    ...old !== undefined && changesImmutableFields(spec, fields(old.spec))
      ? [forbidden("spec", FORBIDDEN_CHANGES)]
      : [],
  ];
}

/**
 * Returns the errors of the pods of a workload that never ends: their restart policy must be
 * Always, and they must have no deadline.
 *
 * @param pod Spec of the pods.
 * @param kind Kind of the workload in messages.
 */
export function restartForeverErrors({ restartPolicy, activeDeadlineSeconds }: Fields, kind: string): FieldError[] {
  const path = "spec.template.spec";
  const reason = `activeDeadlineSeconds in ${kind} is not Supported`;
  return [
    ...restartPolicy === "Always" ? [] : [notSupported(`${path}.restartPolicy`, restartPolicy ?? "", ["Always"])],
    ...activeDeadlineSeconds === undefined ? [] : [forbidden(`${path}.activeDeadlineSeconds`, reason)],
  ];
}

/**
 * Returns the spec of the pods that the controller creates: with a volume for each claim, and
 * without host name and subdomain.
 */
function createdPodSpec({ template, volumeClaimTemplates }: Fields): Fields {
  const { hostname: _hostname, subdomain: _subdomain, ...pod } = fields(fields(template).spec);
  const claims = items(volumeClaimTemplates).map(({ metadata }) => fields(metadata).name);
  const others = items(pod.volumes).filter(({ name }) => !claims.includes(name));
  const volumes = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...pod, volumes: [...volumes, ...others] };
}

function claimErrors({ spec }: Fields, i: number): FieldError[] {
  const path = `spec.volumeClaimTemplates[${i}].spec`;
  const { accessModes, resources, storageClassName, volumeMode } = fields(spec);
  const modes: readonly unknown[] = Array.isArray(accessModes) ? accessModes : [];
  const errors: FieldError[] = [];
  if (modes.length === 0) errors.push(required(`${path}.accessModes`, "at least 1 access mode is required"));
  for (const mode of modes) {
    if (!ACCESS_MODES.includes(String(mode))) errors.push(notSupported(`${path}.accessModes`, mode, ACCESS_MODES));
  }
  if (
    modes.includes("ReadWriteOncePod") && new Set(modes.filter((mode) => ACCESS_MODES.includes(String(mode)))).size > 1
  ) {
    errors.push(forbidden(`${path}.accessModes`, "may not use ReadWriteOncePod with other access modes"));
  }
  errors.push(...storageErrors(fields(fields(resources).requests).storage, `${path}.resources[storage]`));
  if (storageClassName) {
    const problems = subdomainErrors(String(storageClassName));
    errors.push(...problems.map((each) => invalid(`${path}.storageClassName`, storageClassName, each)));
  }
  if (volumeMode !== undefined && !VOLUME_MODES.includes(String(volumeMode))) {
    errors.push(notSupported(`${path}.volumeMode`, volumeMode, VOLUME_MODES));
  }
  return errors;
}

function storageErrors(storage: unknown, field: string): FieldError[] {
  if (storage === undefined) return [required(field)];
  const value = Quantity.parse(String(storage));
  return value.compare(Quantity.parse("0")) <= 0 ? [invalid(field, String(storage), "must be greater than zero")] : [];
}

function strategyErrors({ type, rollingUpdate }: Fields): FieldError[] {
  if (type === "OnDelete") {
    const reason = "only allowed for updateStrategy 'RollingUpdate'";
    const update = goRollingUpdate(rollingUpdate);
    return update === null ? [] : [errorWithValue("spec.updateStrategy.rollingUpdate", update, reason)];
  }
  if (type === "RollingUpdate") {
    return notNegative("spec.updateStrategy.rollingUpdate.partition", fields(rollingUpdate).partition);
  }
  const strategy = { Type: type, RollingUpdate: goRollingUpdate(rollingUpdate) };
  return [errorWithValue("spec.updateStrategy", strategy, "must be 'RollingUpdate' or 'OnDelete'")];
}

/**
 * Returns an error that quotes a value of Go's internal type, with its fields in the given order.
 */
function errorWithValue(field: string, value: Fields, reason: string): FieldError {
  return { ...invalid(field, null, reason), message: `Invalid value: ${JSON.stringify(value)}: ${reason}` };
}

/** Returns a rolling update in the form of Go's internal type. */
function goRollingUpdate(update: unknown): Fields | null {
  if (update === undefined || update === null) return null;
  const { partition = 0, maxUnavailable = null } = fields(update);
  return { Partition: partition, MaxUnavailable: maxUnavailable };
}

function retentionErrors(policy: Fields): FieldError[] {
  const { whenDeleted, whenScaled } = policy;
  return Object.entries({ whenDeleted, whenScaled }).flatMap(([key, value]) =>
    value === undefined || value === "Retain" || value === "Delete"
      ? []
      : [notSupported(`spec.persistentVolumeClaimRetentionPolicy.${key}`, value, ["Retain", "Delete"])]
  );
}

function selectorErrors(selector: unknown, labels: unknown): FieldError[] {
  const errors: FieldError[] = [];
  if (selector === undefined) errors.push(required("spec.selector"));
  else if (Object.keys(fields(selector)).length === 0) {
    errors.push(invalid("spec.selector", selector, "empty selector is invalid for statefulset"));
  }
  // An empty selector matches all labels; a missing one matches none.
  if (selector !== undefined && matchesLabels(fields(selector), fields(labels))) return errors;
  return [
    ...errors,
    invalid("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`"),
  ];
}

function changesImmutableFields(spec: Fields, old: Fields): boolean {
  const keys = new Set([...Object.keys(spec), ...Object.keys(old)]);
  return [...keys].some((key) => !MUTABLE_FIELDS.includes(key) && !equal(own(spec, key), own(old, key)));
}

function nameErrors(name: string): FieldError[] {
  return labelErrors(name).map((reason) => invalid("spec.serviceName", name, reason));
}

function oneOf(key: string, value: unknown, [first, second]: readonly [string, string]): FieldError[] {
  if (value === first || value === second) return [];
  return [invalid(`spec.${key}`, value, `must be '${first}' or '${second}'`)];
}

function notNegative(field: string, value: unknown): FieldError[] {
  return typeof value === "number" && value < 0 ? [invalid(field, value, NOT_NEGATIVE)] : [];
}
