/** Formats numbers as Go does (`strconv.FormatFloat`, and `fmt` with `%v`). */

/** Returns the shortest form of a double, with an exponent if that is below -4 or above 5: `%g`. */
export function shortestText(value: number): string {
  if (!Number.isFinite(value)) return nonFiniteText(value);
  const { sign, digits, exponent } = decimalOf(value);
  if (exponent >= -4 && exponent < 6) return plainText(value);
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`;
  return `${sign}${mantissa}e${exponentText(exponent)}`;
}

/** Returns the shortest form of a double without an exponent. */
export function plainText(value: number): string {
  if (!Number.isFinite(value)) return nonFiniteText(value);
  const { sign, digits, exponent } = decimalOf(value);
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return fraction === "" ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

/** Returns an exponent with its sign and at least two digits. */
export function exponentText(exponent: number): string {
  return `${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function nonFiniteText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}

function decimalOf(value: number): { readonly sign: string; readonly digits: string; readonly exponent: number } {
  const isNegative = value < 0 || Object.is(value, -0);
  const [mantissa, exponent] = Math.abs(value).toExponential().split("e");
  return { sign: isNegative ? "-" : "", digits: mantissa!.replace(".", ""), exponent: Number(exponent) };
}
