/** Arithmetic, comparisons and the logical operators (cel-go, common/stdlib/standard.go). */
import { compare, contains, entryAt, isEqual } from "../comparison.ts";
import { GatheredList } from "../fold.ts";
import type { FunctionDeclaration, Overload } from "../library.ts";
import { sizeOf } from "../runtime_type.ts";
import { addDuration } from "../time.ts";
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
import {
  CelError,
  DurationValue,
  List,
  MapValue,
  ObjectValue,
  OpaqueValue,
  Optional,
  Timestamp,
  Uint,
  type Value,
} from "../value.ts";

const A = parameter("A");
const B = parameter("B");

const NUMBERS = [INT, UINT, DOUBLE];
const NAMES: { readonly [kind: string]: string } = { int: "int64", uint: "uint64" };
// What looking through text once costs, for each character.
const TRAVERSAL = 0.1;

/** The operators. What `&&`, `||`, `?:` and indexing do is in the plan; here is what they take. */
export const OPERATORS: readonly FunctionDeclaration[] = [
  special("_?_:_", overload("conditional", [BOOL, A, A], A)),
  special("_&&_", overload("logical_and", [BOOL, BOOL], BOOL)),
  special("_||_", overload("logical_or", [BOOL, BOOL], BOOL)),
  shared("!_", not, overload("logical_not", [BOOL], BOOL)),
  special("@not_strictly_false", overload("not_strictly_false", [BOOL], BOOL)),
  shared("_==_", (a, b) => isEqual(a!, b!), { ...overload("equals", [A, A], BOOL), cost: equalityCost }),
  shared("_!=_", isUnequal, { ...overload("not_equals", [A, A], BOOL), cost: comparisonCost }),
  shared(
    "_+_",
    add,
    { ...overload("add_bytes", [BYTES, BYTES], BYTES), cost: joiningCost },
    overload("add_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("add_duration_duration", [DURATION, DURATION], DURATION),
    overload("add_duration_timestamp", [DURATION, TIMESTAMP], TIMESTAMP),
    overload("add_timestamp_duration", [TIMESTAMP, DURATION], TIMESTAMP),
    overload("add_int64", [INT, INT], INT),
    overload("add_list", [listOf(A), listOf(A)], listOf(A)),
    { ...overload("add_string", [STRING, STRING], STRING), cost: joiningCost },
    overload("add_uint64", [UINT, UINT], UINT),
  ),
  shared(
    "_/_",
    divide,
    overload("divide_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("divide_int64", [INT, INT], INT),
    overload("divide_uint64", [UINT, UINT], UINT),
  ),
  shared(
    "_%_",
    modulo,
    overload("modulo_int64", [INT, INT], INT),
    overload("modulo_uint64", [UINT, UINT], UINT),
  ),
  shared(
    "_*_",
    multiply,
    overload("multiply_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("multiply_int64", [INT, INT], INT),
    overload("multiply_uint64", [UINT, UINT], UINT),
  ),
  shared("-_", negate, overload("negate_double", [DOUBLE], DOUBLE), overload("negate_int64", [INT], INT)),
  shared(
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
  special("_[_]", overload("index_list", [listOf(A), INT], A), overload("index_map", [mapOf(A, B), A], B)),
  shared(
    "@in",
    isIn,
    { ...overload("in_list", [A, listOf(A)], BOOL), cost: ([, list]) => sizeOf(list!) },
    overload("in_map", [A, mapOf(A, B)], BOOL),
  ),
];

function overload(id: string, parameters: readonly CelType[], result: CelType): Overload {
  return { id, isMember: false, parameters, result, call: unplanned };
}

function shared(name: string, call: (...values: Value[]) => Value, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads, call, isCheapWhenDispatched: true };
}

function special(name: string, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads, isCheapWhenDispatched: true };
}

function unplanned(): Value {
  throw new CelError("no such overload");
}

function comparisonCost([a, b]: readonly Value[]): number {
  return Math.ceil(Math.min(innerSize(a!), innerSize(b!)) * TRAVERSAL);
}

/** Values of Kubernetes' own types have a price of their own, for this operator alone. */
function equalityCost(values: readonly Value[]): number {
  return values[0] instanceof OpaqueValue ? 1 : comparisonCost(values);
}

function innerSize(value: Value): number {
  return value instanceof Optional && value.value !== undefined ? innerSize(value.value) : sizeOf(value);
}

function joiningCost([a, b]: readonly Value[]): number {
  return Math.ceil((sizeOf(a!) + sizeOf(b!)) * TRAVERSAL);
}

/** Which types can be compared, in the order of cel-go, which the checker goes by. */
function comparison(name: string, prefix: string, verdict: (order: number) => boolean): FunctionDeclaration {
  const overloads: Overload[] = [overload(`${prefix}_bool`, [BOOL, BOOL], BOOL)];
  for (const a of NUMBERS) {
    const others = NUMBERS.filter((b) => b !== a);
    // `int` is compared with `double` first, `uint` with itself first, as cel-go declares them.
    const rights = a === INT ? [INT, DOUBLE, UINT] : a === UINT ? [UINT, DOUBLE, INT] : [DOUBLE, ...others];
    for (const b of rights) {
      const suffix = a === b ? NAMES[a.kind] ?? a.kind : `${NAMES[a.kind] ?? a.kind}_${NAMES[b.kind] ?? b.kind}`;
      overloads.push(overload(`${prefix}_${suffix}`, [a, b], BOOL));
    }
  }
  for (const type of [STRING, BYTES]) {
    overloads.push({ ...overload(`${prefix}_${type.kind}`, [type, type], BOOL), cost: comparisonCost });
  }
  for (const type of [TIMESTAMP, DURATION]) overloads.push(overload(`${prefix}_${type.kind}`, [type, type], BOOL));
  return shared(name, (a, b) => {
    if (!isComparable(a!)) throw noSuch(a!, name);
    return verdict(compare(a!, b!));
  }, ...overloads);
}

function isComparable(value: Value): boolean {
  return value !== null && (typeof value !== "object" || value instanceof Uint || value instanceof Uint8Array ||
    value instanceof Timestamp || value instanceof DurationValue);
}

/** cel-go asks text and times for the operator first, which do not tell its name then. */
function noSuch(first: Value, name: string): CelError {
  const isAsked = typeof first === "string" || first instanceof Timestamp || first instanceof DurationValue;
  return new CelError(isAsked ? "no such overload" : `no such overload: ${name}`);
}

function int(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelError("integer overflow");
  return value;
}

function uint(value: bigint): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new CelError("unsigned integer overflow");
  return new Uint(value);
}

/** Also where the two cannot be compared. */
function isUnequal(a?: Value, b?: Value): Value {
  try {
    return !isEqual(a!, b!);
  } catch (error) {
    if (error instanceof CelError) return true;
    throw error;
  }
}

function not(value?: Value): Value {
  if (typeof value !== "boolean") throw new CelError("no such overload");
  return !value;
}

function add(a?: Value, b?: Value): Value {
  if (typeof a === "bigint" && typeof b === "bigint") return int(a + b);
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (typeof a === "string" && typeof b === "string") return a + b;
  if (a instanceof List && b instanceof List) return concat(a, b);
  if (a instanceof Uint && b instanceof Uint) return uint(a.value + b.value);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Uint8Array.from([...a, ...b]);
  if (a instanceof DurationValue && b instanceof DurationValue) {
    return new DurationValue(int(a.nanoseconds + b.nanoseconds));
  }
  if (a instanceof DurationValue && b instanceof Timestamp) return addDuration(b, a.nanoseconds);
  if (a instanceof Timestamp && b instanceof DurationValue) return addDuration(a, b.nanoseconds);
  const isAdder = typeof a === "bigint" || typeof a === "number" || typeof a === "string" || a instanceof List ||
    a instanceof Uint || a instanceof Uint8Array || a instanceof DurationValue || a instanceof Timestamp;
  throw isAdder ? new CelError("no such overload") : noSuch(a!, "_+_");
}

function concat(a: List, b: List): List {
  if (a instanceof GatheredList) {
    for (const item of b.items) a.items.push(item);
    return a;
  }
  if (a.semantics !== undefined) return a.semantics.concat(a, b);
  if (a.items.length === 0) return b;
  return b.items.length === 0 ? a : new List([...a.items, ...b.items]);
}

function divide(a?: Value, b?: Value): Value {
  if (typeof a === "number" && typeof b === "number") return a / b;
  const [x, y] = wholes(a, b, "_/_");
  if (y === 0n) throw new CelError("division by zero");
  return a instanceof Uint ? uint(x / y) : int(x / y);
}

function modulo(a?: Value, b?: Value): Value {
  if (typeof a === "number") throw noSuch(a, "_%_");
  const [x, y] = wholes(a, b, "_%_");
  if (y === 0n) throw new CelError("modulus by zero");
  if (!(a instanceof Uint) && y === -1n) int(-x);
  return a instanceof Uint ? uint(x % y) : int(x % y);
}

function multiply(a?: Value, b?: Value): Value {
  if (typeof a === "number" && typeof b === "number") return a * b;
  const [x, y] = wholes(a, b, "_*_");
  return a instanceof Uint ? uint(x * y) : int(x * y);
}

function wholes(a: Value | undefined, b: Value | undefined, name: string): readonly [bigint, bigint] {
  if (typeof a === "bigint" && typeof b === "bigint") return [a, b];
  if (a instanceof Uint && b instanceof Uint) return [a.value, b.value];
  const isNumber = typeof a === "bigint" || typeof a === "number" || a instanceof Uint;
  throw isNumber ? new CelError("no such overload") : noSuch(a!, name);
}

function negate(value?: Value): Value {
  if (typeof value === "bigint") return int(-value);
  if (typeof value === "number") return -value;
  if (value instanceof DurationValue) return new DurationValue(int(-value.nanoseconds));
  throw typeof value === "boolean" ? new CelError("no such overload") : noSuch(value!, "-_");
}

function subtract(a?: Value, b?: Value): Value {
  if (typeof a === "bigint" && typeof b === "bigint") return int(a - b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a instanceof Uint && b instanceof Uint) return uint(a.value - b.value);
  if (a instanceof DurationValue && b instanceof DurationValue) {
    return new DurationValue(int(a.nanoseconds - b.nanoseconds));
  }
  if (a instanceof Timestamp && b instanceof DurationValue) return addDuration(a, int(-b.nanoseconds));
  if (a instanceof Timestamp && b instanceof Timestamp) return between(a, b);
  const isSubtractor = typeof a === "bigint" || typeof a === "number" || a instanceof Uint ||
    a instanceof DurationValue || a instanceof Timestamp;
  throw isSubtractor ? new CelError("no such overload") : noSuch(a!, "_-_");
}

function between(a: Timestamp, b: Timestamp): DurationValue {
  const whole = int((a.seconds - b.seconds) * 1_000_000_000n);
  return new DurationValue(int(whole + BigInt(a.nanoseconds - b.nanoseconds)));
}

function isIn(value?: Value, within?: Value): Value {
  if (within instanceof List) return contains(within, value!);
  if (within instanceof MapValue || within instanceof ObjectValue) return entryAt(within, value!) !== undefined;
  throw new CelError("no such overload");
}
