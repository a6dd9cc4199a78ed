/**
 * Validation of jobs, limited to rules that hand-written objects tend to violate
 * (`k8s.io/kubernetes/pkg/apis/batch/validation`).
 */
import { equal } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type FieldError, invalid, notSupported, required } from "../../schema/field_error.ts";
import type { StoredObject } from "../objects/objects.ts";
import { type Fields, fields, matchesLabels } from "./_parts.ts";

const COUNTS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
];
const IMMUTABLE = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];

/**
 * Returns the errors of a job.
 *
 * @param job The job.
 * @param templateErrors Errors of its pod template, which the real server reports between the
 * errors of the job.
 * @param old The previous job; absent if it is new.
 */
export function jobErrors(job: StoredObject, templateErrors: readonly FieldError[], old?: StoredObject): FieldError[] {
  const spec = fields(job.spec);
  const labels = own(fields(fields(spec.template).metadata), "labels");
  const all = specErrors(spec, labels, templateErrors);
  return [
    ...own(spec, "manualSelector") === true || own(spec, "selector") === undefined
      ? []
      : generatedLabelErrors(job, spec, fields(labels)),
    ...all,
    // The real server validates an updated job twice: by itself, and compared with the old one.
    ...old === undefined ? [] : [...all, ...updateErrors(spec, old)],
  ];
}

function specErrors(spec: Fields, labels: unknown, templateErrors: readonly FieldError[]): FieldError[] {
  return [
    ...COUNTS.flatMap((key) => countError(`spec.${key}`, own(spec, key))),
    ...completionModeFaults(spec),
    ...templateErrors,
    ...restartPolicyErrors(fields(fields(spec.template).spec).restartPolicy, "spec.template.spec.restartPolicy"),
    ...selectorErrors(own(spec, "selector"), labels),
  ];
}

/**
 * Returns the errors of a cron job.
 *
 * @param cronJob The cron job.
 * @param templateErrors Errors of its pod template.
 */
export function cronJobErrors(cronJob: StoredObject, templateErrors: readonly FieldError[]): FieldError[] {
  const spec = fields(cronJob.spec);
  const { schedule, concurrencyPolicy: policy } = spec;
  const counts = ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"];
  const policies = ["Allow", "Forbid", "Replace"];
  const pod = fields(fields(fields(fields(spec.jobTemplate).spec).template).spec);
  return [
    ...schedule ? [] : [required("spec.schedule")],
    ...counts.flatMap((key) => countError(`spec.${key}`, own(spec, key))),
    ...policies.includes(String(policy)) ? [] : [notSupported("spec.concurrencyPolicy", policy, policies)],
    ...templateErrors,
    ...restartPolicyErrors(pod.restartPolicy, "spec.jobTemplate.spec.template.spec.restartPolicy"),
  ];
}

/** Checks the labels and the selector that the server generates. */
function generatedLabelErrors({ metadata }: StoredObject, spec: Fields, labels: Fields): FieldError[] {
  const { uid, name } = metadata;
  const wanted = {
    "controller-uid": uid,
    "job-name": name,
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
  };
  const field = "spec.template.metadata.labels";
  const errors = Object.entries(wanted).flatMap(([key, value]) => {
    if (labels[key] === value) return [];
    if (labels[key] === undefined) return [required(`${field}[${key}]`, `must be '${value}'`)];
    return [invalid(`${field}[${key}]`, labels, `must be '${value}'`)];
  });
  const selector = own(spec, "selector");
  if (!matchesLabels(fields(selector), wanted)) {
    errors.push(invalid("spec.selector", selector, "`selector` not auto-generated"));
  }
  return errors;
}

function completionModeFaults({ completionMode: mode, completions }: Fields): FieldError[] {
  if (mode === "NonIndexed") return [];
  if (mode !== "Indexed") return [notSupported("spec.completionMode", mode, ["Indexed", "NonIndexed"])];
  return completions === undefined ? [required("spec.completions", "when completion mode is Indexed")] : [];
}

function countError(field: string, count: unknown): FieldError[] {
  return Number(count ?? 0) < 0 ? [invalid(field, count, "must be greater than or equal to 0")] : [];
}

function restartPolicyErrors(policy: unknown, field: string): FieldError[] {
  if (policy === undefined || policy === "Always") return [required(field, 'valid values: "OnFailure", "Never"')];
  const isKnown = policy === "OnFailure" || policy === "Never";
  return isKnown ? [] : [notSupported(field, policy, ["Never", "OnFailure"])];
}

function selectorErrors(selector: unknown, labels: unknown): FieldError[] {
  const field = "spec.template.metadata.labels";
  const reason = "`selector` does not match template `labels`";
  // A missing selector matches no labels.
  if (selector === undefined) return [required("spec.selector"), invalid(field, labels ?? null, reason)];
  return matchesLabels(fields(selector), fields(labels)) ? [] : [invalid(field, labels ?? null, reason)];
}

function updateErrors(spec: Fields, oldJob: StoredObject): FieldError[] {
  const old = fields(oldJob.spec);
  const isSuspended = old.suspend === true && fields(oldJob.status).startTime === undefined;
  const [next, before] = [spec, old].map(({ template }) => isSuspended ? withoutPlacement(fields(template)) : template);
  const reason = "field is immutable";
  const error = (key: string) => equal(spec[key], old[key]) ? [] : [invalid(`spec.${key}`, spec[key] ?? null, reason)];
  return [
    ...completionsErrors(spec, old),
    ...error("selector"),
    ...equal(next, before) ? [] : [invalid("spec.template", spec.template, reason)],
    ...IMMUTABLE.flatMap(error),
  ];
}

function completionsErrors({ completionMode: mode, completions, parallelism }: Fields, old: Fields): FieldError[] {
  if (equal(completions, old.completions)) return [];
  const field = "spec.completions";
  if (mode !== "Indexed") return [invalid(field, completions ?? null, "field is immutable")];
  if (completions === undefined || completions === parallelism) return [];
  return [invalid(field, completions, "can only be modified in tandem with spec.parallelism")];
}

/**
 * Returns a pod template without the fields that select nodes, which may change while the job is
 * suspended.
 */
function withoutPlacement({ metadata: _, spec, ...rest }: Fields): Fields {
  const { affinity, nodeSelector: _n, tolerations: _t, schedulingGates: _g, ...pod } = fields(spec);
  const { nodeAffinity: _a, ...affinities } = fields(affinity);
  return { ...rest, spec: { ...pod, ...Object.keys(affinities).length > 0 && { affinity: affinities } } };
}
