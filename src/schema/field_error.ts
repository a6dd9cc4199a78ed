/**
 * Validation errors of fields in the words of Kubernetes
 * (`k8s.io/apimachinery/pkg/util/validation/field`).
 */
import { goJson, goNumber, goQuote } from "./go_text.ts";

/** A validation error, as a `cause` of a Status reports it. */
export interface FieldError {
  /** The type of the error. */
  readonly reason: FieldErrorReason;
  /** The path: `spec.ports[0].name`. */
  readonly field: string;
  /** The description, without the path. */
  readonly message: string;
  /** The CEL rule that failed or could not be evaluated; absent for other errors. */
  readonly rule?: string;
}

/** An error of a schema, with additional fields for the error messages of declarations. */
export interface SchemaError extends FieldError {
  /**
   * The message without the quoted value, if the value is a whole rule or schema, which has up to
   * thousands of characters.
   */
  readonly detail?: string;
  /** Whether the estimated cost of this rule is too high. @default {false} */
  readonly isTooExpensive?: boolean;
}

/** The machine-readable types of errors (`metav1.CauseType`). */
export type FieldErrorReason =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueTypeInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueNotFound"
  | "InternalError";

/** A placeholder for a value that a message must not quote. */
export const OMITTED: unique symbol = Symbol("omitted");

/** Returns the error for a missing field. */
export function required(field: string, detail = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: withDetail("Required value", detail) };
}

/** Returns the error for an invalid value. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: withDetail(withValue("Invalid value", value), detail) };
}

/** Returns the error for a value of the wrong type. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return {
    reason: "FieldValueTypeInvalid",
    field,
    message: withDetail(`Invalid value: ${quotedValue(value)}`, detail),
  };
}

/** Returns the error for a value that is not one of the supported values. */
export function notSupported(field: string, value: unknown, supported: readonly unknown[]): FieldError {
  const values = supported.map((each) => goQuote(typeof each === "string" ? each : goJson(each)));
  const detail = values.length > 0 ? `supported values: ${values.join(", ")}` : "";
  return {
    reason: "FieldValueNotSupported",
    field,
    message: withDetail(`Unsupported value: ${quotedValue(value)}`, detail),
  };
}

/** Returns the error for a name that refers to a missing object. */
export function notFound(field: string, value: unknown): FieldError {
  return { reason: "FieldValueNotFound", field, message: withValue("Not found", value) };
}

/** Returns the error for a duplicate value. */
export function duplicate(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: withValue("Duplicate value", value) };
}

/** Returns the error for a well-formed value that is not allowed here. */
export function forbidden(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: withDetail("Forbidden", detail) };
}

/** Returns the error for an internal error of the server. */
export function internal(field: string, detail: string): FieldError {
  return { reason: "InternalError", field, message: withDetail("Internal error", detail) };
}

/** Returns the error for a string that exceeds a length in bytes. */
export function tooLong(field: string, longest: number): FieldError {
  const unit = longest === 1 ? "byte" : "bytes";
  const detail = longest < 0 ? "value is too long" : `may not be more than ${longest} ${unit}`;
  return { reason: "FieldValueTooLong", field, message: `Too long: ${detail}` };
}

/** Returns the error for a list or map with too many entries. */
export function tooMany(field: string, actual: number, most: number): FieldError {
  const unit = most === 1 ? "item" : "items";
  const detail = most < 0 ? "has too many items" : `must have at most ${most} ${unit}`;
  return { reason: "FieldValueTooMany", field, message: `Too many: ${actual}: ${detail}` };
}

function withValue(what: string, value: unknown): string {
  return value === OMITTED ? what : `${what}: ${quotedValue(value)}`;
}

function withDetail(message: string, detail: string): string {
  return detail === "" ? message : `${message}: ${detail}`;
}

function quotedValue(value: unknown): string {
  switch (typeof value) {
    case "number":
      return goNumber(value);
    case "bigint":
      return String(value);
    case "string":
      return goQuote(value);
    case "undefined":
      return '""';
    default:
      return goJson(value);
  }
}
