/** What is wrong with one field, in the words of Kubernetes (`k8s.io/apimachinery/pkg/util/validation/field`). */

/** One thing wrong with an object, as a `cause` of a Status carries it. */
export interface FieldError {
  /** What sort of fault it is. */
  readonly reason: FieldErrorReason;
  /** Where: `spec.ports[0].name`. */
  readonly field: string;
  /** What: without the field's name. */
  readonly message: string;
}

/** The machine-readable sorts of faults (`metav1.CauseType`). */
export type FieldErrorReason =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueTypeInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueNotFound";

/** A field that must be there and is not. */
export function required(field: string, detail = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: withDetail("Required value", detail) };
}

/** A value that breaks a rule. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: withDetail(`Invalid value: ${shown(value)}`, detail) };
}

/** A value of the wrong type. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueTypeInvalid", field, message: withDetail(`Invalid value: ${shown(value)}`, detail) };
}

/** A value that is none of those that may be. */
export function notSupported(field: string, value: unknown, supported: readonly unknown[]): FieldError {
  const values = supported.map((each) => JSON.stringify(typeof each === "string" ? each : JSON.stringify(each)));
  const detail = values.length > 0 ? `supported values: ${values.join(", ")}` : "";
  return { reason: "FieldValueNotSupported", field, message: withDetail(`Unsupported value: ${shown(value)}`, detail) };
}

/** A value that must be there once and is there again. */
export function duplicate(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${shown(value)}` };
}

/** A value that is right in form and yet not allowed here. */
export function forbidden(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: withDetail("Forbidden", detail) };
}

/** A text longer than it may be, in bytes. */
export function tooLong(field: string, longest: number): FieldError {
  const unit = longest === 1 ? "byte" : "bytes";
  return { reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${longest} ${unit}` };
}

/** A list or map with more members than it may have. */
export function tooMany(field: string, actual: number, most: number): FieldError {
  const unit = most === 1 ? "item" : "items";
  return { reason: "FieldValueTooMany", field, message: `Too many: ${actual}: must have at most ${most} ${unit}` };
}

/**
 * A number as Go prints it by `%v`: as JavaScript does, but with an exponent already below 0.0001, of two digits at least.
 *
 * @param value The number.
 */
export function goNumber(value: number): string {
  const size = Math.abs(value);
  const text = size !== 0 && size < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

function withDetail(message: string, detail: string): string {
  return detail === "" ? message : `${message}: ${detail}`;
}

function shown(value: unknown): string {
  return typeof value === "number" ? goNumber(value) : JSON.stringify(value ?? "");
}
