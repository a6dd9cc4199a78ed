/** Schemas of lists, objects and combinations, with one keyword each. */
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { COMBINATIONS } from "./_combinations.ts";
import { listNode, mapNode, objectNode, withKey, without } from "./_containers.ts";
import { type Node, node } from "./_node.ts";
import {
  boolean,
  changeOf,
  enumeration,
  integer,
  intOrString,
  type Maker,
  maximum,
  minLength,
  nullable,
  number,
  pattern,
  text,
} from "./_scalars.ts";
import type { Random } from "../fixtures/random.ts";

const SIMPLE: readonly Maker[] = [text, integer, boolean, minLength, maximum, pattern];

export const minItems: Maker = (random) => {
  const least = random.integer(1, 4);
  const item = random.pick(SIMPLE)(random);
  return listNode(item, {
    keywords: { minItems: least },
    length: [least, least + 2],
    violations: [changeOf("minItems", (random, valid) => (valid as unknown[]).slice(0, random.integer(0, least - 1)))],
  });
};

export const maxItems: Maker = (random) => {
  const most = random.integer(1, 4);
  const item = random.pick(SIMPLE)(random);
  return listNode(item, {
    keywords: { maxItems: most },
    length: [1, most],
    violations: [changeOf("maxItems", (random) => random.times(most + random.integer(1, 3), () => item.valid(random)))],
  });
};

export const minProperties: Maker = (random) => {
  const least = random.integer(1, 4);
  const node = mapNode(random.pick(SIMPLE)(random), { minProperties: least }, [least, least + 2]);
  return {
    ...node,
    violations: [
      ...node.violations,
      changeOf(
        "minProperties",
        (random, valid) => Object.fromEntries(Object.entries(valid as object).slice(0, random.integer(0, least - 1))),
      ),
    ],
  };
};

export const maxProperties: Maker = (random) => {
  const most = random.integer(1, 4);
  const value = random.pick(SIMPLE)(random);
  const node = mapNode(value, { maxProperties: most }, [1, most]);
  return {
    ...node,
    violations: [
      ...node.violations,
      changeOf(
        "maxProperties",
        (random) =>
          Object.fromEntries(random.times(most + random.integer(1, 3), (i) => [`k${i}`, value.valid(random)])),
      ),
    ],
  };
};

export const sizedObject: Maker = (random) => {
  const property = (name: string) => [name, { node: text(random) }] as const;
  const names = ["a", "b", "c", "d"];
  const node = objectNode(Object.fromEntries(names.map(property)), {
    keywords: { minProperties: 1, maxProperties: 3 },
  });
  const some = (random: Random, count: number) =>
    Object.fromEntries(names.slice(0, count).map((name) => [name, random.text(2)]));
  return {
    ...node,
    valid: (random) => some(random, random.integer(1, 3)),
    parts: [],
    violations: [
      ...node.violations.filter(({ keyword }) => keyword === "type"),
      changeOf("minProperties", () => ({})),
      changeOf("maxProperties", (random) => some(random, 4)),
    ],
  };
};

export const required: Maker = (random) => {
  const properties = random.times(random.integer(2, 4), (i) => {
    const name = random.pick(["name", "host-name", "a.b", "x/y", "\u00e9", "$ref", "length", "constructor"]) + i;
    return [name, { node: random.pick(SIMPLE)(random), required: i === 0 || random.chance(0.5) }] as const;
  });
  return objectNode(Object.fromEntries(properties));
};

/** Objects with defaults, also in lists, maps and nested objects. */
export const defaulted: Maker = (random) => {
  const inner = objectNode({
    plain: { node: text(random) },
    kept: { node: withDefault(integer(random), random.integer(1, 9)) },
    nullable: { node: withDefault(nullable(random), null) },
  });
  return objectNode({
    text: { node: withDefault(text(random), random.text(3)) },
    number: { node: withDefault(number(random), 0.5) },
    either: { node: withDefault(intOrString(random), random.pick<unknown>([5, "5%"])) },
    inner: { node: withDefault(inner, random.pick<unknown>([{}, { plain: "x" }, { plain: "y", kept: 0 }])) },
    list: { node: withDefault(listNode(inner), [{}, { kept: 10 }]) },
    items: { node: listNode(withDefault(integer(random), 7)) },
    map: { node: withDefault(mapNode(inner), random.pick<unknown>([{}, { a: {} }])) },
    values: { node: mapNode(withDefault(text(random), "v")) },
    free: { node: withDefault(free(random), { any: [1] }) },
  });
};

function withDefault(of: Node, value: unknown): Node {
  return { ...of, schema: { ...of.schema, default: value } };
}

/** Objects that preserve unknown fields. */
export const free: Maker = (random) => {
  const known = random.pick(SIMPLE)(random);
  const anything = (random: Random): unknown =>
    random.pick<unknown>([1, 0.5, "a", true, null, [], {}, [null, { a: null }], { b: { c: [1] } }, "\u{1f600}"]);
  return random.pick([
    () => {
      const object = objectNode({ known: { node: known } }, {
        keywords: { "x-kubernetes-preserve-unknown-fields": true },
      });
      return { ...object, valid: (random: Random) => withKey(object.valid(random), "unknown", anything(random)) };
    },
    () => node({ schema: { "x-kubernetes-preserve-unknown-fields": true }, valid: anything }),
    () =>
      node({
        schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        valid: (random) => ({ [random.text(2)]: anything(random) }),
      }),
    () => {
      // An object that declares its fields again.
      const strict = objectNode({ a: { node: text(random) } });
      const list = listNode(strict);
      return objectNode({ list: { node: list } }, { keywords: { "x-kubernetes-preserve-unknown-fields": true } });
    },
  ])();
};

export const set: Maker = (random) => {
  const item = random.pick([text, integer, number, boolean, enumeration, scalarList])(random);
  const distinct = (value: unknown, i: number) => {
    if (typeof value === "string") return `${value}${i}`;
    return Array.isArray(value) ? [...value, `${i}`] : i * 3;
  };
  const isFixed = item.schema.enum !== undefined || item.schema.type === "boolean";
  return listNode(item, {
    keywords: { "x-kubernetes-list-type": "set" },
    length: isFixed ? [1, 1] : [1, 4],
    distinct: isFixed ? (value) => value : distinct,
    violations: [
      changeOf("set", (random, valid) => {
        const list = valid as unknown[];
        const copies = random.times(random.integer(1, 3), () => list[0]);
        return random.chance(0.5) ? [...list, ...copies] : [...copies, ...list];
      }),
    ],
  });
};

const scalarList: Maker = () =>
  node({
    schema: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "atomic" },
    valid: (random) => random.times(random.integer(0, 2), () => random.text(2)),
  });

export const listMap: Maker = (random) => {
  const keys = random.pick<readonly string[]>([["name"], ["name", "port"], ["port", "protocol"], ["on"], ["protocol"]]);
  const isRequired = random.chance(0.5);
  const key = (name: string, of: Node) => ({
    node: isRequired || !keys.includes(name) ? of : withDefault(of, DEFAULTS[name]),
    required: isRequired && keys.includes(name),
  });
  const item = objectNode({
    name: key("name", text(random)),
    port: key("port", integer(random)),
    protocol: key(
      "protocol",
      node({ schema: { type: "string", enum: ["TCP", "UDP"] }, valid: (random) => random.pick(["TCP", "UDP"]) }),
    ),
    on: key("on", boolean(random)),
    other: { node: random.pick(SIMPLE)(random) },
  });
  const isFew = keys.length === 1 && keys[0] !== "name";
  return listNode(keyed(item, keys), {
    keywords: { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys },
    length: isFew ? [1, 1] : [1, 4],
    distinct: (value, i) => isFew ? value : distinctItem(value, keys, i),
    violations: [
      changeOf("map", (random, valid) => {
        const list = valid as unknown[];
        const copies = random.times(random.integer(1, 3), () => without(list[0], "other"));
        return [...list, ...copies];
      }),
    ],
  });
};

const DEFAULTS: Readonly<Record<string, unknown>> = { name: "main", port: 80, protocol: "TCP", on: true };

/** Violations of a missing key are counted separately. */
function keyed(item: Node, keys: readonly string[]): Node {
  const { required = [] } = item.schema;
  const missing = keys.filter((key) => required.includes(key)).map((key) =>
    changeOf("list map keys", (_, valid) => without(valid, key))
  );
  return { ...item, violations: [...item.violations, ...missing] };
}

function distinctItem(value: unknown, keys: readonly string[], i: number): unknown {
  return keys.includes("name") ? withKey(value, "name", `n${i}`) : withKey(value, "port", 1000 + i);
}

/** Embedded objects of other kinds. */
export const embedded: Maker = (random) => {
  const form = random.pick<JsonSchema>([
    { "x-kubernetes-preserve-unknown-fields": true },
    { properties: { spec: { type: "object", properties: { size: { type: "integer", default: 3 } } } } },
    {
      properties: {
        apiVersion: { type: "string", enum: ["v1"] },
        kind: { type: "string" },
        metadata: { type: "object" },
        data: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["apiVersion", "kind"],
    },
  ]);
  const set = (key: string, values: readonly unknown[]) =>
    changeOf("embedded resource", (random, valid) => withKey(valid, key, random.pick(values)));
  return node({
    schema: { type: "object", "x-kubernetes-embedded-resource": true, ...form },
    valid: (random) => ({
      apiVersion: "v1",
      kind: random.pick(["ConfigMap", "Pod"]),
      ...(random.chance(0.7) && { metadata: { name: random.text(4), labels: { [random.text(2)]: random.text(3) } } }),
      ...(random.chance(0.5) && form.properties?.spec && { spec: { size: 1 } }),
    }),
    violations: [
      changeOf("embedded resource", (random, valid) => without(valid, random.pick(["apiVersion", "kind"]))),
      set("apiVersion", ["", "a/b/c", "/v1/", 1]),
      set("kind", ["", "a_b", "9Lives", "-", true]),
      set("metadata", [
        { name: "a/b" },
        { name: ".." },
        { name: "a%b" },
        { labels: { "a b": "c" } },
        { labels: { a: "b c" } },
        { labels: { a: "x".repeat(64) } },
        { finalizers: ["no slash"] },
        { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "" }] },
        { ownerReferences: [{ apiVersion: "v1", kind: "", name: "", uid: "1" }] },
        { namespace: "A_b" },
        { generateName: "a/" },
        { generation: -1 },
      ]),
      changeOf("embedded metadata", (random, valid) =>
        withKey(
          valid,
          "metadata",
          random.pick<unknown>([
            3,
            [],
            { name: 3 },
            { labels: { a: 1 } },
            { labels: [] },
            { unknown: 1 },
            { creationTimestamp: "yesterday" },
            { creationTimestamp: 3 },
            { deletionTimestamp: "2024-13-01T00:00:00Z" },
            { generation: 1.5 },
            { managedFields: [{ time: "x" }] },
            { ownerReferences: [{ uid: true }] },
            { ownerReferences: [{ other: 1 }] },
          ]),
        )),
    ],
    doubtful: [
      set("metadata", [
        null,
        {},
        { annotations: { "a b": "c" } },
        { creationTimestamp: null },
        {
          creationTimestamp: "0001-01-01T00:00:00Z",
        },
        { deletionTimestamp: "2024-01-01T00:30:00.5+01:00" },
        { labels: { a: null } },
        { name: "" },
        {
          managedFields: [],
        },
        {
          uid: "x",
          selfLink: "y",
        },
      ]),
      set("apiVersion", ["v1", "a/b", "a/", "/b", null]),
      set("kind", ["X", null, "x".repeat(70)]),
    ],
  });
};

/** All makers of this file. */
export const STRUCTURES: readonly Maker[] = [
  minItems,
  maxItems,
  minProperties,
  maxProperties,
  sizedObject,
  required,
  defaulted,
  free,
  set,
  listMap,
  embedded,
  ...Object.keys(COMBINATIONS).map((keyword): Maker => (random) => combination(keyword, random)),
];

function combination(keyword: string, random: Random): Node {
  const { schema, valid, invalid } = random.pick(COMBINATIONS[keyword]!);
  return node({
    schema,
    valid: (random) => random.pick(valid),
    violations: [changeOf(keyword, (random) => random.pick(invalid))],
  });
}
