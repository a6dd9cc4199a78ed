import { area } from "../contract.ts";
import { definition } from "../definition.ts";
import { CRDS, type Recorder } from "../recorder.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Returns a schema with one field in `spec`. */
function field(schema: Schema): Schema {
  return object({ spec: object({ f: schema }) });
}

function object(properties: Record<string, Schema>, rest: Schema = {}): Schema {
  return { type: "object", properties, ...rest };
}

const TEXT = { type: "string" };
const RULE = { rule: "true" };

function listOf(items: Schema, rest: Schema = {}): Schema {
  return { type: "array", items, ...rest };
}

function listMapOf(keys: readonly string[], items: Schema): Schema {
  return listOf(items, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys });
}

/** Tries to define a kind with each schema, as a dry run. */
async function tryEach(api: Recorder, schemas: readonly Schema[]): Promise<void> {
  for (const schema of schemas) await api.post(`${CRDS}?dryRun=All`, definition("Nut", "nuts", { schema }));
}

/** Like {@linkcode tryEach}, for a kind with a status. */
async function tryWithStatus(api: Recorder, schemas: readonly Schema[]): Promise<void> {
  for (const schema of schemas) {
    const nuts = definition("Nut", "nuts", { schema });
    const versions = nuts.spec.versions.map((version) => ({ ...version, subresources: { status: {} } }));
    await api.post(`${CRDS}?dryRun=All`, { ...nuts, spec: { ...nuts.spec, versions } });
  }
}

/** Invalid schemas. */
export const rejectedSchemas = area("rejected schemas", {
  "a schema needs a type at each level": (api) =>
    tryEach(api, [
      {},
      { type: "string" },
      { type: "array", items: TEXT },
      { "x-kubernetes-preserve-unknown-fields": true },
      field({}),
      field({ description: "no type" }),
      field({ type: "strin" }),
      field({ type: "null" }),
      field({ type: "array" }),
      field(listOf({})),
      field(listOf({ type: "array" })),
      field({ type: "object", additionalProperties: {} }),
      field({ "x-kubernetes-preserve-unknown-fields": true }),
    ]),
  "properties exclude additionalProperties": (api) =>
    tryEach(api, [
      { type: "object", additionalProperties: true },
      { type: "object", additionalProperties: TEXT },
      field(object({ a: TEXT }, { additionalProperties: TEXT })),
      field(object({ a: TEXT }, { additionalProperties: false })),
      field(object({ a: TEXT }, { additionalProperties: true })),
      field({ type: "object", additionalProperties: false }),
      field({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
    ]),
  "keywords that structural schemas do not allow": (api) =>
    tryEach(api, [
      field({ $ref: "#/definitions/a" }),
      field({ ...TEXT, id: "a" }),
      field({ ...TEXT, $schema: "http://json-schema.org/draft-04/schema#" }),
      field({ type: "object", definitions: { a: TEXT } }),
      field({ type: "object", patternProperties: { "^a": TEXT } }),
      field({ type: "object", dependencies: { a: ["b"] } }),
      field({ type: "object", dependencies: { a: TEXT, b: { type: "strin" } } }),
      field(listOf(TEXT, { additionalItems: TEXT })),
      field({ type: "array", items: [TEXT, { type: "integer" }] }),
      field(listOf(TEXT, { uniqueItems: true })),
    ]),
  "logical junctors contain only validations": (api) =>
    tryEach(api, [
      field({ ...TEXT, anyOf: [{ type: "string" }] }),
      field({ ...TEXT, allOf: [{ title: "a", description: "b", default: "c", nullable: true }] }),
      field({ ...TEXT, oneOf: [{ minLength: 1, "x-kubernetes-validations": [RULE] }] }),
      field({ ...TEXT, not: { "x-kubernetes-int-or-string": true } }),
      field({
        type: "object",
        not: {
          "x-kubernetes-preserve-unknown-fields": true,
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-map-type": "atomic",
        },
      }),
      field(listOf(TEXT, { not: { "x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["a"] } })),
      field({ type: "object", anyOf: [{ additionalProperties: { minLength: 1 } }] }),
      field({ type: "object", anyOf: [{ additionalProperties: true }] }),
      field({ type: "object", anyOf: [{ additionalProperties: false }] }),
      field({ ...TEXT, allOf: [{ anyOf: [{ not: { title: "deep" } }] }] }),
      object({}, { anyOf: [{ properties: { metadata: { minProperties: 1 } } }] }),
    ]),
  "fields in junctors must be specified": (api) => {
    const checked = (rest: Schema) =>
      object({
        spec: object({
          a: TEXT,
          list: listOf(object({ b: TEXT })),
          map: { type: "object", additionalProperties: TEXT },
        }),
      }, rest);
    const spec = (properties: Schema) => ({ properties: { spec: { properties } } });
    return tryEach(api, [
      checked({ anyOf: [{ required: ["spec"] }, { required: ["other"] }] }),
      checked({ anyOf: [spec({ a: { minLength: 1 } })] }),
      checked({ anyOf: [spec({ b: { minLength: 1 } })] }),
      checked({ allOf: [spec({ a: { properties: { c: { minLength: 1 } } } })] }),
      checked({ oneOf: [spec({ list: { items: { properties: { b: { minLength: 1 }, x: { minLength: 1 } } } } })] }),
      checked({ not: spec({ a: { items: { minLength: 1 } } }) }),
      checked({ anyOf: [spec({ map: { properties: { b: { minLength: 1 } } } })] }),
      checked({ allOf: [{ anyOf: [{ not: { properties: { other: {} } } }] }] }),
    ]);
  },
  "junctors below the root are not checked": (api) =>
    tryEach(api, [
      field(object({ a: TEXT }, { anyOf: [{ properties: { b: { minLength: 1 } } }] })),
      field({ type: "object", not: { items: { minLength: 1 } } }),
    ]),
  "integers or strings": (api) =>
    tryEach(api, [
      field({ "x-kubernetes-int-or-string": true }),
      field({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }),
      field({
        "x-kubernetes-int-or-string": true,
        allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "^a" }],
      }),
      field({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "string" }, { type: "integer" }] }),
      field({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string", pattern: "^a" }] }),
      field({ "x-kubernetes-int-or-string": true, type: "string" }),
      field({ "x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true }),
      field({ "x-kubernetes-int-or-string": true, "x-kubernetes-embedded-resource": true, type: "object" }),
    ]),
  "the schema of metadata": (api) =>
    tryEach(api, [
      object({ metadata: { type: "object" } }),
      object({ metadata: object({ name: { type: "string", maxLength: 5 } }) }),
      object({ metadata: object({ name: TEXT, generateName: TEXT }) }),
      object({ metadata: object({ labels: { type: "object" } }) }),
      object({ metadata: object({ name: TEXT, labels: { type: "object" } }) }),
      object({ metadata: { type: "object", description: "mine" } }),
      object({ metadata: TEXT, kind: { type: "integer" }, apiVersion: { type: "object" } }),
      object({ metadata: object({ name: { type: "string", default: "a" } }) }),
      object({ kind: { type: "string", default: "Nut" } }),
      object({ apiVersion: { type: "string", enum: ["a"] } }),
    ]),
  "embedded resources": (api) =>
    tryEach(api, [
      field({ type: "object", "x-kubernetes-embedded-resource": true }),
      field({ "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }),
      field({ type: "string", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }),
      field({ type: "object", "x-kubernetes-embedded-resource": true, additionalProperties: TEXT }),
      field(object({ metadata: TEXT, kind: { type: "integer" } }, { "x-kubernetes-embedded-resource": true })),
      field(object({ metadata: object({ labels: { type: "object" } }) }, { "x-kubernetes-embedded-resource": true })),
      object({
        metadata: object({
          name: {
            type: "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
          },
        }),
      }),
      field(object({
        metadata: object({
          annotations: { type: "object", additionalProperties: { type: "string", default: "a" } },
        }),
      }, { "x-kubernetes-embedded-resource": true })),
    ]),
  "lists": (api) =>
    tryEach(api, [
      field({ ...TEXT, "x-kubernetes-list-type": "atomic" }),
      field({ "x-kubernetes-int-or-string": true, "x-kubernetes-list-type": "set" }),
      field(listOf(TEXT, { "x-kubernetes-list-type": "bag" })),
      field(listOf(object({}), { "x-kubernetes-list-type": "set" })),
      field(listOf(object({}, { "x-kubernetes-map-type": "atomic" }), { "x-kubernetes-list-type": "set" })),
      field(listOf(listOf(TEXT, { "x-kubernetes-list-type": "set" }), { "x-kubernetes-list-type": "set" })),
      field(listOf(listOf(TEXT), { "x-kubernetes-list-type": "set" })),
      field(listOf({ type: "string", nullable: true }, { "x-kubernetes-list-type": "set" })),
      field(listOf(TEXT, { "x-kubernetes-list-map-keys": ["a"] })),
      field(listOf(TEXT, { "x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["a"] })),
    ]),
  "lists by keys": (api) =>
    tryEach(api, [
      field(listMapOf([], object({ a: TEXT }))),
      field(listMapOf(["a"], TEXT)),
      field(listMapOf(["a"], { "x-kubernetes-preserve-unknown-fields": true })),
      field(listMapOf(["b"], object({ a: TEXT }))),
      field(listMapOf(["a"], object({ a: TEXT }))),
      field(listMapOf(["a"], object({ a: { type: "string", default: "x" } }))),
      field(listMapOf(["a"], object({ a: TEXT }, { required: ["a"] }))),
      field(listMapOf(["a", "a"], object({ a: TEXT }, { required: ["a"] }))),
      field(listMapOf(["a"], object({ a: { type: "object" } }, { required: ["a"] }))),
      field(listMapOf(["a"], object({ a: { type: "string", nullable: true } }, { required: ["a"] }))),
      field(listMapOf(["a"], object({ a: TEXT }, { required: ["a"], nullable: true }))),
      field({ type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] }),
    ]),
  "maps": (api) =>
    tryEach(api, [
      field({ ...TEXT, "x-kubernetes-map-type": "atomic" }),
      field({ "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic" }),
      field({ type: "object", "x-kubernetes-map-type": "set" }),
    ]),
  "patterns": (api) =>
    tryEach(api, [
      field({ type: "string", pattern: "(" }),
      field({ type: "string", pattern: "(?=a)" }),
      field({ type: "string", pattern: "(?<!a)b" }),
      field({ type: "string", pattern: "(a)\\1" }),
      field({ type: "string", pattern: "a{2,1}" }),
      field({ type: "string", pattern: "a{1001}" }),
      field({ type: "string", pattern: "[b-a]" }),
      field({ type: "string", pattern: "*" }),
      field({ type: "string", pattern: "[[:word:]]\\pL(?i:a)\\Q.\\E\\z" }),
      field({ ...TEXT, allOf: [{ pattern: "[" }] }),
    ]),
  "defaults": (api) =>
    tryEach(api, [
      field({ type: "integer", default: "x" }),
      field({ type: "integer", maximum: 3, default: 4 }),
      field({ type: "string", enum: ["a", "b"], default: "c" }),
      field(listOf(TEXT, { default: [1] })),
      field(object({ a: object({ b: { type: "integer" } }) }, { default: { a: { b: "x" } } })),
      field(object({ a: TEXT }, { default: { a: "x", c: 1 } })),
      field(object({ a: TEXT }, { required: ["a"], default: {} })),
      field({ type: "string", nullable: true, default: null }),
      field(listOf(object({ a: { type: "integer", default: "x" } }))),
      field({ type: "object", additionalProperties: { type: "integer", default: "x" } }),
      object({}, { default: {} }),
      object({ spec: { type: "object" } }, { default: { a: 1 } }),
    ]),
  "defaults of embedded resources": (api) => {
    const embedded = (rest: Schema) => field({ type: "object", "x-kubernetes-embedded-resource": true, ...rest });
    const open = { "x-kubernetes-preserve-unknown-fields": true };
    return tryEach(api, [
      embedded({ ...open, default: { kind: "A" } }),
      embedded({ ...open, default: { apiVersion: "v1", kind: "A", any: 1 } }),
      embedded({ ...open, default: { apiVersion: "a/b/c", kind: "a_b" } }),
      embedded({ properties: { kind: { type: "string", default: "a_b" } } }),
      embedded({ properties: { apiVersion: { type: "string", default: "" } } }),
    ]);
  },
  "invalid rules before compilation": (api) => {
    const rules = (...given: Schema[]) => field({ type: "string", maxLength: 9, "x-kubernetes-validations": given });
    return tryEach(api, [
      rules({ rule: "" }),
      rules({ rule: "  " }),
      rules({ rule: "true", message: " " }),
      rules({ rule: "true", message: "two\nlines" }),
      rules({ rule: "self ==\n 'a'" }),
      rules({ rule: "self ==\n 'a'", message: "a it is" }),
      rules({ rule: "true", messageExpression: " " }),
      rules({ rule: "true", reason: "FieldValueOdd" }),
      rules({ rule: "true", fieldPath: " " }),
      rules({ rule: "true", fieldPath: ".a\n" }),
      rules({ rule: "true", fieldPath: ".nowhere" }),
    ]);
  },
  "fieldPath of a rule must be a field": (api) => {
    const spec = (fieldPath: string) =>
      object({
        spec: object({ a: TEXT, "b-c": object({ d: TEXT }), m: { type: "object", additionalProperties: TEXT } }, {
          "x-kubernetes-validations": [{ rule: "true", fieldPath }],
        }),
      });
    const paths = [".a", ".a.b", "a", ".['b-c']", "['b-c']", "['b-c'].d", ".b-c.d", ".m.any", ".m['any']", ".m['a'].b"];
    return tryEach(api, [...paths, ".", "['a'", "[a]", "['\\q']", ".a[0]"].map(spec));
  },
  "rules that do not compile": (api) => {
    const rules = (...given: Schema[]) =>
      field(object({
        text: TEXT,
        short: { type: "string", maxLength: 5 },
        count: { type: "integer" },
        list: listOf(TEXT),
        few: listOf({ type: "string", maxLength: 5 }, { maxItems: 3 }),
      }, { "x-kubernetes-validations": given }));
    return tryEach(api, [
      rules({ rule: "self.siez > 0" }),
      rules({ rule: "self.count" }),
      rules({ rule: "self.count == 'a'" }),
      rules({ rule: "self.count > 0", messageExpression: "self.count" }),
      rules({ rule: "self.count > 0", messageExpression: "'' + nowhere" }),
      rules({ rule: "self.count > 0", optionalOldSelf: true }),
      rules({ rule: "self.list.all(a, self.list.all(b, a == b))" }),
      rules({ rule: "self.few.all(a, self.few.all(b, a == b))" }),
      rules({ rule: "self.text.matches('[')" }),
      rules({ rule: "true" }, { rule: "nowhere" }, { rule: "self.short.size() < 3 && oldSelf.short == 'a'" }),
      rules({ rule: "self.few.all(x, x.startsWith('a'))", reason: "FieldValueForbidden", fieldPath: ".few" }),
    ]);
  },
  "cost and comparisons of rules": (api) =>
    tryEach(api, [
      field(listOf({ ...TEXT, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] })),
      field(listOf({ ...TEXT, "x-kubernetes-validations": [{ rule: "self.contains('a')" }] })),
      field(listOf({
        ...TEXT,
        maxLength: 10,
        "x-kubernetes-validations": [{ rule: "self.contains('a')" }],
      }, { maxItems: 10 })),
      field(listMapOf(["a"], {
        ...object({ a: TEXT, b: TEXT }, { required: ["a"] }),
        "x-kubernetes-validations": [{ rule: "self.a == oldSelf.a" }],
      })),
      object({
        spec: object(Object.fromEntries(
          Array.from({ length: 4 }, (_, i) => [
            `list${i}`,
            listOf({ ...TEXT, "x-kubernetes-validations": [{ rule: "self.size() > 3" }] }),
          ]),
        )),
      }),
      object({ spec: { type: "object" } }, {
        "x-kubernetes-validations": [{ rule: "self.metadata.name != 'a' && self.kind == 'Nut' && has(self.spec)" }],
      }),
      object({ spec: { type: "object" } }, {
        "x-kubernetes-validations": [{ rule: "self.metadata.labels.size() > 0" }],
      }),
    ]),
  "defaults must satisfy rules": (api) =>
    tryEach(api, [
      field({ type: "integer", default: 1, "x-kubernetes-validations": [{ rule: "self > 1", message: "too few" }] }),
      field({ type: "integer", default: 1, "x-kubernetes-validations": [{ rule: "self >= oldSelf" }] }),
      field({
        type: "integer",
        default: 1,
        "x-kubernetes-validations": [{ rule: "oldSelf.hasValue()", optionalOldSelf: true }],
      }),
      field({ type: "integer", default: 1, "x-kubernetes-validations": [{ rule: "self.nowhere" }] }),
      field(
        object({ a: { type: "integer", "x-kubernetes-validations": [{ rule: "self > 1" }] } }, { default: { a: 0 } }),
      ),
    ]),
  "keywords at the root with a status subresource": (api) =>
    tryWithStatus(api, [
      object({ spec: { type: "object" } }, { oneOf: [{ required: ["spec"] }] }),
      object({ spec: { type: "object" } }, { "x-kubernetes-embedded-resource": true }),
      object({ spec: { type: "object" } }, { minProperties: 1 }),
      object({ spec: { type: "object" } }, { default: { spec: {} } }),
      object({ spec: { type: "object" } }, { nullable: true }),
      object({ spec: { type: "object" } }, { required: ["spec"], description: "fine", title: "Nut" }),
      { type: "array", items: TEXT },
    ]),
  "the root must not be nullable": (api) => tryEach(api, [object({}, { nullable: true })]),
  "several errors are reported together": (api) =>
    tryEach(api, [
      object({
        spec: object({
          a: { type: "array", uniqueItems: true, items: TEXT },
          b: { type: "object", "x-kubernetes-list-type": "bag" },
          c: { type: "string", nullable: true, allOf: [{ uniqueItems: true }] },
        }),
      }),
      object({ spec: object({ a: {}, b: { type: "array" }, c: { $ref: "#" } }) }),
      object({ spec: object({ a: {}, b: { type: "array" }, c: { type: "string", pattern: "(" } }) }),
    ]),
  "unknown formats cause warnings": (api) =>
    tryEach(api, [
      field({ type: "string", format: "colour" }),
      field({ type: "integer", format: "int8" }),
      field({ type: "number", format: "int32" }),
      field({ type: "object", format: "date" }),
      field({ type: "string", format: "date-time" }),
      object({
        spec: object({ a: { ...TEXT, format: "x" }, b: { ...TEXT, format: "x" }, c: listOf({ ...TEXT, format: "x" }) }),
      }),
    ]),
  "schemas that are not objects": (api) =>
    tryEach(api, [
      object({ spec: 3 as unknown as Schema }),
      object({ spec: { type: 3 } }),
      field(listOf({ type: 3 })),
      field({ type: "object", additionalProperties: { maxLength: 1.5 } }),
      field({ type: "object", additionalProperties: "yes" }),
      field({ type: "string", minLength: 1.5 }),
      field({ type: "string", enum: "a" }),
      field(listOf({ type: "string", other: 1 })),
      field({ type: "string", other: 1 }),
    ]),
});
