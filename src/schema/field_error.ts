/** What is wrong with one field, in the words of Kubernetes (`k8s.io/apimachinery/pkg/util/validation/field`). */
import { goJson, goNumber, goQuote } from "./go_text.ts";

/** One thing wrong with an object, as a `cause` of a Status carries it. */
export interface FieldError {
  /** What sort of fault it is. */
  readonly reason: FieldErrorReason;
  /** Where: `spec.ports[0].name`. */
  readonly field: string;
  /** What: without the field's name. */
  readonly message: string;
  /** The CEL rule that is broken, or could not be evaluated; absent where it was no rule. */
  readonly rule?: string;
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
  | "FieldValueNotFound"
  | "InternalError";

/** In the place of a value that a message is not to quote. */
export const OMITTED: unique symbol = Symbol("omitted");

/** A field that must be there and is not. */
export function required(field: string, detail = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: withDetail("Required value", detail) };
}

/** A value that breaks a rule. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: withDetail(quoting("Invalid value", value), detail) };
}

/** A value of the wrong type. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueTypeInvalid", field, message: withDetail(`Invalid value: ${shown(value)}`, detail) };
}

/** A value that is none of those that may be. */
export function notSupported(field: string, value: unknown, supported: readonly unknown[]): FieldError {
  const values = supported.map((each) => goQuote(typeof each === "string" ? each : goJson(each)));
  const detail = values.length > 0 ? `supported values: ${values.join(", ")}` : "";
  return { reason: "FieldValueNotSupported", field, message: withDetail(`Unsupported value: ${shown(value)}`, detail) };
}

/** A name of something that is not there. */
export function notFound(field: string, value: unknown): FieldError {
  return { reason: "FieldValueNotFound", field, message: quoting("Not found", value) };
}

/** A value that must be there once and is there again. */
export function duplicate(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: quoting("Duplicate value", value) };
}

/** A value that is right in form and yet not allowed here. */
export function forbidden(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: withDetail("Forbidden", detail) };
}

/** What is nobody's fault but the server's. */
export function internal(field: string, detail: string): FieldError {
  return { reason: "InternalError", field, message: withDetail("Internal error", detail) };
}

/** A text longer than it may be, in bytes. */
export function tooLong(field: string, longest: number): FieldError {
  const unit = longest === 1 ? "byte" : "bytes";
  const detail = longest < 0 ? "value is too long" : `may not be more than ${longest} ${unit}`;
  return { reason: "FieldValueTooLong", field, message: `Too long: ${detail}` };
}

/** A list or map with more members than it may have. */
export function tooMany(field: string, actual: number, most: number): FieldError {
  const unit = most === 1 ? "item" : "items";
  const detail = most < 0 ? "has too many items" : `must have at most ${most} ${unit}`;
  return { reason: "FieldValueTooMany", field, message: `Too many: ${actual}: ${detail}` };
}

function quoting(what: string, value: unknown): string {
  return value === OMITTED ? what : `${what}: ${shown(value)}`;
}

function withDetail(message: string, detail: string): string {
  return detail === "" ? message : `${message}: ${detail}`;
}

function shown(value: unknown): string {
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
