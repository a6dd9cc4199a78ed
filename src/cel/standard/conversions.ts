/**
 * Conversions between types: `int(...)`, `string(...)` and others (cel-go,
 * common/stdlib/standard.go and common/types).
 */
import type { CallEstimate, FunctionDeclaration, Overload, SizedNode } from "../function.ts";
import { addRanges, scaleRange, sizeRange, UNLIMITED } from "../cost.ts";
import { parseDouble, parseInt64, parseUint64 } from "../number_parse.ts";
import { shortestText } from "../number_text.ts";
import { typeOfValue } from "../runtime_type.ts";
import { durationText, FIRST_SECOND, LAST_SECOND, parseDuration, parseTimestamp, timestampText } from "../time.ts";
import { READING, TRAVERSAL } from "../traversal.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  parameter,
  STRING,
  TIMESTAMP,
  typeName,
  typeOf,
  UINT,
} from "../type.ts";
import { CelError, type DurationValue, Timestamp, TypeValue, Uint, type Value } from "../value.ts";

const A = parameter("A");

/** The conversions. */
export const CONVERSIONS: readonly FunctionDeclaration[] = [
  {
    name: "type",
    overloads: [overload("type", A, typeOf(A), (value) => new TypeValue(typeOfValue(value)))],
    call: (value) => new TypeValue(typeOfValue(value!)),
  },
  {
    name: "dyn",
    overloads: [overload("to_dyn", A, DYN, identity)],
    call: (value) => value!,
  },
  conversion("bool", overload("bool_to_bool", BOOL, BOOL, identity), overload("string_to_bool", STRING, BOOL, boolOf)),
  conversion("bytes", overload("bytes_to_bytes", BYTES, BYTES, identity), {
    ...overload("string_to_bytes", STRING, BYTES, (value) => new TextEncoder().encode(value as string)),
    cost: READING.cost,
    estimate: ([text]) => traversalEstimate(text!, 1, 4),
  }),
  conversion(
    "double",
    overload("double_to_double", DOUBLE, DOUBLE, identity),
    overload("int64_to_double", INT, DOUBLE, Number),
    overload("string_to_double", STRING, DOUBLE, parseOrThrow(DOUBLE, parseDouble)),
    overload("uint64_to_double", UINT, DOUBLE, (value) => Number((value as Uint).value)),
  ),
  conversion(
    "duration",
    overload("duration_to_duration", DURATION, DURATION, identity),
    overload("int64_to_duration", INT, DURATION, (value) => {
      throw conversionError(value, DURATION);
    }),
    overload("string_to_duration", STRING, DURATION, parseOrThrow(DURATION, parseDuration)),
  ),
  conversion(
    "int",
    overload("int64_to_int64", INT, INT, identity),
    overload("double_to_int64", DOUBLE, INT, intOf),
    overload("duration_to_int64", DURATION, INT, (value) => (value as DurationValue).nanoseconds),
    overload("string_to_int64", STRING, INT, parseOrThrow(INT, parseInt64)),
    overload("timestamp_to_int64", TIMESTAMP, INT, (value) => (value as Timestamp).seconds),
    overload("uint64_to_int64", UINT, INT, intOf),
  ),
  conversion(
    "string",
    overload("string_to_string", STRING, STRING, identity),
    overload("bool_to_string", BOOL, STRING, String),
    {
      ...overload("bytes_to_string", BYTES, STRING, decodeText),
      cost: READING.cost,
      estimate: ([bytes]) => traversalEstimate(bytes!, 0.25, 1),
    },
    overload("double_to_string", DOUBLE, STRING, (value) => shortestText(value as number)),
    overload("duration_to_string", DURATION, STRING, (value) => durationText(value as DurationValue)),
    overload("int64_to_string", INT, STRING, String),
    overload("timestamp_to_string", TIMESTAMP, STRING, (value) => timestampText(value as Timestamp)),
    overload("uint64_to_string", UINT, STRING, (value) => String((value as Uint).value)),
  ),
  conversion(
    "timestamp",
    overload("timestamp_to_timestamp", TIMESTAMP, TIMESTAMP, identity),
    overload("int64_to_timestamp", INT, TIMESTAMP, (value) => checkBounds(new Timestamp(value as bigint, 0))),
    overload(
      "string_to_timestamp",
      STRING,
      TIMESTAMP,
      (value) => checkBounds(parseOrThrow(TIMESTAMP, parseTimestamp)(value)),
    ),
  ),
  conversion(
    "uint",
    overload("uint64_to_uint64", UINT, UINT, identity),
    overload("double_to_uint64", DOUBLE, UINT, uintOf),
    overload("int64_to_uint64", INT, UINT, uintOf),
    overload(
      "string_to_uint64",
      STRING,
      UINT,
      (value) => new Uint(parseOrThrow(UINT, parseUint64)(value)),
    ),
  ),
];

function overload(id: string, from: CelType, to: CelType, convert: (value: Value) => Value): Overload {
  return { id, isMember: false, parameters: [from], result: to, call: (value) => convert(value!) };
}

function conversion(name: string, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads };
}

function identity(value: Value): Value {
  return value;
}

function conversionError(value: Value, to: CelType): CelError {
  return new CelError(`type conversion error from '${typeName(typeOfValue(value))}' to '${typeName(to)}'`);
}

function parseOrThrow<T>(to: CelType, parse: (text: string) => T | undefined): (value: Value) => T {
  return (value) => {
    const result = parse(value as string);
    if (result === undefined) throw conversionError(value, to);
    return result;
  };
}

const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "FALSE", "false", "False"]);

function boolOf(value: Value): boolean {
  if (TRUE.has(value as string)) return true;
  if (FALSE.has(value as string)) return false;
  throw conversionError(value, BOOL);
}

function intOf(value: Value): bigint {
  const whole = value instanceof Uint ? value.value : wholeOf(value as number);
  // cel-go also rejects a double that is equal to a bound.
  const isOutOfRange = whole === undefined || whole >= 2n ** 63n ||
    (typeof value === "number" && whole <= -(2n ** 63n));
  if (isOutOfRange) throw new CelError("integer overflow");
  return whole;
}

function uintOf(value: Value): Uint {
  const whole = typeof value === "bigint" ? value : wholeOf(value as number);
  if (whole === undefined || whole < 0n || whole >= 2n ** 64n || (value as number) < 0) {
    throw new CelError("unsigned integer overflow");
  }
  return new Uint(whole);
}

function wholeOf(value: number): bigint | undefined {
  return Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
}

function decodeText(value: Value): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value as Uint8Array);
  } catch {
    throw new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

function checkBounds(time: Timestamp): Timestamp {
  if (time.seconds < FIRST_SECOND || time.seconds > LAST_SECOND) throw new CelError("timestamp overflow");
  return time;
}

/** Estimates one pass over the operand, and a result of its size times a factor. */
function traversalEstimate(node: SizedNode, least: number, most: number): CallEstimate {
  const size = sizeRange(node);
  return {
    cost: scaleRange(size, TRAVERSAL),
    resultSize: addRanges(
      { min: Math.floor(size.min * least), max: Math.min(size.max * most, UNLIMITED) },
      { min: 0, max: 0 },
    ),
  };
}
