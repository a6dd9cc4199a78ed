/** Amounts such as `500m` or `1Gi` in their canonical form (`k8s.io/apimachinery/pkg/api/resource.Quantity`). */

const QUANTITY = /^([+-]?)(\d+\.?\d*|\.\d+)((?:[eE][+-]?\d+)|[numkMGTPE]|[KMGTPE]i)?$/;
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL = new Map([["n", -9], ["u", -6], ["m", -3], ["", 0], ["k", 3], ["M", 6], ["G", 9], ["T", 12], ["P", 15], [
  "E",
  18,
]]);
const NANO = 10n ** 9n;

/**
 * A quantity in its canonical form: no fraction, the largest suffix that leaves none, in the family of suffixes it came with.
 *
 * @param text The quantity.
 * @returns The same amount.
 * @throws {SyntaxError} If it is none.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(canonicalQuantity("1000m"), "1");
 * assert.equal(canonicalQuantity("0.5"), "500m");
 * assert.equal(canonicalQuantity("1024Mi"), "1Gi");
 * ```
 */
export function canonicalQuantity(text: string): string {
  const match = QUANTITY.exec(text);
  if (!match) {
    throw new SyntaxError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  const [, sign = "", digits = "", suffix = ""] = match;
  const nano = nanos(digits, suffix);
  if (nano === 0n) return "0";
  const prefix = sign === "-" ? "-" : "";
  if (suffix.endsWith("i") && nano % NANO === 0n) return prefix + binary(nano / NANO);
  return prefix + (/^[eE]/.test(suffix) && suffix !== "E" ? exponent(nano) : decimal(nano));
}

/** The amount in billionths, rounded up as the server does. */
function nanos(digits: string, suffix: string): bigint {
  const [whole = "", fraction = ""] = digits.split(".");
  const power = BINARY.indexOf(suffix) + 1;
  const ten = power > 0 ? 0 : DECIMAL.get(suffix) ?? Number(suffix.slice(1));
  const shift = 9 + ten - fraction.length;
  const value = BigInt(whole + fraction || "0") * 1024n ** BigInt(power);
  if (shift >= 0) return value * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (value + divisor - 1n) / divisor;
}

function binary(value: bigint): string {
  let [rest, power] = [value, 0];
  while (power < BINARY.length && rest % 1024n === 0n) {
    rest /= 1024n;
    power++;
  }
  return `${rest}${BINARY[power - 1] ?? ""}`;
}

function decimal(nano: bigint): string {
  let [rest, ten] = [nano, -9];
  while (ten < 18 && rest % 1000n === 0n) {
    rest /= 1000n;
    ten += 3;
  }
  const suffix = [...DECIMAL].find(([, power]) => power === ten)?.[0] ?? "";
  return `${rest}${suffix}`;
}

function exponent(nano: bigint): string {
  let [rest, ten] = [nano, -9];
  while (rest % 1000n === 0n) {
    rest /= 1000n;
    ten += 3;
  }
  return ten === 0 ? String(rest) : `${rest}e${ten}`;
}
