/**
 * Functions of strings: `split`, `replace`, `substring` and others (cel-go, ext/strings.go, version
 * 2; costs: k8s.io/apiserver, pkg/cel/library/cost.go).
 */
import { addRanges, exactly, multiplyRanges, type Range, scaleRange, sizeRange, UNLIMITED } from "../cost.ts";
import type { CallEstimate, FunctionDeclaration, Overload, SizedNode } from "../function.ts";
import type { Library } from "../library.ts";
import { ESCAPES } from "../quoted_text.ts";
import { lengthOf } from "../runtime_type.ts";
import { byteLength, type Costs, READING, readingCost, readingTimes, TRAVERSAL, walkingCost } from "../traversal.ts";
import { type CelType, DYN, INT, listOf, STRING } from "../type.ts";
import { CelError, List, type Value } from "../value.ts";
import { valueText } from "../value_text.ts";
import { format } from "./format.ts";
import { validateFormats } from "./format_validator.ts";

const STRINGS = listOf(STRING);
const ONE_PASS: Costs = {
  cost: READING.cost,
  estimate: ([text]) => ({ cost: scaleRange(sizeRange(text!), TRAVERSAL), resultSize: sizeRange(text!) }),
};
const SEARCHING: Costs = { cost: ([text]) => walkingCost(text!), estimate: READING.estimate };
const { cost: twoPasses } = readingTimes(2);

/** The library. */
export const STRINGS_LIBRARY: Library = {
  name: "cel.lib.ext.strings",
  validate: validateFormats,
  functions: [
    { name: "charAt", overloads: [member("string_char_at_int", [INT], STRING, charAt)] },
    textFunction(
      "indexOf",
      SEARCHING,
      member("string_index_of_string", [STRING], INT, (text, part) => indexOf(text, part, 0n)),
      member("string_index_of_string_int", [STRING, INT], INT, indexOf),
    ),
    textFunction(
      "lastIndexOf",
      SEARCHING,
      member("string_last_index_of_string", [STRING], INT, lastIndexOf),
      member("string_last_index_of_string_int", [STRING, INT], INT, lastIndexFrom),
    ),
    textFunction("lowerAscii", ONE_PASS, member("string_lower_ascii", [], STRING, lowerAscii)),
    textFunction(
      "replace",
      { cost: twoPasses, estimate: replaceEstimate },
      member(
        "string_replace_string_string",
        [STRING, STRING],
        STRING,
        (text, from, to) => replace(text, from, to, -1n),
      ),
      member("string_replace_string_string_int", [STRING, STRING, INT], STRING, replace),
    ),
    textFunction(
      "split",
      { cost: twoPasses, estimate: splitEstimate },
      member("string_split_string", [STRING], STRINGS, (text, separator) => split(text, separator, -1n)),
      member("string_split_string_int", [STRING, INT], STRINGS, split),
    ),
    textFunction(
      "substring",
      ONE_PASS,
      member("string_substring_int", [INT], STRING, (text, start) => substring(text, start)),
      member("string_substring_int_int", [INT, INT], STRING, substring),
    ),
    textFunction("trim", ONE_PASS, member("string_trim", [], STRING, trim)),
    textFunction("upperAscii", ONE_PASS, member("string_upper_ascii", [], STRING, upperAscii)),
    {
      name: "format",
      stopsEarly: true,
      overloads: [{
        ...member("string_format", [listOf(DYN)], STRING, (text, values) => format(text as string, values as List)),
        ...READING,
      }],
    },
    {
      name: "strings.quote",
      overloads: [{
        id: "strings_quote",
        isMember: false,
        parameters: [STRING],
        result: STRING,
        call: (text) => quote(text as string),
        cost: READING.cost,
        estimate: ([text]) => ({ cost: scaleRange(sizeRange(text!), TRAVERSAL), resultSize: quotedSize(text!) }),
      }],
    },
    {
      name: "join",
      cost: (_, result) => readingCost(result, 2),
      overloads: [
        joinOverload("list_join", [STRINGS], (list) => join(list as List, "")),
        joinOverload(
          "list_join_string",
          [STRINGS, STRING],
          (list, separator) => join(list as List, separator as string),
        ),
      ],
    },
  ],
};

function member(
  id: string,
  parameters: readonly CelType[],
  result: CelType,
  call: (...values: Value[]) => Value,
): Overload {
  return { id, isMember: true, parameters: [STRING, ...parameters], result, call };
}

function textFunction(
  name: string,
  { cost, estimate }: Costs,
  ...overloads: Overload[]
): FunctionDeclaration {
  return { name, cost, overloads: overloads.map((overload) => ({ ...overload, estimate })) };
}

function joinOverload(id: string, parameters: readonly CelType[], call: (...values: Value[]) => Value): Overload {
  return { id, isMember: true, parameters, result: STRING, call, estimate: joinEstimate };
}

function outOfRangeError(index: bigint): CelError {
  return new CelError(`index out of range: ${index}`);
}

function charAt(text?: Value, index?: Value): Value {
  const characters = [...text as string];
  const i = index as bigint;
  if (i < 0n || i > BigInt(characters.length)) throw outOfRangeError(i);
  return characters[Number(i)] ?? "";
}

function indexOf(text?: Value, part?: Value, start?: Value): Value {
  const from = start as bigint;
  if (part === "") return from;
  if (from < 0n) throw outOfRangeError(from);
  const characters = [...text as string];
  const wanted = [...part as string];
  for (let i = from; i <= BigInt(characters.length - wanted.length); i++) {
    if (isAt(characters, wanted, Number(i))) return i;
  }
  return -1n;
}

function lastIndexOf(text?: Value, part?: Value): Value {
  const length = BigInt(lengthOf(text as string));
  if (part === "") return length;
  if (byteLength(text as string) < byteLength(part as string)) return -1n;
  return lastIndexFrom(text, part, length - 1n);
}

function lastIndexFrom(text?: Value, part?: Value, start?: Value): Value {
  const from = start as bigint;
  if (part === "") return from;
  if (from < 0n) throw outOfRangeError(from);
  const characters = [...text as string];
  const wanted = [...part as string];
  if (from >= BigInt(characters.length)) return -1n;
  for (let i = Math.min(Number(from), characters.length - wanted.length); i >= 0; i--) {
    if (isAt(characters, wanted, i)) return BigInt(i);
  }
  return -1n;
}

function isAt(characters: readonly string[], wanted: readonly string[], index: number): boolean {
  return wanted.every((character, i) => characters[index + i] === character);
}

function lowerAscii(text?: Value): Value {
  return (text as string).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function upperAscii(text?: Value): Value {
  return (text as string).replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

/**
 * Replaces the first `count` occurrences, or all if `count` is negative. An empty string matches
 * before each character and at the end.
 */
function replace(text?: Value, from?: Value, to?: Value, count?: Value): Value {
  const limit = count as bigint;
  const pieces = from === "" ? ["", ...text as string, ""] : (text as string).split(from as string);
  const replaced = limit < 0n || limit > BigInt(pieces.length - 1) ? pieces.length - 1 : Number(limit);
  if (from === "" && replaced === pieces.length - 1) {
    return pieces.slice(0, -1).map((piece) => piece + (to as string)).join("") + pieces.at(-1);
  }
  const done = pieces.slice(0, replaced).map((piece) => piece + (to as string)).join("");
  return done + pieces.slice(replaced).join(from as string);
}

/**
 * Splits into at most `count` pieces, the last of which contains the rest. A negative `count` means
 * no limit.
 */
function split(text?: Value, separator?: Value, count?: Value): Value {
  const limit = count as bigint;
  if (limit === 0n) return new List([]);
  const pieces = separator === "" ? [...text as string] : (text as string).split(separator as string);
  if (limit < 0n || limit >= BigInt(pieces.length)) return new List(pieces);
  const last = Number(limit) - 1;
  return new List([...pieces.slice(0, last), pieces.slice(last).join(separator as string)]);
}

function substring(text?: Value, start?: Value, end?: Value): Value {
  const characters = [...text as string];
  const length = BigInt(characters.length);
  const from = start as bigint;
  const to = end === undefined ? length : end as bigint;
  if (end !== undefined && from > to) {
    throw new CelError(`invalid substring range. start: ${from}, end: ${to}`);
  }
  if (from < 0n || from > length) throw outOfRangeError(from);
  if (to < 0n || to > length) throw outOfRangeError(to);
  return characters.slice(Number(from), Number(to)).join("");
}

// Unicode white space. JavaScript also includes U+FEFF and excludes U+0085.
const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const SURROUNDING_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, "g");

function trim(text?: Value): Value {
  return (text as string).replace(SURROUNDING_SPACE, "");
}

function join(list: List, separator: string): Value {
  return list.items.map((item) => {
    if (typeof item !== "string") throw new CelError(`join: invalid input: ${valueText(item)}`);
    return item;
  }).join(separator);
}

function quote(text: string): string {
  // deno-lint-ignore no-control-regex -- these are what is escaped
  return `"${text.replace(/[\x07-\r\\"]/g, (character) => ESCAPES[character]!)}"`;
}

/**
 * Returns the size of a quoted string: two quotes, and at most two characters for each one. As in
 * cel-go, the maximum overflows to 0 if the size is unknown.
 */
function quotedSize(node: SizedNode): Range {
  const { min, max } = sizeRange(node);
  const most = BigInt(max === UNLIMITED ? 2n ** 64n - 1n : BigInt(max)) * 2n + 2n;
  return { min: min + 2, max: Number(BigInt.asUintN(64, most)) };
}

function replaceEstimate([text, from, to]: readonly SizedNode[]): CallEstimate {
  const size = sizeRange(text!);
  const [old, fresh] = [sizeRange(from!), sizeRange(to!)];
  const most = replacements(size.max, old.min, fresh.max <= old.min);
  const least = replacements(size.min, old.max, old.max <= fresh.min);
  const counts = { min: least.count, max: most.count };
  const remaining = { min: least.remaining, max: most.remaining };
  return {
    cost: scaleRange(size, 2 * TRAVERSAL),
    resultSize: addRanges(multiplyRanges(counts, fresh), remaining),
  };
}

/**
 * Returns the possible number of replacements in a string of a given size, and the length of the
 * original text that can remain.
 */
function replacements(
  size: number,
  replaced: number,
  isNotLonger: boolean,
): { readonly count: number; readonly remaining: number } {
  if (replaced === 0) return { count: size < UNLIMITED ? size + 1 : size, remaining: size };
  if (isNotLonger) return { count: 0, remaining: size };
  return { count: Math.ceil(size / replaced), remaining: 0 };
}

function splitEstimate([text, , count]: readonly SizedNode[]): CallEstimate {
  const size = sizeRange(text!);
  const most = typeof count?.literal === "bigint" ? Number(BigInt.asUintN(64, count.literal)) : size.max;
  return { cost: scaleRange(size, 2 * TRAVERSAL), resultSize: { min: 0, max: most } };
}

function joinEstimate([list, separator]: readonly SizedNode[]): CallEstimate {
  const count = sizeRange(list!);
  let size = list!.items === undefined ? exactly(0) : multiplyRanges(count, sizeRange(list!.items));
  if (separator !== undefined) {
    const between = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
    size = addRanges(size, multiplyRanges(sizeRange(separator), between));
  }
  return { cost: scaleRange(size, TRAVERSAL), resultSize: size };
}
