/**
 * Validation of pod updates (`ValidatePodUpdate` of `k8s.io/kubernetes/pkg/apis/core/validation`).
 */
import { equal } from "../../base/json.ts";
import { type FieldError, forbidden, invalid, required } from "../../schema/field_error.ts";
import type { StoredObject } from "../objects/objects.ts";
import { placementErrors, withoutPlacement } from "./pod_placement.ts";
import { type Fields, fields, items } from "./_parts.ts";

// The real server appends a diff of its internal types.
const FORBIDDEN_CHANGE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n";

/**
 * Returns the errors of a pod update.
 *
 * @param pod The new pod.
 * @param old The old pod.
 */
export function podUpdateErrors(pod: StoredObject, old: StoredObject): FieldError[] {
  const [next, before] = [fields(pod.spec), fields(old.spec)];
  const errors: FieldError[] = [];
  for (const key of ["containers", "initContainers"]) {
    if (items(next[key]).length !== items(before[key]).length) {
      return [...errors, forbidden(`spec.${key}`, "pod updates may not add or remove containers")];
    }
    errors.push(...items(next[key]).flatMap(({ image }, i) => imageErrors(image ?? "", `spec.${key}[${i}].image`)));
  }
  const deadline = deadlineError(next.activeDeadlineSeconds, before.activeDeadlineSeconds);
  if (deadline !== undefined) errors.push(deadline);
  if (deadline !== undefined && next.activeDeadlineSeconds !== undefined) return errors;
  errors.push(
    ...tolerationErrors(items(next.tolerations), items(before.tolerations)),
    ...gateErrors(items(next.schedulingGates), items(before.schedulingGates)),
  );
  const isGated = items(before.schedulingGates).length > 0;
  if (isGated) errors.push(...placementErrors(next, before));
  const immutablePart = (spec: Fields) => immutableFields(isGated ? withoutPlacement(spec) : spec, before);
  if (!equal(immutablePart(next), immutablePart(before))) errors.push(forbidden("spec", FORBIDDEN_CHANGE));
  return errors;
}

function imageErrors(image: unknown, field: string): FieldError[] {
  if (image === "") return [required(field)];
  const isTrimmed = String(image).trim() === image;
  return isTrimmed ? [] : [invalid(field, image, "must not have leading or trailing whitespace")];
}

/** Checks the active deadline, which may be added and decreased, but not increased or removed. */
function deadlineError(next: unknown, before: unknown): FieldError | undefined {
  const field = "spec.activeDeadlineSeconds";
  if (typeof next === "number" && (next < 0 || next > MAX_INT32)) {
    return invalid(field, next, `must be between 0 and ${MAX_INT32}, inclusive`);
  }
  if (typeof before !== "number") return undefined;
  if (typeof next !== "number") return invalid(field, null, "must not update from a positive integer to nil value");
  return next > before ? invalid(field, next, "must be less than or equal to previous value") : undefined;
}

const MAX_INT32 = 2 ** 31 - 1;

function tolerationErrors(next: readonly Fields[], before: readonly Fields[]): FieldError[] {
  const withoutSeconds = ({ tolerationSeconds: _, ...rest }: Fields) => rest;
  const isPresent = (old: Fields) => next.some((each) => equal(withoutSeconds(each), withoutSeconds(old)));
  if (before.every(isPresent)) return [];
  return [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}

function gateErrors(next: readonly Fields[], before: readonly Fields[]): FieldError[] {
  return next.flatMap(({ name }, i) => {
    if (before.some((each) => each.name === name)) return [];
    const reason = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [forbidden(`spec.schedulingGates[${i}].name`, reason)];
  });
}

/** Returns a spec without the fields that may change. */
function immutableFields(spec: Fields, before: Fields): Fields {
  const { activeDeadlineSeconds: _a, tolerations: _t, schedulingGates: _s, ...rest } = spec;
  const isGraceAllowed = Number(before.terminationGracePeriodSeconds) < 0 && spec.terminationGracePeriodSeconds === 1;
  const withoutImages = (containers: unknown) => items(containers).map(({ image: _, ...container }) => container);
  return {
    ...rest,
    containers: withoutImages(spec.containers),
    initContainers: withoutImages(spec.initContainers),
    ...isGraceAllowed && { terminationGracePeriodSeconds: before.terminationGracePeriodSeconds },
  };
}

/**
 * Returns the errors of an update of ephemeral containers through their subresource.
 *
 * @param pod The new pod.
 * @param old The old pod.
 */
export function ephemeralErrors(pod: StoredObject, old: StoredObject): FieldError[] {
  const field = "spec.ephemeralContainers";
  const next = items(fields(pod.spec).ephemeralContainers);
  return items(fields(old.spec).ephemeralContainers).flatMap((before) => {
    const now = next.find(({ name }) => name === before.name);
    const name = JSON.stringify(before.name);
    if (now === undefined) return [forbidden(field, `existing ephemeral containers ${name} may not be removed\n`)];
    return equal(now, before) ? [] : [forbidden(field, `existing ephemeral containers ${name} may not be changed\n`)];
  });
}
