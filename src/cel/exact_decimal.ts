/**
 * Formats doubles with a given number of digits, as Go does: the exact value is rounded half to
 * even. JavaScript rounds half up.
 */

/**
 * Returns the digits of the absolute value: the integer part, and `fraction` digits after the
 * point.
 */
export function fixedDigits(value: number, fraction: number): { readonly whole: string; readonly fraction: string } {
  const digits = scaleAndRound(value, fraction).toString().padStart(fraction + 1, "0");
  return { whole: digits.slice(0, digits.length - fraction), fraction: digits.slice(digits.length - fraction) };
}

/**
 * Returns the digits of the absolute value with one digit before the point, and the power of ten.
 */
export function scientificDigits(
  value: number,
  fraction: number,
): { readonly digits: string; readonly exponent: number } {
  if (value === 0) return { digits: "0".repeat(fraction + 1), exponent: 0 };
  const exponent = Number(Math.abs(value).toExponential().split("e")[1]);
  const digits = scaleAndRound(value, fraction - exponent).toString();
  // 9.9999999 rounds to 10.000000.
  return digits.length > fraction + 1 ? { digits: digits.slice(0, -1), exponent: exponent + 1 } : { digits, exponent };
}

/** Returns the absolute value times a power of ten, rounded. */
function scaleAndRound(value: number, power: number): bigint {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const mantissa = (raw & 0xfffffffffffffn) | (biased === 0 ? 0n : 1n << 52n);
  const exponent = Math.max(biased, 1) - 1075;
  const numerator = mantissa * 2n ** BigInt(Math.max(exponent, 0)) * 10n ** BigInt(Math.max(power, 0));
  const denominator = 2n ** BigInt(Math.max(-exponent, 0)) * 10n ** BigInt(Math.max(-power, 0));
  const whole = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  const isUp = twice > denominator || (twice === denominator && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}
