/**
 * Parses label selectors, with the server's error messages (`k8s.io/apimachinery/pkg/labels`,
 * `Parse`).
 */
import { labelValueErrors, qualifiedNameErrors } from "./name_rules.ts";
import { quoted } from "./quoted.ts";

/** A requirement for one label. */
export interface LabelRequirement {
  /** The label. */
  readonly key: string;
  /** How its value is compared. */
  readonly operator: "exists" | "does not exist" | "in" | "notin" | ">" | "<";
  /**
   * Empty for `exists` and `does not exist`, one value for `>` and `<`. `app=web` is `in` with one
   * value.
   */
  readonly values: readonly string[];
}

/**
 * Parses a label selector.
 *
 * @param text The selector, such as `app=web,tier in (a, b),!legacy`. An empty one has no
 * requirements.
 * @throws {SyntaxError} If it is invalid.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(parseLabelSelector("app=web,!legacy"), [
 *   { key: "app", operator: "in", values: ["web"] },
 *   { key: "legacy", operator: "does not exist", values: [] },
 * ]);
 * assert.throws(() => parseLabelSelector("app=web,"), {
 *   message: "found '', expected: identifier after ','",
 * });
 * ```
 */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  const tokens = tokenize(text);
  const requirements: LabelRequirement[] = [];
  if (tokens.length > 0 && !startsRequirement(tokens[0]!)) {
    throw new SyntaxError(`found '${tokens[0]}', expected: !, identifier, or 'end of string'`);
  }
  for (let i = 0; i < tokens.length;) {
    const [requirement, next] = readRequirement(tokens, i);
    requirements.push(requirement);
    if (next >= tokens.length) break;
    if (tokens[next] !== ",") throw new SyntaxError(`found '${tokens[next]}', expected: ',' or 'end of string'`);
    const after = tokens[next + 1] ?? "";
    if (!startsRequirement(after)) throw new SyntaxError(`found '${after}', expected: identifier after ','`);
    i = next + 1;
  }
  return requirements;
}

/**
 * Returns whether a label meets a requirement of a selector.
 *
 * @param requirement The requirement.
 * @param value The value of the label; `undefined` if the object does not have it.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const [requirement] = parseLabelSelector("app in (web, shop)");
 * assert(isLabelRequirementMet(requirement!, "shop"));
 * assert(!isLabelRequirementMet(requirement!, undefined));
 * ```
 */
export function isLabelRequirementMet({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "exists":
      return value !== undefined;
    case "does not exist":
      return value === undefined;
    case "in":
      return value !== undefined && values.includes(value);
    case "notin":
      return value === undefined || !values.includes(value);
    default: {
      if (!/^\d+$/.test(value ?? "")) return false;
      const [number, bound] = [BigInt(value!), BigInt(values[0]!)];
      return operator === "<" ? number < bound : number > bound && number <= MAX_INT64;
    }
  }
}

/**
 * Validates labels that will be formatted as a selector, and returns the first error. A key or
 * value with a comma would otherwise result in another selector.
 *
 * @param labels The labels.
 */
export function labelsError(labels: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(labels).flatMap(([key, value]) => [...keyErrors(key), ...valueErrors(key, [value])])[0];
}

const TOKEN = /[ \t\r\n]*(?:(==|=|!=|!|<|>|\(|\)|,)|([^ \t\r\n=!<>(),]+))/y;
const SYMBOLS = new Set(["", "==", "=", "!=", "!", "<", ">", "(", ")", ","]);

function tokenize(text: string): string[] {
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) found.push(match[1] ?? match[2]!);
  return found;
}

function startsRequirement(token: string): boolean {
  return token === "!" || !SYMBOLS.has(token);
}

/** Parses the requirement that starts at a token, and returns the index after it. */
function readRequirement(tokens: readonly string[], start: number): [LabelRequirement, number] {
  const isNegated = tokens[start] === "!";
  const at = isNegated ? start + 1 : start;
  const key = identifier(tokens, at, "identifier");
  throwIfAny(keyErrors(key));
  if (isNegated) return [{ key, operator: "does not exist", values: [] }, at + 1];
  const operator = tokens[at + 1];
  if (operator === undefined || operator === ",") return [{ key, operator: "exists", values: [] }, at + 1];
  switch (operator) {
    case "=":
    case "==":
    case "!=": {
      const [value, next] = exactValue(tokens, at + 2);
      throwIfAny(valueErrors(key, [value]));
      return [{ key, operator: operator === "!=" ? "notin" : "in", values: [value] }, next];
    }
    case "in":
    case "notin": {
      const [values, next] = readValues(tokens, at + 2);
      throwIfAny(valueErrors(key, values));
      return [{ key, operator, values }, next];
    }
    case "<":
    case ">": {
      const [value, next] = exactValue(tokens, at + 2);
      throwIfAny([...integerErrors(value), ...valueErrors(key, [value])]);
      return [{ key, operator, values: [value] }, next];
    }
    default:
      throw unparsable(operator, ", expected: in, notin, =, ==, !=, gt, lt");
  }
}

function identifier(tokens: readonly string[], i: number, expected: string): string {
  const token = tokens[i] ?? "";
  if (SYMBOLS.has(token)) throw unparsable(token, `, expected: ${expected}`);
  return token;
}

/** A value may be empty: `app=`. */
function exactValue(tokens: readonly string[], i: number): [string, number] {
  const token = tokens[i];
  return token === undefined || token === "," ? ["", i] : [identifier(tokens, i, "identifier"), i + 1];
}

/**
 * Parses the values in parentheses, sorted and without duplicates. Two adjacent commas enclose an
 * empty value.
 */
function readValues(tokens: readonly string[], start: number): [readonly string[], number] {
  if (tokens[start] !== "(") throw unparsable(tokens[start], " expected: '('");
  const values = new Set<string>();
  let i = start + 1;
  const first = tokens[i] ?? "";
  if (first === ")") return [[""], i + 1];
  if (first !== ",") identifier(tokens, i, "',', ')' or identifier");
  for (; tokens[i] !== ")"; i++) {
    if (tokens[i] === ",") {
      if (values.size === 0 || tokens[i + 1] === "," || tokens[i + 1] === ")") values.add("");
      continue;
    }
    values.add(identifier(tokens, i, "',', or identifier"));
    const after = tokens[i + 1];
    if (after !== "," && after !== ")") throw unparsable(after, ", expected: ',' or ')'");
  }
  return [[...values].sort(), i + 1];
}

function unparsable(found: string | undefined, expected: string): SyntaxError {
  return new SyntaxError(`unable to parse requirement: found '${found ?? ""}'${expected}`);
}

function keyErrors(key: string): string[] {
  const errors = qualifiedNameErrors(key);
  return errors.length === 0 ? [] : [invalid("<nil>", key, errors.join("; "))];
}

function valueErrors(key: string, values: readonly string[]): string[] {
  return values.flatMap((value, i) => {
    const errors = labelValueErrors(value);
    return errors.length === 0 ? [] : [invalid(`values[${i}][${key}]`, value, errors.join("; "))];
  });
}

const MAX_INT64 = 2n ** 63n - 1n;

function integerErrors(value: string): string[] {
  if (/^[+-]?\d+$/.test(value)) {
    const number = BigInt(value.replace("+", ""));
    if (number <= MAX_INT64 && number >= -MAX_INT64 - 1n) return [];
  }
  return [invalid("values[0]", value, "for 'Gt', 'Lt' operators, the value must be an integer")];
}

function invalid(path: string, value: string, reason: string): string {
  return `${path}: Invalid value: ${quoted(value)}: ${reason}`;
}

function throwIfAny(errors: readonly string[]): void {
  if (errors.length === 0) return;
  throw new SyntaxError(`unable to parse requirement: ${errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`}`);
}
