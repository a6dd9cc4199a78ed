/** Objects, lists and maps around other nodes. */
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { isObject } from "../../src/base/json.ts";
import { setOwn } from "../../src/base/own.ts";
import { jsonText, Literal } from "./_json_text.ts";
import { type Change, type Node, node, type Part } from "./_node.ts";
import type { Random } from "../fixtures/random.ts";

/** A property of an object: a node, and whether it is required. */
export interface Property {
  readonly node: Node;
  readonly required?: boolean;
}

type Properties = Readonly<Record<string, Property>>;

/** Options of an object. */
export interface ObjectOptions {
  readonly keywords?: JsonSchema;
  /** The probability that an optional property is present. @default {0.5} */
  readonly density?: number;
}

/** Returns an object with declared properties. */
export function objectNode(properties: Properties, { keywords = {}, density = 0.5 }: ObjectOptions = {}): Node {
  const names = Object.keys(properties);
  const required = names.filter((name) => properties[name]!.required);
  const violations: Change[] = required.map((name) => ({
    keyword: "required",
    make: (_, valid) => without(valid, name),
  }));
  // The server drops a null before validation, unless it is nullable or has a default.
  for (const name of required.filter((name) => isNeverNull(properties[name]!.node.schema))) {
    violations.push({ keyword: "nullable", make: (_, valid) => withKey(valid, name, null) });
  }
  if (keywords["x-kubernetes-preserve-unknown-fields"] === undefined) violations.push(unknownField(names));
  violations.push(duplicateField);
  return node({
    schema: {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, properties[name]!.node.schema])),
      ...(required.length > 0 && { required }),
      ...keywords,
    },
    valid: (random) => {
      const object: Record<string, unknown> = {};
      for (const name of names) {
        const { node, required = false } = properties[name]!;
        if (required || random.chance(density)) setOwn(object, name, present(random, node, required));
      }
      return object;
    },
    violations,
    doubtful: [
      {
        keyword: "null",
        make: (random, valid) => names.length === 0 ? valid : withKey(valid, random.pick(names), null),
      },
      {
        keyword: "hostile key",
        make: (random, valid) => withKey(valid, random.pick(HOSTILE), random.pick<unknown>([1, "a", {}, null])),
      },
    ],
    parts: names.map((name): Part => ({
      kind: "property",
      node: properties[name]!.node,
      change: (random, value, change) => {
        const part = isObject(value) && Object.hasOwn(value, name) ? value[name] : properties[name]!.node.valid(random);
        return withKey(value, name, change(part));
      },
    })),
  });
}

const HOSTILE = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "",
  "a.b",
  "a/b",
  "a b",
  "\u00fc",
  "[0]",
  "\u{1f600}",
];

/** Returns a valid value. For a required property it is not a value that the server drops. */
function present(random: Random, node: Node, required: boolean): unknown {
  let value = node.valid(random);
  while (value === null && required && isNeverNull(node.schema)) value = node.valid(random);
  return value;
}

function isNeverNull(schema: JsonSchema): boolean {
  return !schema.nullable && schema.default === undefined;
}

function unknownField(known: readonly string[]): Change {
  return {
    keyword: "unknown field",
    make(random, valid) {
      const name = random.pick(["unknown", "specs", "x-y", "UPPER", "a.b", random.text(3)]);
      return known.includes(name)
        ? withKey(valid, `${name}2`, 1)
        : withKey(valid, name, random.pick([1, "a", {}, [{}]]));
    },
  };
}

const duplicateField: Change = {
  keyword: "duplicate field",
  make(random, valid) {
    const entries = Object.entries(valid as object);
    if (entries.length === 0) return new Literal('{"twice":1,"twice":2}');
    const [name, value] = random.pick(entries);
    return new Literal(jsonText(valid).replace(/\}$/, `,${JSON.stringify(name)}:${jsonText(value)}}`));
  },
};

/** Options of a list. */
export interface ListOptions {
  readonly keywords?: JsonSchema;
  /** Minimum and maximum length of valid values. @default {[1, 3]} */
  readonly length?: readonly [number, number];
  readonly violations?: readonly Change[];
  /** Makes an item differ from the previous ones, for lists without duplicates. */
  readonly distinct?: (item: unknown, index: number) => unknown;
}

/** Returns a list. */
export function listNode(item: Node, options: ListOptions = {}): Node {
  const { keywords = {}, length = [1, 3], violations = [], distinct = (item: unknown) => item } = options;
  const nulls: Change[] = isNeverNull(item.schema)
    ? [{ keyword: "nullable", make: (random, valid) => atRandom(random, valid as unknown[], () => null) }]
    : [];
  return node({
    schema: { type: "array", items: item.schema, ...keywords },
    valid: (random) => random.times(random.integer(...length), (i) => distinct(item.valid(random), i)),
    violations: [...nulls, ...violations],
    doubtful: [
      { keyword: "null", make: (random, valid) => atRandom(random, valid as unknown[], () => null) },
      { keyword: "empty list", make: () => [] },
    ],
    parts: [{
      kind: "item",
      node: item,
      change: (random, value, change) => {
        const list = value as unknown[];
        return atRandom(random, list.length === 0 ? [distinct(item.valid(random), 0)] : list, change);
      },
    }],
  });
}

/** Returns a map. */
export function mapNode(value: Node, keywords: JsonSchema = {}, size: readonly [number, number] = [1, 3]): Node {
  const violations = value.schema.type === undefined
    ? []
    : value.violations.filter(({ keyword }) => keyword === "type");
  return node({
    schema: { type: "object", additionalProperties: value.schema, ...keywords },
    valid: (random) => {
      const map: Record<string, unknown> = {};
      const count = random.integer(...size);
      while (Object.keys(map).length < count) map[random.pick(KEYS) + random.text(1)] = value.valid(random);
      return map;
    },
    violations: [
      ...violations.map(({ make }): Change => ({
        keyword: "additionalProperties",
        make: (random, valid) => changeOne(random, valid, (part) => make(random, part)),
      })),
      duplicateField,
    ],
    doubtful: [
      { keyword: "null", make: (random, valid) => withKey(valid, random.pick(KEYS), null) },
      {
        keyword: "hostile key",
        make: (random, valid) =>
          withKey(valid, random.pick(HOSTILE), random.pick<unknown>([value.valid(random), 1, null, {}])),
      },
      { keyword: "empty map", make: () => ({}) },
    ],
    parts: [{
      kind: "value",
      node: value,
      change: (random, map, change) =>
        changeOne(random, Object.keys(map as object).length === 0 ? { a: value.valid(random) } : map, change),
    }],
  });
}

const KEYS = ["a", "b.c", "d/e", "f g", "\u00e9", "0", "kind", "x-"];

/** Returns a copy of an object with a key set to a value. */
export function withKey(object: unknown, key: string, value: unknown): unknown {
  const copy = { ...object as Record<string, unknown> };
  setOwn(copy, key, value);
  return copy;
}

/** Returns a copy of an object without a key. */
export function without(object: unknown, key: string): unknown {
  const { [key]: _, ...rest } = object as Record<string, unknown>;
  return rest;
}

function changeOne(random: Random, object: unknown, change: (part: unknown) => unknown): unknown {
  const [key, part] = random.pick(Object.entries(object as object));
  return withKey(object, key, change(part));
}

function atRandom(random: Random, list: readonly unknown[], change: (item: unknown) => unknown): unknown[] {
  const at = random.integer(0, list.length - 1);
  return list.map((item, i) => i === at ? change(item) : item);
}
