/** Types of Kubernetes that are no objects: what its own generators write for them in a CustomResourceDefinition. */
import type { Schema } from "../../schema/schema.ts";
import { builtin } from "./_builtin.ts";

/** An amount, such as `500m` CPUs or `2Gi` of memory (`k8s.io/apimachinery/pkg/api/resource`). */
export const Quantity: Schema<number | string, number | string, "required"> = /* @__PURE__ */ builtin(
  '{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true,"pattern":"^(\\\\+|-)?(([0-9]+(\\\\.[0-9]*)?)|(\\\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\\\+|-)?(([0-9]+(\\\\.[0-9]*)?)|(\\\\.[0-9]+))))?$"}',
);
/** The value of a {@linkcode Quantity}: a whole number, or a text such as `500m`. */
export type Quantity = number | string;

/** A number or a text, such as a port's number or name, or `25%` (`k8s.io/apimachinery/pkg/util/intstr`). */
export const IntOrString: Schema<number | string, number | string, "required"> = /* @__PURE__ */ builtin(
  '{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}',
);
/** The value of an {@linkcode IntOrString}. */
export type IntOrString = number | string;

/** A span of time, such as `1h30m` (metav1.Duration). */
export const Duration: Schema<string, string, "required"> = /* @__PURE__ */ builtin(
  '{"type":"string","format":"duration"}',
);
/** The value of a {@linkcode Duration}, such as `1h30m`. */
export type Duration = string;

/** A point of time by RFC 3339, to the second (metav1.Time). */
export const Time: Schema<string, string, "required"> = /* @__PURE__ */ builtin(
  '{"type":"string","format":"date-time"}',
);
/** The value of a {@linkcode Time}, such as `2030-01-01T00:00:00Z`. */
export type Time = string;

/** A point of time by RFC 3339, to the microsecond (metav1.MicroTime). */
export const MicroTime: Schema<string, string, "required"> = /* @__PURE__ */ builtin(
  '{"type":"string","format":"date-time"}',
);
/** The value of a {@linkcode MicroTime}, such as `2030-01-01T00:00:00.000000Z`. */
export type MicroTime = string;
