import { area } from "../contract.ts";
import { definition } from "../definition.ts";
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
  tryChanges,
  tryEach,
  withRules,
  withStatus,
} from "./_kinds_with_rules.ts";

/** CEL rules and their messages. */
export const rules = area("rules", {
  "messages of rules": async (api) => {
    const subject = { api, kind: "Acorn", plural: "acorns" };
    const failingRule = "self.size > 9";
    await define(
      subject,
      object({
        spec: withRules(
          object({
            size: COUNT,
            name: TEXT,
            long: { type: "string", maxLength: 6000 },
            map: { type: "object", additionalProperties: COUNT },
          }),
          failingRule,
          `  ${failingRule}  `,
          { rule: failingRule, message: "  too small " },
          { rule: failingRule, messageExpression: "'it is ' + self.name" },
          { rule: failingRule, message: "plain", messageExpression: "string(1 / (self.size - 1))" },
          { rule: failingRule, message: "plain", messageExpression: "''" },
          { rule: failingRule, message: "plain", messageExpression: "'two\\nlines'" },
          { rule: failingRule, message: "plain", messageExpression: "self.long" },
          { rule: failingRule, message: "plain", messageExpression: "' trimmed '" },
          ...["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"].map((
            reason,
          ) => ({
            rule: failingRule,
            reason,
          })),
          { rule: failingRule, fieldPath: ".size" },
          { rule: failingRule, fieldPath: ".map.a", reason: "FieldValueForbidden" },
          { rule: failingRule, fieldPath: ".map['a b']" },
          { rule: failingRule, fieldPath: "['name']" },
        ),
      }),
    );
    await tryEach(subject, [
      { size: 1 },
      { size: 2, name: "x", long: "x".repeat(5121) },
      { size: 2, name: "\n", long: "x".repeat(5120) },
      { size: 10 },
      {},
    ]);
  },
  "rules at every level": async (api) => {
    const subject = { api, kind: "Almond", plural: "almonds" };
    const even = "self % 2 == 0";
    await define(
      subject,
      object({
        spec: object({
          one: withRules(COUNT, even),
          text: withRules(TEXT, "self.startsWith('a')", { rule: "self.size() < 3", reason: "FieldValueDuplicate" }),
          list: { type: "array", maxItems: 5, items: withRules(COUNT, even) },
          map: { type: "object", maxProperties: 5, additionalProperties: withRules(COUNT, even) },
          deep: {
            type: "array",
            maxItems: 3,
            items: object({
              list: { type: "array", maxItems: 3, items: withRules(object({ n: COUNT }), "self.n > 0") },
            }),
          },
          whole: withRules({ type: "array", maxItems: 5, items: TEXT }, "self.size() != 2"),
          either: withRules(
            { "x-kubernetes-int-or-string": true },
            "type(self) == int ? self > 0 : self.endsWith('%')",
          ),
          maybe: withRules({ ...TEXT, nullable: true }, "self != 'x'"),
          flag: withRules({ type: "boolean" }, "self"),
          part: withRules({ type: "number" }, "self < 1.0"),
        }),
      }, {
        "x-kubernetes-validations": [{
          rule: "self.metadata.name != 'try' || !has(self.spec.one) || self.spec.one < 8",
          message: "of the name",
        }],
      }),
    );
    await tryEach(subject, [
      { one: 1, text: "bcd", list: [1, 2, 3], map: { a: 1, "b c": 3 } },
      { deep: [{ list: [{ n: 1 }, { n: 0 }, {}] }], whole: ["a", "b"] },
      { either: 0 },
      { either: "5" },
      { either: "5%", maybe: null, flag: true, part: 0.5 },
      { maybe: "x", flag: false, part: 1.5 },
      { one: 8 },
    ]);
  },
  "rules that fail to evaluate": async (api) => {
    const subject = { api, kind: "Brazil", plural: "brazils" };
    await define(
      subject,
      object({
        spec: withRules(
          object({
            a: COUNT,
            b: COUNT,
            list: { type: "array", items: COUNT, maxItems: 9 },
            either: { "x-kubernetes-int-or-string": true },
            bytes: { type: "string", format: "byte" },
          }),
          "!has(self.a) || self.a / self.b > 0",
          "!has(self.list) || self.list[2] > 0",
          "!has(self.either) || self.either > 3",
          "!has(self.a) || self.a + 9223372036854775807 > 0",
          "!has(self.bytes) || self.bytes.size() > 1",
          { rule: "!has(self.b) || [1][self.b] > 0", message: "of its own" },
        ),
      }),
    );
    await tryEach(subject, [{ a: 1 }, { a: 1, b: 0 }, { a: -1, b: 1 }, { list: [1] }, { either: "x" }, { either: 4 }, {
      bytes: "a+==",
    }, { bytes: "dGV4dA==" }]);
  },
  "rules do not run on values of a wrong type": async (api) => {
    const subject = { api, kind: "Cashew", plural: "cashews" };
    await define(
      subject,
      object({
        spec: withRules(
          object({
            n: { ...COUNT, maximum: 5 },
            text: { ...TEXT, pattern: "^a" },
            few: { type: "array", maxItems: 1, items: TEXT },
            word: { ...TEXT, enum: ["a"] },
            must: TEXT,
          }, { required: ["must"] }),
          { rule: "false", message: "never" },
        ),
      }),
    );
    await tryEach(subject, [
      { n: 6, must: "" },
      { text: "b", must: "" },
      { n: "1", must: "" },
      { few: ["a", "b"], must: "" },
      { word: "b", must: "" },
      {},
      { must: "x".repeat(51) },
    ]);
  },
  "transition rules": async (api) => {
    const subject = { api, kind: "Hazel", plural: "hazels" };
    const item = object({ k: TEXT, n: withRules(COUNT, { rule: "self >= oldSelf", message: "may only grow" }) }, {
      required: ["k"],
    });
    await define(
      subject,
      object({
        spec: withRules(
          object({
            name: withRules(TEXT, { rule: "self == oldSelf", message: "stays" }),
            once: withRules(TEXT, {
              rule: "oldSelf.hasValue() || self == 'first'",
              optionalOldSelf: true,
              message: "begins with first",
            }),
            list: mapList(item),
            map: {
              type: "object",
              maxProperties: 9,
              additionalProperties: withRules(COUNT, "self != oldSelf || self < 5"),
            },
            set: withRules({ type: "array", maxItems: 9, "x-kubernetes-list-type": "set", items: TEXT }, {
              rule: "oldSelf == self",
              message: "same set",
            }),
          }),
          { rule: "!has(oldSelf.name) || has(self.name)", message: "the name cannot be taken away" },
        ),
      }),
    );
    await tryEach(subject, [{ name: "a", once: "second" }, { once: "first" }]);
    await tryChanges(subject, {
      name: "a",
      once: "first",
      list: [{ k: "a", n: 1 }, { k: "b", n: 2 }],
      map: { x: 1, y: 7 },
      set: ["a", "b"],
    }, [
      { name: "b" },
      { name: null },
      { once: "second" },
      { list: [{ k: "b", n: 1 }, { k: "a", n: 1 }, { k: "c", n: 0 }] },
      { map: { x: 2 } },
      { set: ["b", "a"] },
      { set: ["b", "c"] },
      { set: ["b"], name: "c" },
    ]);
  },
  "unchanged invalid values are allowed": async (api) => {
    const subject = { api, kind: "Pecan", plural: "pecans" };
    const never = { "x-kubernetes-validations": [{ rule: "false", message: "never" }] };
    // A changed default indicates that the new rules have taken effect.
    const schema = (rule: Schema, marker: Schema) =>
      object({
        spec: object({
          marker: { ...TEXT, ...marker },
          other: TEXT,
          text: { ...TEXT, ...rule },
          inner: object({ x: { ...TEXT, ...rule }, y: TEXT }),
          whole: object({ x: TEXT, y: TEXT }, rule),
          keyed: mapList(object({ k: TEXT, n: COUNT }, { required: ["k"], ...rule })),
          plain: { type: "array", maxItems: 9, items: { ...TEXT, ...rule } },
        }),
      });
    await define(subject, schema({}, {}));
    // Each object has one error, because the real server returns warnings in random order.
    const changes: Record<string, readonly [from: unknown, ...to: unknown[]]> = {
      text: ["1", "2", null],
      inner: [{ x: "1", y: "1" }, { y: "2" }, { x: "2" }],
      whole: [{ x: "1", y: "1" }, { y: "2" }, { y: null }],
      keyed: [[{ k: "a", n: 1 }, { k: "b" }], [{ k: "b" }, { k: "a", n: 1 }], [{ k: "a", n: 1 }]],
      plain: [["a", "b"], ["a", "c"], []],
    };
    for (const [key, [from]] of Object.entries(changes)) {
      await api.quietly("POST", path(subject), objectOf(subject, key, { spec: { [key]: from } }));
    }
    const strict = withStatus(definition(subject.kind, subject.plural, { schema: schema(never, { default: "new" }) }));
    await api.quietly("PATCH", `${CRDS}/${strict.metadata.name}`, { spec: strict.spec }, {
      contentType: "application/merge-patch+json",
    });
    await api.untilAnswer(path(subject, "text"), ({ body }) => body.spec.marker === "new");
    for (const [key, [, ...to]] of Object.entries(changes)) {
      await api.merge(`${path(subject, key)}?dryRun=All`, { spec: { other: "changed" } });
      for (const value of to) await api.merge(`${path(subject, key)}?dryRun=All`, { spec: { [key]: value } });
    }
    await api.merge(`${path(subject, "keyed")}?dryRun=All`, { spec: { keyed: [{ k: "a", n: 2 }] } });
    await api.merge(`${path(subject, "keyed")}?dryRun=All`, { spec: { keyed: [{ k: "c", n: 1 }] } });
  },
  "rules of status and of the root in a write of status": async (api) => {
    const subject = { api, kind: "Walnut", plural: "walnuts" };
    await define(
      subject,
      withRules(
        object({
          spec: object({ size: COUNT }),
          status: withRules(object({ ready: COUNT, phase: { ...TEXT, enum: ["a", "b"] } }), {
            rule: "self.ready >= 0",
            message: "not below zero",
          }),
        }),
        {
          rule: "!has(self.status) || !has(self.status.ready) || self.status.ready <= self.spec.size",
          message: "no more ready than there are",
        },
      ),
    );
    await api.post(path(subject), objectOf(subject, "a", { spec: { size: 2 }, status: { ready: -1 } }));
    for (
      const status of [{ ready: 1 }, { ready: -1 }, { ready: 3 }, { ready: "x" }, { phase: "a" }, {
        ready: 1,
        phase: "c",
      }, { ready: null }]
    ) {
      await api.merge(`${path(subject, "a")}/status`, { status });
    }
    await api.merge(path(subject, "a"), { spec: { size: 0 } });
  },
});
