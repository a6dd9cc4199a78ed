/** Schemas of strings, numbers and booleans, with one keyword each. */
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { FORMATS, type FormatText, mutated } from "./_formats.ts";
import { Literal } from "./_json_text.ts";
import { type Change, type Node, node } from "./_node.ts";
import type { Random } from "../fixtures/random.ts";

/** Creates a random schema. */
export type Maker = (random: Random) => Node;

/** Returns a change that concerns a keyword. */
export function changeOf(keyword: string, make: Change["make"]): Change {
  return { keyword, make };
}

export const text: Maker = () =>
  node({ schema: { type: "string" }, valid: (random) => random.text(random.integer(0, 9)) });

export const boolean: Maker = () => node({ schema: { type: "boolean" }, valid: (random) => random.chance(0.5) });

export const integer: Maker = () =>
  node({
    schema: { type: "integer" },
    valid: (random) =>
      random.pick<unknown>([random.integer(-1e6, 1e6), new Literal("3.0"), new Literal("1e3"), 2 ** 53]),
    violations: [changeOf("integer", (random) => random.integer(-9, 9) + 0.5)],
    doubtful: [changeOf("integer", (random) => random.pick(WIDE))],
  });

/**
 * Numbers that JavaScript and Go represent in the same way, which excludes the bounds of int64 and
 * `1e18` in digits.
 */
const WIDE = [
  "9223372036854775000",
  "9223372036854777000",
  "-9223372036854777000",
  "1e19",
  "-0",
  "9007199254740993",
  "1.0e2",
  "1e-3",
  "0.1e1",
]
  .map((literal) => new Literal(literal));

export const number: Maker = () =>
  node({
    schema: { type: "number" },
    valid: (random) => random.integer(-1e6, 1e6) / random.pick([1, 2, 10, 1000]),
    doubtful: [changeOf("number", (random) => random.pick(WIDE))],
  });

export const int32: Maker = () =>
  node({
    schema: { type: "integer", format: "int32" },
    valid: (random) => random.pick([random.integer(-(2 ** 31), 2 ** 31 - 1), -(2 ** 31), 2 ** 31 - 1, 0]),
    violations: [
      changeOf("int32", (random) => random.pick([2 ** 31, -(2 ** 31) - 1, random.integer(2 ** 31, 2 ** 40)])),
    ],
  });

export const int64: Maker = () =>
  node({
    schema: { type: "integer", format: "int64" },
    valid: (random) => random.pick<unknown>([random.integer(-(2 ** 52), 2 ** 52), 2 ** 40, 0]),
    violations: [
      changeOf("int64", (random) =>
        new Literal(`${random.pick(["", "-"])}${random.integer(2, 9)}${random.text(19, "0123456789")}`)),
    ],
    doubtful: [changeOf("int64", (random) =>
      random.pick(WIDE))],
  });

export const float: Maker = (random) => {
  const format = random.pick(["float", "double"]);
  return node({
    schema: { type: "number", format },
    valid: (random) => random.integer(-1e6, 1e6) / 8,
    violations: format === "double"
      ? []
      : [changeOf("float", (random) => random.pick([1, -1]) * (3.5e38 + random.next() * 1e40))],
    doubtful: [changeOf(format, (random) => random.pick([3.4028234663852886e38, 1e-46, 1e308, 5e-324, ...WIDE]))],
  });
};

export const minimum: Maker = (random) => bounded(random, "minimum");
export const maximum: Maker = (random) => bounded(random, "maximum");
export const exclusiveMinimum: Maker = (random) => bounded(random, "exclusiveMinimum");
export const exclusiveMaximum: Maker = (random) => bounded(random, "exclusiveMaximum");

function bounded(random: Random, keyword: "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"): Node {
  const type = random.pick(["integer", "number"] as const);
  const scale = random.pick([1, 1, 1000, 1e6, 1e12]);
  const fraction = type === "number" ? random.pick([0, 0.5]) : 0;
  const bound = random.integer(-20, 20) * scale + fraction;
  const isLower = keyword.endsWith("inimum");
  const isOpen = keyword.startsWith("exclusive");
  // The server compares integers with truncated bounds, so integers next to a fraction are
  // doubtful.
  const step = (random: Random) => random.integer(1, 50) + (type === "number" ? 0.25 : 0);
  const towards = isLower ? 1 : -1;
  return node({
    schema: {
      type,
      ...(isLower ? { minimum: bound } : { maximum: bound }),
      ...(isOpen && { [keyword]: true }),
    },
    valid: (random) => !isOpen && random.chance(0.3) ? bound : bound + towards * step(random),
    violations: [changeOf(keyword, (random) => isOpen && random.chance(0.4) ? bound : bound - towards * step(random))],
    doubtful: [
      changeOf(keyword, (random) => bound + random.pick([1e-9, -1e-9, 1e-15, 1e300, -1e300, -0.5, 0.5, -1, 1])),
      changeOf(keyword, (random) => Math.round(bound) + random.integer(-1, 1)),
    ],
  });
}

export const multipleOf: Maker = (random) => {
  const factor = random.pick([2, 3, 7, 10, 1000, 0.5, 0.25, 2.5, 0.1, 0.01]);
  const isWhole = Number.isInteger(factor);
  // For a factor such as 0.1, only the server knows the result, so such values are doubtful, as are
  // integers next to a fraction.
  const isExact = factor > 0.1;
  const times = (random: Random, by: number) => Number((random.integer(-1000, 1000) * by).toPrecision(12));
  const valid = (random: Random) => isWhole ? times(random, factor) : (2 * random.integer(-100, 100) + 1) * factor;
  return node({
    schema: { type: isWhole ? "integer" : "number", multipleOf: factor },
    valid: (random) => isExact ? valid(random) : factor,
    violations: !isExact ? [] : [changeOf("multipleOf", (random) => valid(random) + (isWhole ? 1 : factor / 4))],
    doubtful: [
      changeOf(
        "multipleOf",
        (random) => times(random, factor / random.pick([1, 1, 2, 3, 10])) + random.pick([0, 1e-7, 1e-10]),
      ),
      changeOf(
        "multipleOf",
        (random) => random.pick([1e15, 1e18, 123456789.1, 0.3, 0.7, 1.1, -0.1, 4.35, 1e-8, 1, -3]),
      ),
    ],
  });
};

export const minLength: Maker = (random) => {
  const least = random.integer(1, 8);
  return node({
    schema: { type: "string", minLength: least },
    valid: (random) => random.text(least + random.integer(0, 3), LETTERS),
    violations: [changeOf("minLength", (random) => random.text(random.integer(0, least - 1), LETTERS))],
    doubtful: [
      changeOf("minLength", (random) => random.text(random.integer(0, least), "\u0301\u{1f468}\u200d\u{1f469}e")),
    ],
  });
};

export const maxLength: Maker = (random) => {
  const most = random.integer(0, 8);
  return node({
    schema: { type: "string", maxLength: most },
    valid: (random) => random.text(random.integer(0, most), LETTERS),
    violations: [changeOf("maxLength", (random) => random.text(most + random.integer(1, 5), LETTERS))],
    doubtful: [
      changeOf("maxLength", (random) => random.text(random.integer(0, most + 1), "\u0301\u{1f468}\u200d\u{1f469}e")),
    ],
  });
};

const LETTERS = "abc\u00e9\u4e16\u{1f600}";

interface PatternText {
  readonly pattern: string;
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

/** Patterns with syntax that only RE2 or only JavaScript supports. */
const PATTERNS: readonly PatternText[] = [
  { pattern: "^[a-z]+$", valid: ["abc", "z"], invalid: ["", "aBc", "a1", "abc\n"] },
  { pattern: "b", valid: ["abc", "b"], invalid: ["", "ac"] },
  { pattern: "(?i)^abc$", valid: ["ABC", "aBc"], invalid: ["abcd", "ab"] },
  { pattern: "^(?i:a)b$", valid: ["Ab", "ab"], invalid: ["AB", "aB"] },
  { pattern: "^\\pL+$", valid: ["\u00e9\u4e16", "ab"], invalid: ["1", "a b"] },
  { pattern: "^\\p{Greek}+$", valid: ["\u03b1\u03b2"], invalid: ["ab", "\u0431"] },
  { pattern: "^[[:alpha:]]+[[:digit:]]?$", valid: ["abc", "abc1"], invalid: ["1", "abc12", "\u00e9"] },
  { pattern: "\\Aab\\z", valid: ["ab"], invalid: ["ab\n", "xab"] },
  { pattern: "^(?P<year>\\d{4})-(?P<month>\\d\\d)$", valid: ["2026-11"], invalid: ["26-11", "2026-1", "\u0662026-11"] },
  { pattern: "^\\w+\\s\\S$", valid: ["a_1 x"], invalid: ["\u00e9 x", "ax"] },
  { pattern: "^a\\Q.*\\Eb$", valid: ["a.*b"], invalid: ["aXXb", "ab"] },
  { pattern: "(?s)^a.b$", valid: ["a\nb", "axb"], invalid: ["ab"] },
  { pattern: "^a.b$", valid: ["axb", "a\u{1f600}b"], invalid: ["a\nb", "axxb"] },
  { pattern: "(?m)^b$", valid: ["a\nb\nc", "b"], invalid: ["ab"] },
  { pattern: "^\\x{1F600}$", valid: ["\u{1f600}"], invalid: ["a"] },
  { pattern: "^[^\\d]{2,3}$", valid: ["ab", "abc"], invalid: ["a", "abcd", "a1"] },
  { pattern: "^\\bfoo\\b", valid: ["foo bar", "foo"], invalid: ["foobar"] },
  { pattern: "^(a|ab)(c|bcd)$", valid: ["ac", "abcd"], invalid: ["abc d", "ab"] },
  { pattern: "^[\\-\\_\\.]+$", valid: ["-_."], invalid: ["a", ""] },
  { pattern: "^'\"`$", valid: ["'\"`"], invalid: ["'"] },
  { pattern: "^(?:[0-9]{1,3}\\.){3}[0-9]{1,3}$", valid: ["10.0.0.1"], invalid: ["10.0.0"] },
  { pattern: "^<&>%s%d$", valid: ["<&>%s%d"], invalid: ["<>"] },
];

export const pattern: Maker = (random) => {
  const { pattern, valid, invalid } = random.pick(PATTERNS);
  return node({
    schema: { type: "string", pattern },
    valid: (random) => random.pick(valid),
    violations: [changeOf("pattern", (random) => random.pick(invalid))],
    doubtful: [changeOf("pattern", (random) => mutated(random, random.pick(valid)))],
  });
};

function formatNode({ format, valid, invalid }: FormatText): Node {
  const keyword = `format: ${format}`;
  return node({
    schema: { type: "string", format },
    valid,
    violations: invalid === undefined ? [] : [changeOf(keyword, invalid)],
    doubtful: [changeOf(keyword, (random) => mutated(random, (random.chance(0.7) ? valid : invalid ?? valid)(random)))],
  });
}

export const enumeration: Maker = (random) => {
  const [values, others] = random.pick<readonly [readonly unknown[], readonly unknown[]]>([
    [["red", "green", ""], ["blue", "Red", "red "]],
    [["<a>", 'say "hi"', "\u00e9"], ["<b>", "e"]],
    [[1, 2, 3], [0, 4, -1]],
    [[0.5, 1.25], [0.25, 1]],
    [[true], [false]],
    [[{ a: 1 }, { a: 1, b: 2 }], [{}, { a: 2 }]],
    [[["a"], ["a", "b"]], [[], ["b"], ["b", "a"]]],
  ]);
  return node({
    schema: { ...shapeOf(values[0]), enum: values },
    valid: (random) => random.pick(values),
    violations: [changeOf("enum", (random) => random.pick(others))],
    doubtful: [
      changeOf(
        "enum",
        () => typeof values[0] === "number" ? new Literal(`${values[0]}.0`.replace(/(\..*)\.0$/, "$10")) : null,
      ),
    ],
  });
};

function shapeOf(value: unknown): JsonSchema {
  if (Array.isArray(value)) return { type: "array", items: { type: "string" } };
  if (typeof value === "object") {
    const properties = { a: { type: "integer" }, b: { type: "integer" } } as const;
    return { type: "object", properties, "x-kubernetes-map-type": "atomic" };
  }
  if (typeof value === "number") return { type: Number.isInteger(value) ? "integer" : "number" };
  return { type: typeof value as "string" | "boolean" };
}

export const nullable: Maker = (random) => {
  const inner = random.pick([text, integer, boolean, minLength, maximum, pattern])(random);
  return node({
    schema: { ...inner.schema, nullable: true },
    valid: (random) => random.chance(0.5) ? null : inner.valid(random),
    violations: inner.violations.filter(({ keyword }) => keyword !== "type"),
    doubtful: inner.doubtful,
  });
};

/** An enum with null among its values. The server never accepts null for it. */
export const nullInEnum: Maker = (random) => {
  const { schema, valid, violations } = enumeration(random);
  return node({
    schema: { ...schema, enum: [...schema.enum!, null], nullable: true },
    valid,
    violations: [...violations.filter(({ keyword }) => keyword === "enum"), changeOf("enum", () => null)],
  });
};

export const intOrString: Maker = (random) => {
  const anyOf = [{ type: "integer" }, { type: "string" }] as const;
  const form = random.pick<JsonSchema>([
    {},
    { anyOf },
    { allOf: [{ anyOf }] },
    { anyOf, pattern: "^[0-9]+%$" },
    { allOf: [{ anyOf }, { maximum: 100 }] },
    { anyOf, minimum: 1, maxLength: 4 },
  ]);
  return node({
    schema: { ...form, "x-kubernetes-int-or-string": true },
    valid: (random) => random.chance(0.5) ? random.integer(1, 100) : `${random.integer(0, 100)}%`,
    violations: [
      changeOf("int-or-string", (random) => random.pick<unknown>([true, 1.5, {}, [], ["1"], { a: 1 }, -0.5])),
    ],
    doubtful: [
      changeOf(
        "int-or-string",
        (random) => random.pick<unknown>([0, 101, "", "abcde", "5", null, new Literal("2.0"), 2 ** 40]),
      ),
    ],
  });
};

/** All makers of this file, one for each format. */
export const SCALARS: readonly Maker[] = [
  text,
  boolean,
  integer,
  number,
  int32,
  int64,
  float,
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
  minLength,
  maxLength,
  pattern,
  enumeration,
  nullable,
  nullInEnum,
  intOrString,
  ...FORMATS.map((text): Maker => () => formatNode(text)),
];
