/** Arithmetic (cel-go, common/types). */
import { LoopList } from "../fold.ts";
import { addDuration } from "../time.ts";
import { CelError, DurationValue, JoinedList, List, Timestamp, Uint, type Value } from "../value.ts";

/** `a + b`: also concatenates strings, bytes and lists, and adds durations. */
export function add(a?: Value, b?: Value): Value {
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
  throw isAdder ? new CelError("no such overload") : noSuchOverload(a!, "_+_");
}

function concat(a: List, b: List): List {
  if (a instanceof LoopList) {
    for (const item of b.items) a.items.push(item);
    return a;
  }
  if (a.semantics !== undefined) return a.semantics.concat(a, b);
  if (a.items.length === 0) return b;
  return b.items.length === 0 ? a : new JoinedList(a, b);
}

/** `a / b`: integer division truncates. */
export function divide(a?: Value, b?: Value): Value {
  if (typeof a === "number" && typeof b === "number") return a / b;
  const [x, y] = integers(a, b, "_/_");
  if (y === 0n) throw new CelError("division by zero");
  return a instanceof Uint ? uint(x / y) : int(x / y);
}

/** `a % b`: the result has the sign of `a`. */
export function modulo(a?: Value, b?: Value): Value {
  if (typeof a === "number") throw noSuchOverload(a, "_%_");
  const [x, y] = integers(a, b, "_%_");
  if (y === 0n) throw new CelError("modulus by zero");
  if (!(a instanceof Uint) && y === -1n) int(-x);
  return a instanceof Uint ? uint(x % y) : int(x % y);
}

/** `a * b`. */
export function multiply(a?: Value, b?: Value): Value {
  if (typeof a === "number" && typeof b === "number") return a * b;
  const [x, y] = integers(a, b, "_*_");
  return a instanceof Uint ? uint(x * y) : int(x * y);
}

function integers(a: Value | undefined, b: Value | undefined, name: string): readonly [bigint, bigint] {
  if (typeof a === "bigint" && typeof b === "bigint") return [a, b];
  if (a instanceof Uint && b instanceof Uint) return [a.value, b.value];
  const isNumber = typeof a === "bigint" || typeof a === "number" || a instanceof Uint;
  throw isNumber ? new CelError("no such overload") : noSuchOverload(a!, name);
}

/** `-a`: also of durations. */
export function negate(value?: Value): Value {
  if (typeof value === "bigint") return int(-value);
  if (typeof value === "number") return -value;
  if (value instanceof DurationValue) return new DurationValue(int(-value.nanoseconds));
  throw typeof value === "boolean" ? new CelError("no such overload") : noSuchOverload(value!, "-_");
}

/** `a - b`: also of timestamps and durations. */
export function subtract(a?: Value, b?: Value): Value {
  if (typeof a === "bigint" && typeof b === "bigint") return int(a - b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a instanceof Uint && b instanceof Uint) return uint(a.value - b.value);
  if (a instanceof DurationValue && b instanceof DurationValue) {
    return new DurationValue(int(a.nanoseconds - b.nanoseconds));
  }
  if (a instanceof Timestamp && b instanceof DurationValue) return addDuration(a, int(-b.nanoseconds));
  if (a instanceof Timestamp && b instanceof Timestamp) return difference(a, b);
  const isSubtractor = typeof a === "bigint" || typeof a === "number" || a instanceof Uint ||
    a instanceof DurationValue || a instanceof Timestamp;
  throw isSubtractor ? new CelError("no such overload") : noSuchOverload(a!, "_-_");
}

function difference(a: Timestamp, b: Timestamp): DurationValue {
  const whole = int((a.seconds - b.seconds) * 1_000_000_000n);
  return new DurationValue(int(whole + BigInt(a.nanoseconds - b.nanoseconds)));
}

/**
 * Returns the error for an unsupported operand. cel-go calls the methods of strings, timestamps and
 * durations first, and those errors do not name the function.
 *
 * @param first The operand.
 * @param name The name of the function.
 */
export function noSuchOverload(first: Value, name: string): CelError {
  const hasMethods = typeof first === "string" || first instanceof Timestamp || first instanceof DurationValue;
  return new CelError(hasMethods ? "no such overload" : `no such overload: ${name}`);
}

function int(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelError("integer overflow");
  return value;
}

function uint(value: bigint): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new CelError("unsigned integer overflow");
  return new Uint(value);
}
