/**
 * Objects that differ from a valid one at one position, at all depths of a schema. A seed
 * determines them.
 */
import { Random } from "../fixtures/random.ts";
import { isObject } from "../../src/base/json.ts";
import type { JsonSchema } from "../../src/schema/mod.ts";

/** Always picks the first item. */
const FIRST = Object.assign(new Random(0), { next: () => 0 });

/** A JSON object of any kind. */
export type Json = Record<string, unknown>;

/** An object that differs from a valid one at one position. */
export interface Mutant {
  /** Kind of the change: `enum`, `missing`. */
  readonly change: string;
  /** Path of the change. */
  readonly path: string;
  /** Number of names and indexes in the path. */
  readonly depth: number;
  readonly object: Json;
}

type Step = string | number;

/**
 * Returns an object with an additional property, and the properties that it requires, at some depth
 * below its `spec`.
 *
 * @param object A valid object. It is not changed.
 * @param root The schema of the object.
 * @param random The random number generator.
 * @returns The object, which may violate rules; `undefined` if no property can be added.
 */
export function withProperty(object: Json, root: JsonSchema, random: Random): Json | undefined {
  const copy = structuredClone(object);
  let value: unknown = copy.spec ??= {};
  let schema = root.properties?.spec;
  let added = false;
  for (let depth = 0; depth < 12 && schema !== undefined; depth++) {
    if (schema.properties !== undefined && isObject(value)) {
      const names = Object.keys(schema.properties);
      // Schemas with more properties are more likely, so that the change is deep.
      const holders = names.filter((name) => isHolder(schema!.properties![name]!));
      const name = random.pick(random.chance(0.8) && holders.length > 0 ? holders : names);
      if (value[name] === undefined) {
        value[name] = minimalValue(schema.properties[name]!, random);
        added = true;
      }
      [value, schema] = [value[name], schema.properties[name]];
    } else if (schema.items !== undefined && Array.isArray(value)) {
      if (value.length === 0) {
        value.push(minimalValue(schema.items, random));
        added = true;
      }
      [value, schema] = [value[random.integer(0, value.length - 1)], schema.items];
    } else if (typeof schema.additionalProperties === "object" && isObject(value)) {
      value.key ??= minimalValue(schema.additionalProperties, random);
      added = true;
      [value, schema] = [value.key, schema.additionalProperties];
    } else break;
  }
  return added ? copy : undefined;
}

function isHolder({ properties, items, additionalProperties }: JsonSchema): boolean {
  return properties !== undefined || items !== undefined || typeof additionalProperties === "object";
}

const TEXTS = [
  "a",
  "abc",
  "a.example.com",
  "/a",
  "1m",
  "10s",
  "1",
  "ABC_DEF",
  "http://a.example.com/b",
  "a/b",
  "",
  "12345678",
  "1Gi",
  "10MB",
  "a=b",
];
const TEXT_OF: { readonly [format: string]: string } = {
  "date-time": "2030-01-02T03:04:05Z",
  byte: "YWJj",
  duration: "1m",
  ipv4: "10.0.0.1",
  uri: "http://a.example.com",
};

/** Returns a minimal value of a schema. */
function minimalValue(schema: JsonSchema, random: Random): unknown {
  if (schema.default !== undefined) return structuredClone(schema.default);
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema["x-kubernetes-int-or-string"] === true) return 1;
  switch (schema.type) {
    case "string":
      return (schema.format && TEXT_OF[schema.format]) ?? TEXTS.find((text) => isText(text, schema)) ?? "a";
    case "integer":
    case "number":
      return schema.minimum ?? Math.min(1, schema.maximum ?? 1);
    case "boolean":
      return random.chance(0.5);
    case "array":
      return Array.from({ length: Math.max(schema.minItems ?? 0, 1) }, () => minimalValue(schema.items ?? {}, random));
    case "object":
      if (schema["x-kubernetes-embedded-resource"]) {
        return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
      }
      if (typeof schema.additionalProperties === "object") {
        return { key: minimalValue(schema.additionalProperties, random) };
      }
      return Object.fromEntries(
        requiredNames(schema).map((name) => [name, minimalValue(schema.properties?.[name] ?? {}, random)]),
      );
    default:
      return {};
  }
}

/** Returns the required properties, including those of the first alternative. */
function requiredNames({ required = [], oneOf = [], anyOf = [], properties = {} }: JsonSchema): readonly string[] {
  const choice = [...oneOf, ...anyOf].find(({ required = [] }) => required.length === 1)?.required ?? [];
  const isFree = [...oneOf, ...anyOf].some(({ not }) => not !== undefined);
  return [...new Set([...required, ...(isFree ? [] : choice)])].filter((name) => Object.hasOwn(properties, name));
}

function isText(text: string, { minLength = 0, maxLength = Infinity, pattern = "" }: JsonSchema): boolean {
  return text.length >= minLength && text.length <= maxLength && new RegExp(pattern, "u").test(text);
}

/**
 * Returns all mutants of an object.
 *
 * @param object A valid object. It is not changed.
 * @param root The schema of the object.
 */
export function mutantsOf(object: Json, root: JsonSchema): Mutant[] {
  const found: Mutant[] = [];
  const walk = (value: unknown, schema: JsonSchema, path: readonly Step[]) => {
    for (const { name, at = [], apply } of changes(value, schema)) {
      const copy = structuredClone(object);
      apply(copy, path);
      found.push({ change: name, path: pathText([...path, ...at]), depth: path.length + at.length, object: copy });
    }
    if (Array.isArray(value) && schema.items !== undefined) {
      for (const [i, item] of value.entries()) walk(item, schema.items, [...path, i]);
    } else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        const child = schema.properties?.[name] ??
          (typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined);
        if (child !== undefined) walk(item, child, [...path, name]);
      }
    }
  };
  const spec = root.properties?.spec;
  if (spec !== undefined && object.spec !== undefined) walk(object.spec, spec, ["spec"]);
  return found;
}

interface Change {
  readonly name: string;
  readonly at?: readonly Step[];
  apply(object: Json, path: readonly Step[]): void;
}

function* changes(value: unknown, schema: JsonSchema): Generator<Change> {
  const to = (name: string, next: unknown): Change => ({ name, apply: (object, path) => set(object, path, next) });
  const { type, properties, additionalProperties } = schema;
  const isRuled = ["x-kubernetes-validations", "oneOf", "anyOf", "not", "allOf"].some((key) => key in schema);
  if (schema["x-kubernetes-int-or-string"] === true) {
    yield to("wrong type", true);
    if (schema.pattern !== undefined) yield to("pattern", "~");
  } else if (type !== undefined) yield to("wrong type", type === "string" ? 7 : type === "object" ? [] : "x");
  if (schema.nullable !== true) yield to("null", null);
  if (schema.enum !== undefined && type === "string") yield to("enum", "NoneOfThem");
  if (typeof value === "string" && type === "string" && schema.enum === undefined) {
    if (schema.minLength !== undefined && schema.minLength > 0) yield to("minLength", "");
    if (schema.maxLength !== undefined) yield to("maxLength", "a".repeat(schema.maxLength + 1));
    const bad = ["~!", " ", "A B", "-", "0x"].find((text) => !new RegExp(schema.pattern ?? "", "u").test(text));
    if (bad !== undefined) yield to("pattern", bad);
    if (schema.format === "date-time" || schema.format === "byte") yield to("format", "~");
    if (isRuled) yield to("rule", "~");
  }
  if (typeof value === "number") {
    if (schema.minimum !== undefined) yield to("minimum", schema.minimum - 1);
    if (schema.maximum !== undefined) yield to("maximum", schema.maximum + 1);
    if (type === "integer") yield to("fraction", 1.5);
    if (schema.format === "int32") yield to("format", 2 ** 40);
  }
  if (Array.isArray(value)) {
    if (schema.minItems !== undefined && schema.minItems > 0) yield to("minItems", value.slice(0, schema.minItems - 1));
    if (schema.maxItems !== undefined && value.length > 0) {
      yield to("maxItems", Array.from({ length: schema.maxItems + 1 }, (_, i) => value[i % value.length]));
    }
    const listType = schema["x-kubernetes-list-type"];
    if (value.length > 0 && (listType === "map" || listType === "set")) {
      yield to("duplicate", [...value, structuredClone(value[0])]);
    }
  }
  if (!isObject(value) || type !== "object") return;
  if (properties !== undefined && schema["x-kubernetes-preserve-unknown-fields"] !== true) {
    yield {
      name: "unknown field",
      at: ["unknownField"],
      apply: (object, path) => set(object, [...path, "unknownField"], 1),
    };
  }
  for (const name of Object.keys(value)) {
    const change = schema.required?.includes(name) ? "missing" : isRuled ? "rule" : undefined;
    if (change !== undefined) {
      yield {
        name: change,
        at: [name],
        apply: (object, path) => remove(object, [...path, name]),
      };
    }
  }
  if (isRuled) {
    for (const [name, child] of Object.entries(properties ?? {})) {
      if (value[name] !== undefined) continue;
      yield {
        name: "rule",
        at: [name],
        apply: (object, path) => set(object, [...path, name], minimalValue(child, FIRST)),
      };
    }
  }
  if (typeof additionalProperties === "object" && additionalProperties.type === "string") {
    yield { name: "wrong type", at: ["other"], apply: (object, path) => set(object, [...path, "other"], [1]) };
  }
}

function set(object: Json, path: readonly Step[], value: unknown): void {
  (holderOf(object, path) as Record<Step, unknown>)[path.at(-1)!] = value;
}

function remove(object: Json, path: readonly Step[]): void {
  delete (holderOf(object, path) as Record<Step, unknown>)[path.at(-1)!];
}

function holderOf(object: Json, path: readonly Step[]): unknown {
  return path.slice(0, -1).reduce<unknown>((value, step) => (value as Record<Step, unknown>)[step], object);
}

function pathText(path: readonly Step[]): string {
  return path.map((step, i) => (typeof step === "number" ? `[${step}]` : i === 0 ? step : `.${step}`)).join("");
}

/**
 * Selects mutants: equally many for each change, deep and flat ones, at different positions of the
 * schema if possible.
 *
 * @param all The mutants.
 * @param count Number of mutants to select.
 * @param random The random number generator.
 */
export function selectMutants(all: readonly Mutant[], count: number, random: Random): Mutant[] {
  const remaining = new Map<string, Mutant[]>();
  const places = new Set<string>();
  const shuffled = all.map((mutant) => ({ mutant, order: random.next() })).sort((a, b) => a.order - b.order);
  const repeated: Mutant[] = [];
  for (const { mutant } of shuffled) {
    const place = `${mutant.change} ${mutant.path.replaceAll(/\[\d+\]/g, "[]")}`;
    if (places.has(place)) repeated.push(mutant);
    else remaining.set(mutant.change, [...remaining.get(mutant.change) ?? [], mutant]);
    places.add(place);
  }
  const chosen: Mutant[] = [];
  for (let round = 0; chosen.length < count && [...remaining.values()].some(({ length }) => length > 0); round++) {
    for (const [change, mutants] of [...remaining].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (mutants.length === 0 || chosen.length === count) continue;
      // Every second one is the deepest.
      const next = round % 2 === 0 ? mutants.reduce((a, b) => (b.depth > a.depth ? b : a)) : mutants[0]!;
      chosen.push(next);
      remaining.set(change, mutants.filter((mutant) => mutant !== next));
    }
  }
  return [...chosen, ...repeated].slice(0, count);
}
