/**
 * Validates numbers (`k8s.io/kube-openapi/pkg/validation/validate`, values.go). Go has integers and
 * floats. Bounds are floats. As in Kubernetes, they are truncated to integers if the value is an
 * integer, even if this changes the result.
 */
import { type FieldError, invalid } from "./field_error.ts";
import { goFloat, isInt64 } from "./go_text.ts";
import type { JsonSchema } from "./json_schema.ts";

/** An error, with the string that distinguishes it from others. */
export interface Finding {
  readonly detail: string;
  readonly error: FieldError;
}

// From go-openapi/swag, convert.go.
const INTEGER_TOLERANCE = 1e-9;

/** Returns whether a float counts as an integer: up to 2^53, and if it is close to one. */
export function isNearlyInteger(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  // A negative number becomes a large one in Go's conversion to uint64.
  if (value < 0 || whole === 0) return false;
  return (value - whole) / (value + whole) < INTEGER_TOLERANCE;
}

/**
 * Validates a number.
 *
 * @param schema Its schema.
 * @param types The allowed types.
 * @param format The format to check, or an empty string.
 * @param value The number.
 * @param path The path in the server's messages.
 * @param field The path of the error.
 */
export function numberFindings(
  schema: JsonSchema,
  types: readonly string[],
  format: string,
  value: number,
  path: string,
  field: string,
): Finding[] {
  const { multipleOf, maximum, minimum, exclusiveMaximum = false, exclusiveMinimum = false } = schema;
  const type = types.length === 1 ? types[0] : undefined;
  const found: Finding[] = [];

  /** Returns whether a value or bound fits the type, and adds an error if not. */
  function fits(what: string, number: number): boolean {
    if (isInRange(number, type, format)) return true;
    const detail = `${what} value must be of type ${type} ${
      format === "" ? "(default format)" : `with format ${format}`
    }`;
    found.push(withoutField(`${detail} in ${path}`));
    return false;
  }
  function add(detail: string, shown: string): void {
    found.push({
      detail,
      error: { reason: "FieldValueInvalid", field, message: `Invalid value: ${shown}: ${detail}` },
    });
  }
  // If a bound does not fit the type, the value and the bound are compared and shown as floats.
  const isInt = isInt64(value);
  const text = (isIntegerCheck: boolean) => isIntegerCheck ? String(value) : goFloat(value);

  fits("Checked", value);
  if (multipleOf !== undefined) {
    const isIntegerCheck = fits("MultipleOf", multipleOf) && isInt;
    const factor = isIntegerCheck ? toInt64(multipleOf) : multipleOf;
    const shown = isIntegerCheck ? String(factor) : goFloat(multipleOf);
    if (factor <= 0) add(`factor MultipleOf declared for ${path} must be positive: ${shown}`, shown);
    else if (typeof factor === "bigint" ? exactInteger(value) % factor !== 0n : !isMultiple(value, factor)) {
      add(`${path} in body should be a multiple of ${shown}`, text(isIntegerCheck));
    }
  }
  if (minimum !== undefined) {
    const isIntegerCheck = fits("Minimum boundary", minimum) && isInt;
    const order = isIntegerCheck ? compareIntegers(value, minimum) : Math.sign(value - minimum);
    if (exclusiveMinimum ? order <= 0 : order < 0) {
      const words = exclusiveMinimum ? "greater than" : "greater than or equal to";
      const bound = isIntegerCheck ? toInt64(minimum) : goFloat(minimum);
      add(`${path} in body should be ${words} ${bound}`, text(isIntegerCheck));
    }
  }
  if (maximum !== undefined) {
    const isIntegerCheck = fits("Maximum boundary", maximum) && isInt;
    const order = isIntegerCheck ? compareIntegers(value, maximum) : Math.sign(value - maximum);
    if (exclusiveMaximum ? order >= 0 : order > 0) {
      const words = exclusiveMaximum ? "less than" : "less than or equal to";
      const bound = isIntegerCheck ? toInt64(maximum) : goFloat(maximum);
      add(`${path} in body should be ${words} ${bound}`, text(isIntegerCheck));
    }
  }
  return found;
}

function withoutField(detail: string): Finding {
  return { detail, error: invalid("<nil>", "", detail) };
}

const INT32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };

function isInRange(value: number, type: string | undefined, format: string): boolean {
  if (type === "integer") {
    return isInt64(value) && (format !== "int32" || (value >= INT32.least && value <= INT32.most));
  }
  return type !== "number" || format !== "float" || Number.isFinite(Math.fround(value));
}

/** Truncates a float to int64: to the minimum if it does not fit, as on amd64. */
function toInt64(value: number): bigint {
  return BigInt(isInt64(Math.trunc(value)) ? Math.trunc(value) : -(2 ** 63));
}

/**
 * Returns an integer with its exact JSON digits. Beyond 2^53 these differ from those of the closest
 * double.
 */
function exactInteger(value: number): bigint {
  return BigInt(String(value));
}

/** Compares an integer with a truncated bound. */
function compareIntegers(value: number, bound: number): number {
  const whole = Math.trunc(bound);
  if (Number.isSafeInteger(value) && Number.isSafeInteger(whole)) return Math.sign(value - whole);
  const [a, b] = [exactInteger(value), toInt64(bound)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function isMultiple(value: number, factor: number): boolean {
  return isNearlyInteger(factor < 1 ? 1 / factor * value : value / factor);
}
