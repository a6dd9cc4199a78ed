/**
 * The format of the tables in this folder and in `tests/cel_core`, and a function that evaluates an
 * expression. The results come from the packages of a real API server: cel-go v0.26.0 with
 * `k8s.io/apiserver/pkg/cel/library` v0.36.3. Only the messages of syntax errors are ours.
 */
import {
  CelError,
  CompileError,
  createEnvironment,
  DurationValue,
  type Environment,
  List,
  MapValue,
  Optional,
  Timestamp,
  typeName,
  TypeValue,
  Uint,
  type Value,
} from "../../src/cel/mod.ts";
import { CidrValue } from "../../src/cel/kubernetes/cidr.ts";
import { FormatValue } from "../../src/cel/kubernetes/format.ts";
import { IpValue } from "../../src/cel/kubernetes/ip.ts";
import { QuantityValue } from "../../src/cel/kubernetes/quantity.ts";

/**
 * An expression, its result and its cost.
 *
 * The result is a value in the format of {@linkcode textOf}, `error: ` and a message if the
 * evaluation fails, `no program: ` and a message if planning fails, or `compile error at COLUMN: `
 * and a message if it does not compile.
 */
export type Case = readonly [expression: string, outcome: string, cost?: number];

const EMPTY = createEnvironment({ variables: {} });

/** Returns an expression with its actual result and cost. */
export function caseOf(expression: string, environment: Environment = EMPTY): Case {
  try {
    const { value, cost } = environment.compile(expression).evaluate({});
    return [expression, textOf(value), cost];
  } catch (error) {
    if (error instanceof CompileError) return [expression, compileErrorText(error)];
    if (error instanceof CelError && error.cost !== undefined) {
      return [expression, `error: ${error.message}`, error.cost];
    }
    throw error;
  }
}

function compileErrorText({ stage, message }: CompileError): string {
  if (stage === "program") return `no program: ${message}`;
  const [, column, reason] = /^ERROR: <input>:\d+:(\d+): (.*)\n/.exec(message) ?? [];
  return `compile error at ${column}: ${reason}`;
}

/** Formats a value. */
export function textOf(value: Value): string {
  if (typeof value === "number") {
    if (Object.is(value, -0)) return "-0.0";
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : String(value);
  }
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) {
    return `bytes(${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")})`;
  }
  if (value instanceof List) return `[${value.items.map(textOf).join(", ")}]`;
  if (value instanceof MapValue) return mapText(value);
  if (value instanceof Optional) return value.value === undefined ? "none" : `optional(${textOf(value.value)})`;
  if (value instanceof TypeValue) return `type(${typeName(value.type)})`;
  if (value instanceof DurationValue) return `duration(${value.nanoseconds})`;
  if (value instanceof Timestamp) return `timestamp(${value.seconds}.${String(value.nanoseconds).padStart(9, "0")})`;
  if (value instanceof QuantityValue) return `quantity(${value.quantity})`;
  if (value instanceof IpValue) return `ip(${value.address})`;
  if (value instanceof CidrValue) return `cidr(${value.network})`;
  if (value instanceof FormatValue) return `format(${value.name})`;
  return String(value);
}

function mapText(map: MapValue): string {
  const entries = [...map.keys()].map((key) => `${textOf(key)}: ${textOf(map.get(key) ?? null)}`);
  return `{${entries.sort().join(", ")}}`;
}
