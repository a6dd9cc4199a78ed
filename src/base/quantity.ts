/**
 * Quantities such as `500m` or `1Gi`, with the arithmetic of API servers
 * (`k8s.io/apimachinery/pkg/api/resource.Quantity`).
 *
 * An API server represents a quantity of up to 18 digits as an int64 and a power of ten, and any
 * other as a decimal of arbitrary length. The representation is observable, so it is reproduced
 * here: for a server, `1` is an integer and `1.0` is not.
 */

/** The family of suffixes in the printed form: `12M`, `12Mi` or `12e6`. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

/** The parts of a quantity's string. The digits have no leading zeros. */
interface Pieces {
  readonly isNegative: boolean;
  /** The part before the suffix, as written. */
  readonly value: string;
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

interface Parts {
  /** The quantity is this number times ten to the power of `scale`. */
  readonly value: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
  /** Whether a server represents it as an int64. */
  readonly isInteger64: boolean;
  /** The original form, if it is the printed form. */
  readonly text?: string;
}

const DECIMAL_SUFFIXES = new Map([
  [-9, "n"],
  [-6, "u"],
  [-3, "m"],
  [0, ""],
  [3, "k"],
  [6, "M"],
  [9, "G"],
  [12, "T"],
  [15, "P"],
  [18, "E"],
]);
const BINARY_SUFFIXES = new Map([[10, "Ki"], [20, "Mi"], [30, "Gi"], [40, "Ti"], [50, "Pi"], [60, "Ei"]]);
const SUFFIXES: ReadonlyMap<string, Suffix> = new Map<string, Suffix>([
  ...[...DECIMAL_SUFFIXES].map((
    [exponent, text],
  ): [string, Suffix] => [text, { base: 10, exponent, format: "DecimalSI" }]),
  ...[...BINARY_SUFFIXES].map((
    [exponent, text],
  ): [string, Suffix] => [text, { base: 2, exponent, format: "BinarySI" }]),
]);

const QUANTITY = /^([+-]?)0*(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;
const PATTERN = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
const NANO = -9;
const MAX_DIGITS = 18;
const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);
// The maximum difference of two exponents in an addition. It is far beyond realistic quantities,
// and keeps the sum from filling the memory with zeros.
const MAX_DISTANCE = 100_000;

/**
 * An immutable quantity.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { Quantity } from "@op/sdk";
 *
 * assert.equal(Quantity.parse("1536Mi").toString(), "1536Mi");
 * assert.equal(Quantity.parse("1.5Gi").toString(), "1536Mi");
 * assert.equal(Quantity.parse("0.5").add(Quantity.parse("2")).toString(), "2500m");
 * assert.equal(Quantity.parse("1Gi").compare(Quantity.parse("1G")), 1);
 * assert.equal(Quantity.parse(2).toString(), "2");
 * ```
 */
export class Quantity {
  readonly #value: bigint;
  readonly #scale: number;
  readonly #format: QuantityFormat;
  readonly #isInteger64: boolean;
  readonly #text: string | undefined;

  private constructor(parts: Parts) {
    this.#value = parts.value;
    this.#scale = parts.scale;
    this.#format = parts.format;
    this.#isInteger64 = parts.isInteger64;
    this.#text = parts.text;
  }

  /**
   * Parses a quantity.
   *
   * @param amount A number with a suffix, such as `1.5Gi`, `500m` or `1e3`, or a JSON number.
   * @throws {SyntaxError} If it is invalid; the message is the server's.
   */
  static parse(amount: string | number): Quantity {
    const text = String(amount);
    if (text === "0") return new Quantity({ value: 0n, scale: 0, format: "DecimalSI", isInteger64: true, text });
    const pieces = split(text);
    const suffix = readSuffix(pieces.suffix);
    return new Quantity(parseSmall(text, pieces, suffix) ?? parseLarge(pieces, suffix));
  }

  /**
   * Returns a quantity for an int64.
   *
   * @param value The integer.
   * @param format The format of the printed form.
   */
  static of(value: bigint, format: QuantityFormat): Quantity {
    return new Quantity({ value, scale: 0, format, isInteger64: true });
  }

  /** The sign: 1, 0 or -1. */
  get sign(): 1 | 0 | -1 {
    return this.#value > 0n ? 1 : this.#value < 0n ? -1 : 0;
  }

  /** The family of suffixes of the printed form. */
  get format(): QuantityFormat {
    return this.#format;
  }

  /**
   * Returns the quantity as an int64. Returns `undefined` if a server does not represent it as an
   * int64, such as `1.0` and `1000m`.
   */
  asInteger(): bigint | undefined {
    if (!this.#isInteger64 || this.#scale < 0) return undefined;
    return scaled64(this.#value, this.#scale);
  }

  /**
   * Returns the quantity as a float. Like a server, it rounds twice: the digits, then the product
   * with the power of ten.
   */
  asApproximateFloat(): number {
    const base = Number(this.#value);
    return this.#scale === 0 ? base : base * power(this.#scale);
  }

  /**
   * Returns the sum. The sum with zero has the format of the other operand.
   *
   * @param other The quantity to add.
   * @throws {RangeError} If the sum has more than 100,000 digits.
   */
  add(other: Quantity): Quantity {
    const format = this.sign === 0 ? other.#format : this.#format;
    return new Quantity(this.#plus64(other.#value, other, format) ?? this.#plus(other.#value, other.#scale, format));
  }

  /**
   * Returns the difference. The difference of zero and a quantity has the format of that quantity.
   *
   * @param other The quantity to subtract.
   * @throws {RangeError} If the difference has more than 100,000 digits.
   */
  subtract(other: Quantity): Quantity {
    const format = this.sign === 0 ? other.#format : this.#format;
    // As on a server, the smallest int64 is its own negative.
    const negated = BigInt.asIntN(64, -other.#value);
    return new Quantity(this.#plus64(negated, other, format) ?? this.#plus(-other.#value, other.#scale, format));
  }

  /**
   * Returns -1 if it is less than the other quantity, 1 if it is greater, and 0 if both are equal
   * in any format.
   */
  compare(other: Quantity): -1 | 0 | 1 {
    if (this.sign !== other.sign || this.sign === 0) return order(this.sign, other.sign);
    const [mine, theirs] = [this.#magnitude(), other.#magnitude()];
    if (mine !== theirs) return (mine > theirs) === (this.sign > 0) ? 1 : -1;
    const scale = Math.min(this.#scale, other.#scale);
    return order(shift(this.#value, this.#scale - scale), shift(other.#value, other.#scale - scale));
  }

  /**
   * Returns the form that a server prints: without a fraction and with the largest suffix, unless
   * it was parsed from another form.
   */
  toString(): string {
    return this.#text ?? this.#canonical();
  }

  /** The position of the first digit: 3 for 100, 0 for 0.1. */
  #magnitude(): number {
    return this.#value.toString().length - (this.#value < 0n ? 1 : 0) + this.#scale;
  }

  /** Adds two int64 quantities, if the sum is an int64, too. */
  #plus64(value: bigint, other: Quantity, format: QuantityFormat): Parts | undefined {
    if (!this.#isInteger64 || !other.#isInteger64) return undefined;
    if (value === 0n) return { value: this.#value, scale: this.#scale, format, isInteger64: true };
    if (this.#value === 0n) return { value, scale: other.#scale, format, isInteger64: true };
    const scale = Math.min(this.#scale, other.#scale);
    const [mine, theirs] = [scaled64(this.#value, this.#scale - scale), scaled64(value, other.#scale - scale)];
    if (mine === undefined || theirs === undefined) return undefined;
    const sum = mine + theirs;
    return is64(sum) ? { value: sum, scale, format, isInteger64: true } : undefined;
  }

  #plus(value: bigint, otherScale: number, format: QuantityFormat): Parts {
    const distance = Math.abs(this.#scale - otherScale);
    if (distance > MAX_DISTANCE) {
      throw new RangeError(
        `Cannot add quantities: their magnitudes differ by ${distance} digits, but the maximum is ${MAX_DISTANCE}.`,
      );
    }
    const scale = Math.min(this.#scale, otherScale);
    const sum = shift(this.#value, this.#scale - scale) + shift(value, otherScale - scale);
    return { value: sum, scale, format, isInteger64: false };
  }

  #canonical(): string {
    if (this.sign === 0) return "0";
    const whole = this.#whole();
    if (this.#format === "BinarySI" && whole !== undefined && (whole <= -1024n || whole >= 1024n)) {
      // The negative of the smallest int64 overflows, so a server prints it without a suffix.
      return this.#isInteger64 && whole === SMALLEST ? String(whole) : binaryText(whole);
    }
    return decimalText(this.#value, this.#scale, this.#format);
  }

  /** Returns the integer, or `undefined` if there is a fraction. */
  #whole(): bigint | undefined {
    if (this.#scale >= 0) return this.#scale > MAX_DISTANCE ? undefined : shift(this.#value, this.#scale);
    if (-this.#scale > MAX_DISTANCE) return undefined;
    const divisor = 10n ** BigInt(-this.#scale);
    return this.#value % divisor === 0n ? this.#value / divisor : undefined;
  }
}

function split(text: string): Pieces {
  const match = QUANTITY.exec(text);
  if (match === null || text === "") throw new SyntaxError(`quantities must match the regular expression '${PATTERN}'`);
  const [, sign = "", digits = "", fraction = "", suffix = ""] = match;
  return {
    isNegative: sign === "-",
    value: text.slice(0, text.length - suffix.length),
    whole: digits === "" ? "0" : digits,
    fraction,
    suffix,
  };
}

function readSuffix(text: string): Suffix {
  const known = SUFFIXES.get(text);
  if (known !== undefined) return known;
  const exponent = /^[eE]([+-]?\d+)$/.exec(text)?.[1];
  if (exponent === undefined || !is64(BigInt(exponent))) {
    throw new SyntaxError("unable to parse quantity's suffix");
  }
  // As in Go, the exponent is truncated to 32 bits.
  return { base: 10, exponent: Number(BigInt.asIntN(32, BigInt(exponent))), format: "DecimalExponent" };
}

/** Returns the int64 representation with a power of ten, if possible. */
function parseSmall(text: string, { isNegative, whole, fraction }: Pieces, suffix: Suffix): Parts | undefined {
  const { base, exponent, format } = suffix;
  if (base === 2 && fraction !== "") return undefined;
  // A binary suffix takes about three digits for each ten powers of two.
  const digits = base === 10
    ? MAX_DIGITS - whole.length - fraction.length
    : 14 - whole.length - Math.trunc(exponent * 3 / 10);
  const scale = ((base === 10 ? exponent : 0) - fraction.length) | 0;
  if (digits < 0 || scale < NANO) return undefined;
  const written = whole + fraction;
  const value = BigInt(written) * (base === 2 ? 2n ** BigInt(exponent) : 1n);
  const isPrintedAsWritten = base === 2
    ? (BigInt(written) & 7n) !== 0n
    : scale % 3 === 0 && !written.endsWith("000") && !written.startsWith("0");
  return {
    value: isNegative ? -value : value,
    scale,
    format,
    isInteger64: true,
    ...isPrintedAsWritten ? { text } : {},
  };
}

/** Returns the decimal representation, rounded away from zero to billionths. */
function parseLarge({ isNegative, value, whole, fraction }: Pieces, { base, exponent, format }: Suffix): Parts {
  if (!/\d/.test(value)) throw new SyntaxError("unable to parse numeric part of quantity");
  const digits = BigInt(whole + fraction) * (base === 2 ? 2n ** BigInt(exponent) : 1n);
  const scale = ((base === 10 ? exponent : 0) - fraction.length) | 0;
  let amount = digits === 0n ? { value: 0n, scale } : toNano(digits, scale);
  let printed = format;
  if (format === "BinarySI" && amount.scale < 0) {
    const one = 10n ** BigInt(-amount.scale);
    if (amount.value > LARGEST * one) amount = { value: LARGEST, scale: 0 };
    else if (amount.value > 0n && amount.value < one) printed = "DecimalSI";
  }
  return { ...amount, value: isNegative ? -amount.value : amount.value, format: printed, isInteger64: false };
}

function toNano(value: bigint, scale: number): { value: bigint; scale: number } {
  const up = scale - NANO;
  // As a float, the value is infinite in any case, so the zeros are not added.
  if (up > MAX_DISTANCE) return { value, scale };
  if (up >= 0) return { value: shift(value, up), scale: NANO };
  if (-up > value.toString().length) return { value: 1n, scale: NANO };
  const divisor = 10n ** BigInt(-up);
  return { value: (value + divisor - 1n) / divisor, scale: NANO };
}

function binaryText(whole: bigint): string {
  let times = 0;
  for (; BigInt.asUintN(10, whole) === 0n; times++) whole >>= 10n;
  return `${whole}${BINARY_SUFFIXES.get(times * 10) ?? ""}`;
}

function decimalText(value: bigint, scale: number, format: QuantityFormat): string {
  // By digits, because repeated division of a long number is slow.
  const digits = String(value);
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  const exponent = scale + digits.length - end;
  const down = ((exponent % 3) + 3) % 3;
  return `${digits.slice(0, end)}${"0".repeat(down)}${decimalSuffix(exponent - down, format)}`;
}

function decimalSuffix(exponent: number, format: QuantityFormat): string {
  if (format === "DecimalExponent") return exponent === 0 ? "" : `e${exponent}`;
  // As on a server, an exponent above 18 has no suffix: 1000E prints as "1".
  return DECIMAL_SUFFIXES.get(exponent) ?? "";
}

function shift(value: bigint, digits: number): bigint {
  return value * 10n ** BigInt(digits);
}

/** Multiplies an int64 by a power of ten; returns `undefined` on overflow. */
function scaled64(value: bigint, digits: number): bigint | undefined {
  if (digits === 0 || value === 0n) return value;
  if (digits > MAX_DIGITS || value === SMALLEST) return undefined;
  const result = shift(value, digits);
  return is64(result) ? result : undefined;
}

function is64(value: bigint): boolean {
  return value >= SMALLEST && value <= LARGEST;
}

/** Returns a power of ten as Go's `math.Pow10` computes it from two tables. */
function power(exponent: number): number {
  if (exponent < -323) return 0;
  if (exponent > 308) return Infinity;
  const [step, rest] = [Math.trunc(Math.abs(exponent) / 32) * 32, Math.abs(exponent) % 32];
  return exponent >= 0 ? Number(`1e${step}`) * Number(`1e${rest}`) : Number(`1e-${step}`) / Number(`1e${rest}`);
}

function order<T extends number | bigint>(a: T, b: T): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}
