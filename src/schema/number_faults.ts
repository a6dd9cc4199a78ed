/**
 * What numbers break (`k8s.io/kube-openapi/pkg/validation/validate`, values.go). Go has two kinds of them, and bounds, which are floats,
 * are cut to whole numbers where the value is one: also where that makes no sense.
 */
import { type FieldError, invalid } from "./field_error.ts";
import { goFloat, isInt64 } from "./go_text.ts";
import type { JsonSchema } from "./json_schema.ts";

/** A fault, and the text that tells it from others. */
export interface Finding {
  readonly detail: string;
  readonly fault: FieldError;
}

// go-openapi/swag, convert.go.
const NEARLY = 1e-9;

/** Whether a float counts as whole: up to 2^53, and when it is nearly so. */
export function isNearlyInteger(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  // What is negative is lost on the way to Go's uint64, whose double is then far away.
  if (value < 0 || whole === 0) return false;
  return (value - whole) / (value + whole) < NEARLY;
}

/**
 * What a number breaks.
 *
 * @param schema Its schema.
 * @param types The types that it may have.
 * @param format The format that is checked, or an empty text.
 * @param value The number.
 * @param path Where it stands, as the server's messages name it.
 * @param field Where it stands, as a fault names it.
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

  /** Adds a fault where a value or a bound does not fit into the type, and tells whether it does. */
  function fits(what: string, number: number): boolean {
    if (isInRange(number, type, format)) return true;
    const detail = `${what} value must be of type ${type} ${
      format === "" ? "(default format)" : `with format ${format}`
    }`;
    found.push(nowhere(`${detail} in ${path}`));
    return false;
  }
  function add(detail: string, shown: string): void {
    found.push({
      detail,
      fault: { reason: "FieldValueInvalid", field, message: `Invalid value: ${shown}: ${detail}` },
    });
  }
  // Where a bound does not fit into the type, both are compared as floats, and shown so.
  const isInt = isInt64(value);
  const text = (isWhole: boolean) => isWhole ? String(value) : goFloat(value);

  fits("Checked", value);
  if (multipleOf !== undefined) {
    const isWhole = fits("MultipleOf", multipleOf) && isInt;
    const factor = isWhole ? toInt64(multipleOf) : multipleOf;
    const shown = isWhole ? String(factor) : goFloat(multipleOf);
    if (factor <= 0) add(`factor MultipleOf declared for ${path} must be positive: ${shown}`, shown);
    else if (typeof factor === "bigint" ? exact(value) % factor !== 0n : !isMultiple(value, factor)) {
      add(`${path} in body should be a multiple of ${shown}`, text(isWhole));
    }
  }
  if (minimum !== undefined) {
    const isWhole = fits("Minimum boundary", minimum) && isInt;
    const order = isWhole ? wholeOrder(value, minimum) : Math.sign(value - minimum);
    if (exclusiveMinimum ? order <= 0 : order < 0) {
      const words = exclusiveMinimum ? "greater than" : "greater than or equal to";
      const bound = isWhole ? toInt64(minimum) : goFloat(minimum);
      add(`${path} in body should be ${words} ${bound}`, text(isWhole));
    }
  }
  if (maximum !== undefined) {
    const isWhole = fits("Maximum boundary", maximum) && isInt;
    const order = isWhole ? wholeOrder(value, maximum) : Math.sign(value - maximum);
    if (exclusiveMaximum ? order >= 0 : order > 0) {
      const words = exclusiveMaximum ? "less than" : "less than or equal to";
      const bound = isWhole ? toInt64(maximum) : goFloat(maximum);
      add(`${path} in body should be ${words} ${bound}`, text(isWhole));
    }
  }
  return found;
}

function nowhere(detail: string): Finding {
  return { detail, fault: invalid("<nil>", "", detail) };
}

const INT32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };

function isInRange(value: number, type: string | undefined, format: string): boolean {
  if (type === "integer") {
    return isInt64(value) && (format !== "int32" || (value >= INT32.least && value <= INT32.most));
  }
  return type !== "number" || format !== "float" || Number.isFinite(Math.fround(value));
}

/** A float cut to an int64: to the least one where it does not fit, as amd64 does it. */
function toInt64(value: number): bigint {
  return BigInt(isInt64(Math.trunc(value)) ? Math.trunc(value) : -(2 ** 63));
}

/** A whole number as the server reads it from JSON: beyond 2^53, its digits are other than those of the double that is nearest. */
function exact(value: number): bigint {
  return BigInt(String(value));
}

/** How a whole number compares with a bound that is cut to one. */
function wholeOrder(value: number, bound: number): number {
  const whole = Math.trunc(bound);
  if (Number.isSafeInteger(value) && Number.isSafeInteger(whole)) return Math.sign(value - whole);
  const [a, b] = [exact(value), toInt64(bound)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function isMultiple(value: number, factor: number): boolean {
  return isNearlyInteger(factor < 1 ? 1 / factor * value : value / factor);
}
