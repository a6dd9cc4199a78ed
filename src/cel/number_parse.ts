/** Parses numbers as Go's `strconv` does. */

const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const HEXADECIMAL = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)$/;
const MISPLACED_UNDERSCORE = /(?:^|[^0-9a-fA-FxX])_|_(?:[^0-9a-fA-F]|$)/;

/** Returns a double, or `undefined` if the string is invalid or out of range. */
export function parseDouble(text: string): number | undefined {
  const named = /^([+-]?)(?:inf(?:inity)?|(nan))$/i.exec(text);
  if (named !== null) {
    if (named[2] !== undefined) return named[1] === "" ? NaN : undefined;
    return named[1] === "-" ? -Infinity : Infinity;
  }
  if (MISPLACED_UNDERSCORE.test(text)) return undefined;
  const plain = text.replaceAll("_", "");
  const value = DECIMAL.test(plain) ? Number(plain) : hexadecimal(plain);
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}

/** Returns a signed 64-bit integer, or `undefined` if the string is invalid or out of range. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** Returns an unsigned 64-bit integer, or `undefined` if the string is invalid or out of range. */
export function parseUint64(text: string): bigint | undefined {
  if (!/^[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asUintN(64, value) === value ? value : undefined;
}

function hexadecimal(text: string): number | undefined {
  const match = HEXADECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", exponent] = match;
  if (whole + fraction === "") return undefined;
  const value = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === "-" ? -value : value;
}
