/**
 * Parses durations as API servers do: `1h30m` (`time`, ParseDuration), or in words
 * (`k8s.io/kube-openapi/pkg/validation/strfmt`, duration.go).
 */

const SECOND = 1_000_000_000n;
const INT64_LIMIT = 2n ** 63n;

const GO_UNITS: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1_000n,
  "µs": 1_000n,
  "μs": 1_000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};

/**
 * Parses a duration in Go's format.
 *
 * @param text The duration, such as `1h30m` or `-1.5s`.
 * @returns Nanoseconds, or `undefined` if it is invalid or out of range.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(goSpan("1.5s"), 1_500_000_000n);
 * assert.equal(goSpan("2 days"), undefined);
 * ```
 */
export function goSpan(text: string): bigint | undefined {
  const body = text.replace(/^[+-]/, "");
  if (body === "0") return 0n;
  if (!/^(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let total = 0n;
  for (const [, whole = "", fraction = "", unit] of body.matchAll(/([0-9]*)\.?([0-9]*)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = GO_UNITS[unit!]!;
    const digits = fraction.slice(0, 18);
    total += BigInt(whole === "" ? 0 : whole) * scale;
    if (digits !== "") total += BigInt(Math.trunc(Number(digits) * (Number(scale) / 10 ** digits.length)));
    if (total > INT64_LIMIT) return undefined;
  }
  if (text.startsWith("-")) return -total;
  return total === INT64_LIMIT ? undefined : total;
}

// Exact names of units, and the prefix of their longer names, such as `min` for `minutes`.
const UNITS: readonly (readonly [names: readonly string[], prefix: string, nanoseconds: bigint])[] = [
  [["ns"], "nano", 1n],
  [["us", "µs"], "micro", 1_000n],
  [["ms"], "milli", 1_000_000n],
  [["s"], "sec", SECOND],
  [["m"], "min", 60n * SECOND],
  [["h", "hr"], "hour", 3600n * SECOND],
  [["d"], "day", 86_400n * SECOND],
  [["w", "wk"], "week", 604_800n * SECOND],
];

/**
 * Parses a duration of a schema's value: in Go's format, or in words.
 *
 * @param text The duration, such as `1h30m` or `3 days 2 hours`. Text other than numbers with units
 * is ignored.
 * @returns Nanoseconds, truncated to 64 bits, or `undefined` if it is invalid.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(timeSpan("2 days"), 172_800_000_000_000n);
 * assert.equal(timeSpan("soon"), undefined);
 * ```
 */
export function timeSpan(text: string): bigint | undefined {
  const plain = goSpan(text);
  if (plain !== undefined) return plain;
  let total: bigint | undefined;
  for (const [, digits = "", word = ""] of text.matchAll(/(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g)) {
    const count = BigInt(digits);
    if (count >= INT64_LIMIT) return undefined;
    const unit = word.toLowerCase();
    for (const [names, prefix, nanoseconds] of UNITS) {
      if (names.includes(unit) || unit.startsWith(prefix)) total = (total ?? 0n) + count * nanoseconds;
    }
  }
  return total === undefined ? undefined : BigInt.asIntN(64, total);
}
