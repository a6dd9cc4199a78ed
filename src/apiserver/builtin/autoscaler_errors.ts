/**
 * Validation of autoscalers, limited to rules that hand-written objects tend to violate
 * (`k8s.io/kubernetes/pkg/apis/autoscaling/validation`).
 */
import { equal } from "../../base/json.ts";
import { pathSegmentErrors } from "../../base/name_rules.ts";
import { type FieldError, forbidden, invalid, required } from "../../schema/field_error.ts";
import type { StoredObject } from "../objects/objects.ts";
import { type Fields, fields, items } from "./_parts.ts";

/**
 * Returns the errors of an autoscaler.
 *
 * @param object The autoscaler as `autoscaling/v2`.
 * @param old The previous autoscaler, in either version; absent if it is new.
 * @param subresource The subresource that is written.
 */
export function autoscalerErrors(
  { spec, status }: StoredObject,
  old: StoredObject | undefined,
  subresource?: string,
): FieldError[] {
  if (subresource === "status") {
    const { currentReplicas = 0, desiredReplicas = 0 } = fields(status);
    return Object.entries({ currentReplicas, desiredReplicas }).flatMap(([key, count]) =>
      Number(count) < 0 ? [invalid(`status.${key}`, count, "must be greater than or equal to 0")] : []
    );
  }
  const { minReplicas: min, maxReplicas: max = 0, metrics, scaleTargetRef } = fields(spec);
  const errors: FieldError[] = [];
  if (Number(min) < 1) errors.push(invalid("spec.minReplicas", min, "must be greater than or equal to 1"));
  if (max === 0) errors.push(required("spec.maxReplicas", "must be set and greater than 0"));
  else if (Number(max) < 0) errors.push(invalid("spec.maxReplicas", max, "must be greater than or equal to 1"));
  if (Number(max) < Number(min)) {
    errors.push(invalid("spec.maxReplicas", max, "must be greater than or equal to `minReplicas`"));
  }
  const before = old && fields(fields(old.spec).scaleTargetRef);
  errors.push(...targetErrors(fields(scaleTargetRef), before));
  const hasExternalMetric = items(metrics).some(({ type }) => type === "Object" || type === "External");
  if (min === 0 && !hasExternalMetric) {
    const reason = "must specify at least one Object or External metric to support scaling to zero replicas";
    errors.push(forbidden("spec.metrics", reason));
  }
  return errors;
}

function targetErrors(target: Fields, before: Fields | undefined): FieldError[] {
  const path = "spec.scaleTargetRef";
  const errors = ["kind", "name"].flatMap((key) => {
    const value = target[key];
    if (!value) return [required(`${path}.${key}`)];
    return pathSegmentErrors(String(value)).map((reason) => invalid(`${path}.${key}`, value, reason));
  });
  const { apiVersion = "", kind } = target;
  const isUnchanged = before !== undefined && equal(before.apiVersion, target.apiVersion) && before.kind === kind;
  // ReplicationController is the only kind in the core group that has a scale.
  if (isUnchanged || kind === "ReplicationController" || String(apiVersion).includes("/")) return errors;
  return [...errors, invalid(`${path}.apiVersion`, apiVersion, "apiVersion must specify API group")];
}
