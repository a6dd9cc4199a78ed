/** Validation by keyword, in addition to those of widgets. */
import { area } from "../contract.ts";
import { CRDS, JSON_PATCH, type Recorder } from "../recorder.ts";
import {
  COUNT,
  define,
  mapList,
  object,
  objectOf,
  path,
  type Schema,
  type Subject,
  TEXT,
  tryEach,
} from "./_kinds_with_rules.ts";

/** Tries to create objects with values of the field `spec.v`, with a kind for the case. */
async function tryValues(subject: Subject, schema: Schema, values: readonly unknown[]): Promise<void> {
  await define(subject, object({ spec: object({ v: schema }) }));
  await tryEach(subject, values.map((v) => ({ v })));
}

/** Returns a case that validates each string in each format. */
function formats(kind: string, names: readonly string[], texts: readonly string[]): (api: Recorder) => Promise<void> {
  return async (api) => {
    const subject = { api, kind, plural: `${kind.toLowerCase()}s` };
    const fields = names.map((format): [string, Schema] => [format.replaceAll("-", ""), { type: "string", format }]);
    await define(subject, object({ spec: object(Object.fromEntries(fields)) }));
    await tryEach(subject, texts.map((text) => Object.fromEntries(fields.map(([name]) => [name, text]))));
  };
}

/** Validation of values by keyword. */
export const values = area("values", {
  "formats of times": formats("Aronia", ["date", "date-time", "datetime", "duration"], [
    "2026-01-31",
    "2026-02-30",
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.123+02:00",
    "2026-01-01 00:00:00Z",
    "2026-13-01T00:00:00Z",
    "1h30m",
    "5 days",
    "-3s",
    "1.5h",
    "",
  ]),
  "formats of addresses": formats("Acai", ["ipv4", "ipv6", "cidr", "mac", "hostname", "uri", "email"], [
    "10.0.0.1",
    "010.0.0.1",
    "::1",
    "::ffff:10.0.0.1",
    "fe80::1%eth0",
    "10.0.0.0/8",
    "10.0.0.0/33",
    "00:00:5e:00:53:01",
    "a-b.example.com",
    "-a.example.com",
    "https://example.com/a?b#c",
    "/only/a/path",
    "a@example.com",
    "A <a@example.com>",
    "",
  ]),
  "formats of identifiers": formats("Bilberry", ["uuid", "uuid3", "uuid4", "uuid5", "bsonobjectid"], [
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "F47AC10B-58CC-4372-A567-0E02B2C3D479",
    "f47ac10b58cc4372a5670e02b2c3d479",
    "6fa459ea-ee8a-3ca4-894e-db77e160355e",
    "886313e1-3b8a-5372-9b90-0c9aee199e5d",
    "507f1f77bcf86cd799439011",
    "x",
    "",
  ]),
  "formats of strings": formats("Cloudberry", ["byte", "password", "isbn", "isbn10", "isbn13", "creditcard", "ssn"], [
    "aGk=",
    "aGk",
    "not base64!",
    "0-306-40615-2",
    "978-0-306-40615-7",
    "4111 1111 1111 1111",
    "111-22-3333",
    "",
  ]),
  "formats of colors": formats("Elderberry", ["hexcolor", "rgbcolor"], [
    "#fff",
    "#FFFFFF",
    "fff",
    "#ggg",
    "rgb(1,2,3)",
    "rgb(256,2,3)",
    "rgb(1, 2, 3)",
  ]),
  "formats of numbers": async (api) => {
    const subject = { api, kind: "Feijoa", plural: "feijoas" };
    const [int32, int64] = [{ type: "integer", format: "int32" }, { type: "integer", format: "int64" }];
    const [float, double] = [{ type: "number", format: "float" }, { type: "number", format: "double" }];
    await define(subject, object({ spec: object({ int32, int64, float, double }) }));
    const each = (v: number) => ({ int32: v, int64: v, float: v, double: v });
    await tryEach(subject, [2147483647, 2147483648, -2147483649, 1e300, 0.5, 1e15].map(each));
  },
  "oneOf": (api) =>
    tryValues({ api, kind: "Gooseberry", plural: "gooseberries" }, {
      type: "string",
      maxLength: 9,
      oneOf: [{ pattern: "^a" }, { pattern: "b$" }],
    }, ["a", "b", "ab", "c"]),
  "anyOf": (api) =>
    tryValues({ api, kind: "Huckleberry", plural: "huckleberries" }, {
      ...object({ a: COUNT, b: TEXT }),
      anyOf: [{ required: ["a"] }, { required: ["b"], properties: { b: { minLength: 3 } } }],
    }, [{ a: 1 }, { b: "xyz" }, { b: "x" }, {}, { a: 1, b: "x" }]),
  "allOf and not": (api) =>
    tryValues({ api, kind: "Jujube", plural: "jujubes" }, {
      type: "integer",
      allOf: [{ minimum: 2 }, { maximum: 8 }],
      not: { multipleOf: 3 },
    }, [1, 2, 6, 8, 9]),
  "alternatives within alternatives": (api) =>
    tryValues({ api, kind: "Kiwano", plural: "kiwanos" }, {
      ...object({ kind: TEXT, size: COUNT }),
      oneOf: [
        { properties: { kind: { enum: ["a"] } }, required: ["kind"], not: { required: ["size"] } },
        { allOf: [{ properties: { kind: { enum: ["b"] } } }, { anyOf: [{ required: ["size"] }] }] },
      ],
    }, [{ kind: "a" }, { kind: "a", size: 1 }, { kind: "b", size: 1 }, { kind: "b" }, {}]),
  "null in nullable and other fields": async (api) => {
    const nullable = (schema: Schema) => ({ ...schema, nullable: true });
    await tryValues(
      { api, kind: "Kumquat", plural: "kumquats" },
      object({
        text: nullable(TEXT),
        list: nullable({ type: "array", items: nullable(TEXT) }),
        plain: { type: "array", items: TEXT },
        map: { type: "object", additionalProperties: nullable(COUNT) },
        filled: nullable({ ...COUNT, default: 7 }),
        never: { ...COUNT, default: 7 },
      }),
      [
        { text: null, list: null, map: { a: null }, filled: null, never: null },
        { list: [null, "a"], plain: [null] },
        { plain: null, map: null },
        null,
      ],
    );
  },
  "defaults within lists, maps and defaults": (api) =>
    tryValues(
      { api, kind: "Lingonberry", plural: "lingonberries" },
      object({
        list: { type: "array", items: object({ a: { ...COUNT, default: 1 }, b: { ...TEXT, default: "x" } }) },
        map: { type: "object", additionalProperties: object({ a: { ...COUNT, default: 2 } }) },
        deep: object({ deeper: object({ a: { ...COUNT, default: 3 } }, { default: {} }) }, { default: {} }),
        whole: { type: "array", items: COUNT, default: [1, 2] },
      }),
      [{}, { list: [{}, { a: 5 }], map: { k: {}, l: { a: 6 } } }, { deep: {}, whole: [] }, { deep: { deeper: {} } }],
    ),
  "unknown fields are dropped or kept at each level": (api) =>
    tryValues(
      { api, kind: "Loganberry", plural: "loganberries" },
      object({
        closed: object({ a: COUNT }),
        open: object({ a: COUNT, inner: object({ b: COUNT }) }, { "x-kubernetes-preserve-unknown-fields": true }),
        list: { type: "array", items: object({ a: COUNT }) },
        map: { type: "object", additionalProperties: object({ a: COUNT }) },
      }),
      [
        { closed: { a: 1, z: 1 }, open: { z: { y: 1 }, inner: { b: 1, z: 1 } }, other: 1 },
        { list: [{ a: 1, z: 1 }, { z: 1 }], map: { k: { a: 1, z: 1 } } },
      ],
    ),
  "embedded resources": (api) =>
    tryValues(
      { api, kind: "Longan", plural: "longans" },
      {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
      },
      [
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } },
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "A b" } },
        { kind: "ConfigMap" },
        { apiVersion: "v1" },
        { apiVersion: "a/b/c", kind: "K" },
        { apiVersion: "v1", kind: "K", metadata: { labels: { "a b": "c" }, other: 1 } },
        { apiVersion: "v1", kind: "K", metadata: 3 },
      ],
    ),
  "integers or strings": (api) =>
    tryValues(
      { api, kind: "Mulberry", plural: "mulberries" },
      object({
        plain: { "x-kubernetes-int-or-string": true },
        bound: { "x-kubernetes-int-or-string": true, minimum: 1, maxLength: 3, pattern: "^\\d+%?$" },
        choice: {
          "x-kubernetes-int-or-string": true,
          anyOf: [{ type: "integer" }, { type: "string" }],
          enum: [1, "one"],
        },
      }),
      [
        { plain: 1, bound: 0, choice: 1 },
        { plain: "1", bound: "50%", choice: "one" },
        { bound: "x" },
        { bound: "1000", choice: "1" },
        { plain: [], bound: true, choice: 1.5 },
      ],
    ),
  "enumerations of all types": (api) =>
    tryValues(
      { api, kind: "Naranjilla", plural: "naranjillas" },
      object({
        number: { type: "number", enum: [1, 2.5] },
        flag: { type: "boolean", enum: [true] },
        list: { type: "array", items: COUNT, enum: [[1, 2], []] },
        map: { ...object({ a: COUNT }), enum: [{ a: 1 }] },
        maybe: { ...TEXT, nullable: true, enum: ["a", null] },
      }),
      [
        { number: 1.0, flag: true, list: [1, 2], map: { a: 1 }, maybe: null },
        { number: 2, flag: false, list: [2, 1], map: { a: 2 }, maybe: "b" },
        { list: [], map: {} },
      ],
    ),
  "patterns and lengths count characters": (api) =>
    tryValues(
      { api, kind: "Nectarine", plural: "nectarines" },
      object({
        length: { type: "string", minLength: 2, maxLength: 3 },
        word: { type: "string", pattern: "^\\p{L}+$" },
        part: { type: "string", pattern: "b" },
        any: { type: "string", pattern: "(?i)^AB?$" },
      }),
      [
        { length: "äö", word: "äö", part: "abc", any: "Ab" },
        { length: "😀", word: "a1", part: "ac", any: "abc" },
        { length: "😀😀😀😀", word: "", part: "", any: "" },
      ],
    ),
  "multiples, bounds and large numbers": (api) =>
    tryValues(
      { api, kind: "Pequi", plural: "pequis" },
      object({
        step: { type: "number", multipleOf: 0.1 },
        whole: { type: "integer", multipleOf: 4 },
        open: { type: "number", minimum: -1, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
        half: { type: "integer", minimum: 1.5 },
      }),
      [
        { step: 0.3, whole: 8, open: 0, half: 2 },
        { step: 0.35, whole: 6, open: 1, half: 1 },
        { step: 1e-7, whole: -4, open: -1 },
        { whole: 9007199254740992, half: 9007199254740993 },
      ],
    ),
  "sets, list maps and atomic lists": (api) =>
    tryValues(
      { api, kind: "Physalis", plural: "physales" },
      object({
        set: { type: "array", "x-kubernetes-list-type": "set", items: TEXT },
        map: mapList(object({ k: TEXT, v: COUNT }, { required: ["k"] })),
        atom: { type: "array", "x-kubernetes-list-type": "atomic", items: TEXT },
        both: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["a", "b"],
          items: object({ a: COUNT, b: { ...TEXT, default: "x" } }, { required: ["a"] }),
        },
      }),
      [
        { set: ["a", "b", "a", "a"], atom: ["a", "a"] },
        { map: [{ k: "a" }, { k: "b" }, { k: "a", v: 1 }] },
        { map: [{ v: 1 }, {}] },
        { both: [{ a: 1 }, { a: 1, b: "x" }, { a: 1, b: "y" }] },
      ],
    ),
  "numbers of items and properties of nested values": (api) =>
    tryValues(
      { api, kind: "Pitaya", plural: "pitayas" },
      {
        type: "array",
        maxItems: 2,
        items: { type: "object", minProperties: 1, maxProperties: 2, additionalProperties: COUNT },
      },
      [[{ a: 1 }], [{}], [{ a: 1, b: 2, c: 3 }], [{ a: 1 }, { b: 1 }, { c: 1 }]],
    ),
  "required fields with defaults": (api) =>
    tryValues(
      { api, kind: "Plantain", plural: "plantains" },
      object({ a: COUNT, b: { ...COUNT, default: 2 }, inner: object({ c: TEXT }, { required: ["c"] }) }, {
        required: ["a", "b", "inner"],
      }),
      [{ a: 1, inner: { c: "" } }, { inner: {} }, {}, { a: null, b: null, inner: null }],
    ),
  "invalid values are allowed until they are changed": async (api) => {
    const subject = { api, kind: "Pomelo", plural: "pomelos" };
    const schema = (most: number): Schema =>
      object({
        spec: object({
          n: { type: "integer", maximum: most },
          list: { type: "array", items: { type: "integer", maximum: most } },
          map: mapList(object({ k: TEXT, n: { type: "integer", maximum: most } }, { required: ["k"] })),
          word: { type: "string", maxLength: most },
        }),
      });
    await define(subject, schema(100));
    const spec = { n: 50, list: [50], map: [{ k: "a", n: 50 }], word: "x".repeat(50) };
    await api.quietly("POST", path(subject), objectOf(subject, "a", { spec }));
    await api.quietly("PATCH", definitionOf(subject), schemaPatch(schema(10)), {
      contentType: JSON_PATCH,
    });
    await untilRejected(subject, spec);
    for (
      const change of [
        { word: "y" },
        { n: 51 },
        { list: [50, 1] },
        { list: [50] },
        { map: [{ k: "b", n: 1 }, { k: "a", n: 50 }] },
        { map: [{ k: "a", n: 49 }] },
      ]
    ) await api.merge(`${path(subject, "a")}?dryRun=All`, { spec: change });
  },
});

/** Waits until the changed schema takes effect, which makes the given spec invalid. */
async function untilRejected(subject: Subject, spec: unknown): Promise<void> {
  const attempt = objectOf(subject, "attempt", { spec });
  const isAccepted = () =>
    subject.api.quietly("POST", `${path(subject)}?dryRun=All`, attempt).then(() => true, () => false);
  while (await isAccepted()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Returns the path of the definition of a kind. */
function definitionOf({ plural }: Subject): string {
  return `${CRDS}/${plural}.fruit.example.com`;
}

/** Returns a patch that replaces the schema of a definition. */
function schemaPatch(schema: Schema): unknown {
  return [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: schema }];
}
