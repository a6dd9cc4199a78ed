import { area } from "../contract.ts";
import { definition, FRUIT_VERSION } from "../definition.ts";
import { CRDS } from "../recorder.ts";
import {
  COUNT,
  define,
  mapList,
  object,
  objectOf,
  path,
  type Schema,
  TEXT,
  tryEach,
  withRules,
} from "./_kinds_with_rules.ts";

/** Values of CEL rules. */
export const ruleValues = area("rules", {
  "names in rules": async (api) => {
    const subject = { api, kind: "Chestnut", plural: "chestnuts" };
    const names = ["a-b", "a.b", "a/b", "a__b", "namespace", "if", "true"];
    await define(
      subject,
      withRules(
        object({
          spec: withRules(
            object(Object.fromEntries(names.map((name) => [name, COUNT]))),
            "!has(self.a__dash__b) || self.a__dash__b > 0",
            "!has(self.a__dot__b) || self.a__dot__b > 0",
            "!has(self.a__slash__b) || self.a__slash__b > 0",
            "!has(self.a__underscores__b) || self.a__underscores__b > 0",
            "!has(self.namespace) || self.namespace > 0",
            "!has(self.__if__) || self.__if__ > 0",
            "!has(self.__true__) || self.__true__ > 0",
          ),
        }),
        "self.kind == 'Chestnut' && self.apiVersion.endsWith('/v1') && self.metadata.name.size() < 4",
        { rule: "!has(self.metadata.generateName)", message: "no generated names" },
      ),
    );
    await tryEach(subject, names.map((name) => ({ [name]: 0 })));
    await api.post(path(subject), objectOf(subject, "toolong", {}));
    await api.post(`${path(subject)}?dryRun=All`, {
      apiVersion: FRUIT_VERSION,
      kind: subject.kind,
      metadata: { name: "g", generateName: "g" },
    });
  },
  "times, durations and bytes": async (api) => {
    const subject = { api, kind: "Pistachio", plural: "pistachios" };
    const format = (name: string) => ({ type: "string", format: name });
    await define(
      subject,
      object({
        spec: withRules(
          object({ at: format("date-time"), day: format("date"), span: format("duration"), bytes: format("byte") }),
          "!has(self.at) || self.at > timestamp('2024-01-01T00:00:00Z')",
          { rule: "!has(self.at) || self.at.getHours() == 1", messageExpression: "string(self.at)" },
          { rule: "!has(self.day) || self.day.getFullYear() == 2024", messageExpression: "string(self.day)" },
          { rule: "!has(self.span) || self.span < duration('2h')", messageExpression: "string(self.span)" },
          "!has(self.bytes) || self.bytes == b'text'",
        ),
      }),
    );
    await tryEach(subject, [
      { at: "2023-12-31T23:00:00Z", day: "2023-02-28" },
      { at: "2024-06-01T01:02:03.5+01:00" },
      { at: "2024-06-01t01:02:03z" },
      { span: "3 days" },
      { span: "90m" },
      { span: "2h1s", bytes: "dGV4dA==" },
      { bytes: "AAAA" },
    ]);
  },
  "rules that exceed the cost limit at run time": async (api) => {
    const subject = { api, kind: "Pinenut", plural: "pinenuts" };
    await define(
      subject,
      object({
        spec: withRules(
          object({
            list: { type: "array", maxItems: 1000, items: { ...TEXT, maxLength: 3 } },
            last: withRules(TEXT, "self != 'x'"),
          }),
          {
            rule: "!has(self.list) || self.list.all(a, self.list.all(b, a.size() + b.size() > 0))",
            message: "too much",
          },
          { rule: "!has(self.last)", message: "not asked any more" },
        ),
      }),
    );
    const list = (count: number) => Array.from({ length: count }, (_, i) => String(i % 1000));
    for (const count of [10, 300, 600]) await tryEach(subject, [{ list: list(count), last: "x" }]);
  },
  "rules whose estimated cost is too high": async (api) => {
    const list = (rest: Schema, items: Schema) => ({ type: "array", items, ...rest });
    const pairs = "self.all(a, self.all(b, a != b || true))";
    const schemas: Schema[] = [
      object({ spec: withRules(object({ l: list({}, { type: "string" }) }), "self.l.all(x, x.matches('^a'))") }),
      object({ spec: object({ l: withRules(list({ maxItems: 200 }, TEXT), pairs) }) }),
      object({ spec: object({ l: withRules(list({ maxItems: 1500 }, TEXT), pairs) }) }),
      object({ spec: object({ l: list({}, withRules(object({ s: { type: "string" } }), "self.s.contains('a')")) }) }),
      object({
        spec: object({
          m: {
            type: "object",
            maxProperties: 20,
            additionalProperties: withRules(list({ maxItems: 500 }, TEXT), pairs),
          },
        }),
      }),
      object({
        spec: object(
          Object.fromEntries(
            Array.from(
              { length: 6 },
              (_, i) => [`l${i}`, withRules(list({ maxItems: 700 + i }, { ...TEXT, maxLength: 8 }), pairs)],
            ),
          ),
        ),
      }),
      object({
        spec: withRules(object({ s: { type: "string" } }), {
          rule: "true",
          messageExpression: "self.s + self.s + self.s",
        }),
      }),
      object({
        spec: withRules(object({ s: { type: "string" } }), {
          rule: "true",
          messageExpression: "[1,2,3].map(i, self.s + self.s + self.s + self.s).join(self.s)",
        }),
      }),
    ];
    for (const schema of schemas) {
      await api.post(`${CRDS}?dryRun=All`, definition("Macadamia", "macadamias", { schema }));
    }
  },
  "sets and list maps are compared and concatenated without order": async (api) => {
    const subject = { api, kind: "Coconut", plural: "coconuts" };
    const keyed = mapList(object({ k: TEXT, v: COUNT }, { required: ["k"] }));
    await define(
      subject,
      object({
        spec: withRules(
          object({
            set: { type: "array", maxItems: 9, "x-kubernetes-list-type": "set", items: TEXT },
            a: keyed,
            b: keyed,
            plain: { type: "array", maxItems: 9, items: TEXT },
          }),
          "!has(self.set) || self.set == ['a', 'b']",
          "!has(self.set) || (self.set + ['c', 'a']).size() == 3",
          "!has(self.plain) || self.plain == ['a', 'b']",
          { rule: "!has(self.a) || !has(self.b) || dyn(self.a) == dyn(self.b)", message: "a is not b" },
          { rule: "!has(self.a) || !has(self.b) || (dyn(self.a) + dyn(self.b)).size() < 3", message: "three keys" },
        ),
      }),
    );
    await tryEach(subject, [
      { set: ["b", "a"] },
      { set: ["a", "c"] },
      { plain: ["b", "a"] },
      { a: [{ k: "x", v: 1 }, { k: "y" }], b: [{ k: "y" }, { k: "x", v: 1 }] },
      { a: [{ k: "x", v: 1 }, { k: "y" }], b: [{ k: "z" }, { k: "x", v: 1 }] },
      { a: [{ k: "x", v: 1 }], b: [{ k: "x", v: 2 }] },
    ]);
  },
  "embedded resources": async (api) => {
    const subject = { api, kind: "Beech", plural: "beeches" };
    await define(
      subject,
      object({
        spec: object({
          open: {
            type: "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
          },
          known: withRules(
            object({ spec: object({ n: COUNT }) }, { "x-kubernetes-embedded-resource": true }),
            "self.kind == 'Known' && (!has(self.metadata.name) || self.metadata.name.size() < 3)",
          ),
        }),
      }),
    );
    const ok = { apiVersion: "v1", kind: "Known" };
    await tryEach(subject, [
      { open: ok, known: ok },
      { open: {}, known: { kind: "Other", apiVersion: "a/b" } },
      { open: { apiVersion: "a/b/c", kind: "_" } },
      { open: { apiVersion: 1, kind: "A" } },
      {
        open: { ...ok, metadata: { name: "a/b", labels: { "-": "b" }, annotations: { "a b": "" }, finalizers: ["x"] } },
      },
      { open: { ...ok, metadata: { name: 5 } } },
      { open: { ...ok, metadata: "x" } },
      { open: { ...ok, metadata: { nom: "x", labels: { a: 1 } } } },
      { known: { ...ok, metadata: { name: "long", nom: "x" }, spec: { n: 1, m: 2 } } },
      { known: { ...ok, metadata: { namespace: "N", generateName: "/" } } },
    ]);
  },
  "numbers of Go types": async (api) => {
    const subject = { api, kind: "Hickory", plural: "hickories" };
    await define(
      subject,
      object({
        spec: object({
          int: { type: "integer", minimum: -3, maximum: 1_000_000 },
          small: { type: "integer", format: "int32" },
          number: { type: "number", maximum: 2_500_000.5, minimum: 0.5, exclusiveMinimum: true },
          half: { type: "number", multipleOf: 0.5 },
          three: { type: "integer", multipleOf: 3 },
          float: { type: "number", format: "float" },
          one: { type: "number", enum: [1, 2] },
          either: { "x-kubernetes-int-or-string": true, pattern: "^[0-9]+%$", maximum: 3 },
          address: { type: "string", format: "ipv4" },
          maybe: { type: "string", nullable: true, enum: ["a"] },
          any: { "x-kubernetes-preserve-unknown-fields": true, minimum: 1, minLength: 2, maxItems: 1 },
        }),
      }),
    );
    await tryEach(subject, [
      { int: 1_000_001, small: 2 ** 31, number: 3_000_000 },
      { int: 2 ** 60, number: 0.5 },
      { int: 1.5, number: 1e21, small: 1e20 },
      { half: 1.25, three: 4 },
      { half: 3 },
      { half: 2.5, three: -9, float: 1e39 },
      { one: 1.5 },
      { one: 3 },
      { either: "5" },
      { either: 4 },
      { either: "5%", address: 5 },
      { address: [1], maybe: null },
      { address: true, maybe: "b" },
      { any: 0 },
      { any: "é" },
      { any: [1, 2] },
      { int: "1", half: "x", one: "1" },
    ]);
  },
});
