/** Declarations of the operators (cel-go, common/stdlib/standard.go). */
import { compare, contains, isEqual, isKnownEqual, isOrdered } from "../comparison.ts";
import type { FunctionDeclaration, Overload } from "../function.ts";
import type { Outcome } from "../outcome.ts";
import { sizeOf } from "../runtime_type.ts";
import { TRAVERSAL } from "../traversal.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  parameter,
  STRING,
  TIMESTAMP,
  UINT,
} from "../type.ts";
import { CelError, List, MapValue, OpaqueValue, Optional, type Value } from "../value.ts";
import { add, divide, modulo, multiply, negate, noSuchOverload, subtract } from "./arithmetic.ts";

const A = parameter("A");
const B = parameter("B");

const NUMBERS = [INT, UINT, DOUBLE];
const NAMES: { readonly [kind: string]: string } = { int: "int64", uint: "uint64" };

/**
 * The operators. `plan.ts` implements `&&`, `||`, `?:` and indexing; this module declares their
 * types.
 */
export const OPERATORS: readonly FunctionDeclaration[] = [
  implementedByPlan("_?_:_", overload("conditional", [BOOL, A, A], A)),
  implementedByPlan("_&&_", overload("logical_and", [BOOL, BOOL], BOOL)),
  implementedByPlan("_||_", overload("logical_or", [BOOL, BOOL], BOOL)),
  withSharedCall("!_", not, overload("logical_not", [BOOL], BOOL)),
  implementedByPlan("@not_strictly_false", overload("not_strictly_false", [BOOL], BOOL)),
  withSharedCall("_==_", (a, b) => isEqual(a!, b!), { ...overload("equals", [A, A], BOOL), cost: equalityCost }),
  withSharedCall("_!=_", (a, b) => !isKnownEqual(a!, b!), {
    ...overload("not_equals", [A, A], BOOL),
    cost: comparisonCost,
  }),
  withSharedCall(
    "_+_",
    add,
    { ...overload("add_bytes", [BYTES, BYTES], BYTES), cost: concatenationCost },
    overload("add_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("add_duration_duration", [DURATION, DURATION], DURATION),
    overload("add_duration_timestamp", [DURATION, TIMESTAMP], TIMESTAMP),
    overload("add_timestamp_duration", [TIMESTAMP, DURATION], TIMESTAMP),
    overload("add_int64", [INT, INT], INT),
    overload("add_list", [listOf(A), listOf(A)], listOf(A)),
    { ...overload("add_string", [STRING, STRING], STRING), cost: concatenationCost },
    overload("add_uint64", [UINT, UINT], UINT),
  ),
  withSharedCall(
    "_/_",
    divide,
    overload("divide_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("divide_int64", [INT, INT], INT),
    overload("divide_uint64", [UINT, UINT], UINT),
  ),
  withSharedCall(
    "_%_",
    modulo,
    overload("modulo_int64", [INT, INT], INT),
    overload("modulo_uint64", [UINT, UINT], UINT),
  ),
  withSharedCall(
    "_*_",
    multiply,
    overload("multiply_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("multiply_int64", [INT, INT], INT),
    overload("multiply_uint64", [UINT, UINT], UINT),
  ),
  withSharedCall("-_", negate, overload("negate_double", [DOUBLE], DOUBLE), overload("negate_int64", [INT], INT)),
  withSharedCall(
    "_-_",
    subtract,
    overload("subtract_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("subtract_duration_duration", [DURATION, DURATION], DURATION),
    overload("subtract_int64", [INT, INT], INT),
    overload("subtract_timestamp_duration", [TIMESTAMP, DURATION], TIMESTAMP),
    overload("subtract_timestamp_timestamp", [TIMESTAMP, TIMESTAMP], DURATION),
    overload("subtract_uint64", [UINT, UINT], UINT),
  ),
  comparison("_<_", "less", (order) => order < 0),
  comparison("_<=_", "less_equals", (order) => order <= 0),
  comparison("_>_", "greater", (order) => order > 0),
  comparison("_>=_", "greater_equals", (order) => order >= 0),
  implementedByPlan("_[_]", overload("index_list", [listOf(A), INT], A), overload("index_map", [mapOf(A, B), A], B)),
  withSharedCall(
    "@in",
    isIn,
    { ...overload("in_list", [A, listOf(A)], BOOL), cost: ([, list]) => sizeOf(list!) },
    overload("in_map", [A, mapOf(A, B)], BOOL),
  ),
];

function overload(id: string, parameters: readonly CelType[], result: CelType): Overload {
  return { id, isMember: false, parameters, result, call: notImplemented };
}

function withSharedCall(
  name: string,
  call: (...values: Value[]) => Value,
  ...overloads: Overload[]
): FunctionDeclaration {
  return { name, overloads, call };
}

function implementedByPlan(name: string, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads };
}

function notImplemented(): Value {
  throw new CelError("no such overload");
}

function comparisonCost([a, b]: readonly Outcome[]): number {
  return Math.ceil(Math.min(innerSize(a!), innerSize(b!)) * TRAVERSAL);
}

/** Equality of Kubernetes' own types has its own cost. */
function equalityCost(values: readonly Outcome[]): number {
  return values[0] instanceof OpaqueValue ? 1 : comparisonCost(values);
}

function innerSize(value: Outcome): number {
  return value instanceof Optional && value.value !== undefined ? innerSize(value.value) : sizeOf(value);
}

function concatenationCost([a, b]: readonly Outcome[]): number {
  return Math.ceil((sizeOf(a!) + sizeOf(b!)) * TRAVERSAL);
}

/** Declares a comparison for all pairs of types. The checker depends on cel-go's order. */
function comparison(name: string, prefix: string, test: (order: number) => boolean): FunctionDeclaration {
  const overloads: Overload[] = [overload(`${prefix}_bool`, [BOOL, BOOL], BOOL)];
  for (const a of NUMBERS) {
    const others = NUMBERS.filter((b) => b !== a);
    // cel-go declares `int` with `double` first, and `uint` with `uint` first.
    const rightTypes = a === INT ? [INT, DOUBLE, UINT] : a === UINT ? [UINT, DOUBLE, INT] : [DOUBLE, ...others];
    for (const b of rightTypes) {
      const suffix = a === b ? NAMES[a.kind] ?? a.kind : `${NAMES[a.kind] ?? a.kind}_${NAMES[b.kind] ?? b.kind}`;
      overloads.push(overload(`${prefix}_${suffix}`, [a, b], BOOL));
    }
  }
  for (const type of [STRING, BYTES]) {
    overloads.push({ ...overload(`${prefix}_${type.kind}`, [type, type], BOOL), cost: comparisonCost });
  }
  for (const type of [TIMESTAMP, DURATION]) overloads.push(overload(`${prefix}_${type.kind}`, [type, type], BOOL));
  return withSharedCall(name, (a, b) => {
    if (!isOrdered(a!)) throw noSuchOverload(a!, name);
    return test(compare(a!, b!));
  }, ...overloads);
}

function not(value?: Value): Value {
  if (typeof value !== "boolean") throw new CelError("no such overload");
  return !value;
}

function isIn(value?: Value, container?: Value): Value {
  if (container instanceof List) return contains(container, value!);
  if (container instanceof MapValue) return container.get(value!) !== undefined;
  throw new CelError("no such overload");
}
