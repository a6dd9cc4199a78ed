/** Semantic versions as the API server parses them (`github.com/blang/semver/v4`). */
import { quoted } from "../../base/quoted.ts";

/** An identifier of a prerelease. Numbers come before words. */
type Identifier = bigint | string;

const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * A semantic version.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const version = SemanticVersion.parse("1.2.3-rc.1");
 * assert.equal(version.minor, 2n);
 * assert.equal(version.compare(SemanticVersion.parse("1.2.3")), -1);
 * assert.throws(() => SemanticVersion.parse("1.2"), {
 *   message: "No Major.Minor.Patch elements found",
 * });
 * ```
 */
export class SemanticVersion {
  readonly #prerelease: readonly Identifier[];

  private constructor(
    readonly major: bigint,
    readonly minor: bigint,
    readonly patch: bigint,
    prerelease: readonly Identifier[],
  ) {
    this.#prerelease = prerelease;
  }

  /**
   * Parses a version.
   *
   * @param text The version.
   * @throws {SyntaxError} If it is invalid; the message is the server's.
   */
  static parse(text: string): SemanticVersion {
    if (text === "") throw new SyntaxError("Version string empty");
    const [major, minor, rest] = splitInThree(text);
    if (rest === undefined) throw new SyntaxError("No Major.Minor.Patch elements found");
    const front = [parseNumber(major!, "Major"), parseNumber(minor!, "Minor")] as const;
    const [beforeBuild, build] = cut(rest, "+");
    const [patchText, prerelease] = cut(beforeBuild, "-");
    const patch = parseNumber(patchText, "Patch");
    const identifiers = prerelease?.split(".").map(parseIdentifier) ?? [];
    for (const each of build?.split(".") ?? []) checkBuild(each);
    return new SemanticVersion(...front, patch, identifiers);
  }

  /** Returns -1 if it precedes the other version, 1 if it follows. Build metadata is ignored. */
  compare(other: SemanticVersion): -1 | 0 | 1 {
    const [mine, theirs] = [this.#prerelease, other.#prerelease];
    const order = compareEach([this.major, this.minor, this.patch], [other.major, other.minor, other.patch]);
    if (order !== 0) return order;
    // A release follows its prereleases.
    if (mine.length === 0 || theirs.length === 0) return sign(theirs.length - mine.length);
    return compareEach(mine, theirs) || sign(mine.length - theirs.length);
  }
}

/**
 * Normalizes a version: removes a leading `v` and leading zeros, and adds missing minor and patch
 * numbers.
 *
 * @param text The version.
 * @throws {SyntaxError} If it cannot be normalized.
 */
export function normalizeVersion(text: string): string {
  const parts = splitInThree(text.replace(/^v/, "")).map(withoutZeros);
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) {
    throw new SyntaxError("short version cannot contain PreRelease/Build meta data");
  }
  return [...parts, "0", "0"].slice(0, 3).join(".");
}

/** Returns major, minor and the rest; fewer parts if there are not enough dots. */
function splitInThree(text: string): readonly string[] {
  const [major, minor, ...rest] = text.split(".");
  return rest.length === 0 ? text.split(".") : [major!, minor!, rest.join(".")];
}

function withoutZeros(part: string): string {
  if (new TextEncoder().encode(part).length < 2) return part;
  const rest = part.replace(/^0+/, "");
  return /^[0-9]/.test(rest) ? rest : `0${rest}`;
}

function parseNumber(text: string, name: "Major" | "Minor" | "Patch"): bigint {
  if (/[^0-9]/.test(text)) {
    throw new SyntaxError(`Invalid character(s) found in ${name.toLowerCase()} number ${quoted(text)}`);
  }
  if (/^0./.test(text)) throw new SyntaxError(`${name} number must not contain leading zeroes ${quoted(text)}`);
  return parseUnsigned(text);
}

function parseIdentifier(text: string): Identifier {
  if (text === "") throw new SyntaxError("Prerelease is empty");
  if (/[^0-9A-Za-z-]/.test(text)) throw new SyntaxError(`Invalid character(s) found in prerelease ${quoted(text)}`);
  if (/[^0-9]/.test(text)) return text;
  if (/^0./.test(text)) {
    throw new SyntaxError(`Numeric PreRelease version must not contain leading zeroes ${quoted(text)}`);
  }
  return parseUnsigned(text);
}

function checkBuild(text: string): void {
  if (text === "") throw new SyntaxError("Build meta data is empty");
  if (/[^0-9A-Za-z-]/.test(text)) {
    throw new SyntaxError(`Invalid character(s) found in build meta data ${quoted(text)}`);
  }
}

function parseUnsigned(digits: string): bigint {
  if (digits === "") throw new SyntaxError('strconv.ParseUint: parsing "": invalid syntax');
  const value = BigInt(digits);
  if (value > MAX_UINT64) throw new SyntaxError(`strconv.ParseUint: parsing ${quoted(digits)}: value out of range`);
  return value;
}

function cut(text: string, separator: string): [before: string, after: string | undefined] {
  const place = text.indexOf(separator);
  return place < 0 ? [text, undefined] : [text.slice(0, place), text.slice(place + 1)];
}

function compareEach(a: readonly Identifier[], b: readonly Identifier[]): -1 | 0 | 1 {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareIdentifiers(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

function compareIdentifiers(a: Identifier, b: Identifier): -1 | 0 | 1 {
  if (typeof a !== typeof b) return typeof a === "bigint" ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function sign(value: number): -1 | 0 | 1 {
  return value < 0 ? -1 : value > 0 ? 1 : 0;
}
