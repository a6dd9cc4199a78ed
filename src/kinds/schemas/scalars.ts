/** Scalar types of Kubernetes, with the schemas that controller-gen writes for them. */
import type { Schema } from "../../schema/schema.ts";
import { builtin } from "./_builtin.ts";

/** A quantity, such as `500m` CPUs or `2Gi` of memory (`k8s.io/apimachinery/pkg/api/resource`). */
export const Quantity: Schema<number | string, number | string, "required"> = /* @__PURE__ */ builtin(
  '{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true,"pattern":"^(\\\\+|-)?(([0-9]+(\\\\.[0-9]*)?)|(\\\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\\\+|-)?(([0-9]+(\\\\.[0-9]*)?)|(\\\\.[0-9]+))))?$"}',
);
/** The value of a {@linkcode Quantity}: an integer, or a string such as `500m`. */
export type Quantity = number | string;

/**
 * An integer or a string, such as a port's number or name, or `25%`
 * (`k8s.io/apimachinery/pkg/util/intstr`).
 */
export const IntOrString: Schema<number | string, number | string, "required"> = /* @__PURE__ */ builtin(
  '{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}',
);
/** The value of an {@linkcode IntOrString}. */
export type IntOrString = number | string;

/** A duration, such as `1h30m` (metav1.Duration). */
export const Duration: Schema<string, string, "required"> = /* @__PURE__ */ builtin(
  '{"type":"string","format":"duration"}',
);
/** The value of a {@linkcode Duration}, such as `1h30m`. */
export type Duration = string;

/** A time by RFC 3339 in seconds (metav1.Time). */
export const Time: Schema<string, string, "required"> = /* @__PURE__ */ builtin(
  '{"type":"string","format":"date-time"}',
);
/** The value of a {@linkcode Time}, such as `2030-01-01T00:00:00Z`. */
export type Time = string;

/** A time by RFC 3339 in microseconds (metav1.MicroTime). */
export const MicroTime: Schema<string, string, "required"> = /* @__PURE__ */ builtin(
  '{"type":"string","format":"date-time"}',
);
/** The value of a {@linkcode MicroTime}, such as `2030-01-01T00:00:00.000000Z`. */
export type MicroTime = string;
