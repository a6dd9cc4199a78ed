import { area } from "../contract.ts";
import { definition, FRUIT_VERSION } from "../definition.ts";
import { CRDS, type Recorder } from "../recorder.ts";

type Schema = Readonly<Record<string, unknown>>;

const TEXT = { type: "string", maxLength: 50 };
const COUNT = { type: "integer" };

function object(properties: Record<string, Schema>, rest: Schema = {}): Schema {
  return { type: "object", properties, ...rest };
}

/** A list whose items are told apart by their key. */
function mapList(items: Schema): Schema {
  const type = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] };
  return { type: "array", maxItems: 9, ...type, items };
}

function ruled(schema: Schema, ...rules: (string | Schema)[]): Schema {
  const validations = rules.map((rule) => typeof rule === "string" ? { rule } : rule);
  return { ...schema, "x-kubernetes-validations": validations };
}

/** A kind of its own for each case, since definitions are not of a namespace. */
interface Subject {
  readonly api: Recorder;
  readonly kind: string;
  readonly plural: string;
}

async function define({ api, kind, plural }: Subject, schema: Schema): Promise<void> {
  await api.quietlyDefine(withStatus(definition(kind, plural, { schema })));
}

function withStatus<T extends ReturnType<typeof definition>>(given: T): T {
  const versions = given.spec.versions.map((version) => ({ ...version, subresources: { status: {} } }));
  return { ...given, spec: { ...given.spec, versions } };
}

function path({ api, plural }: Subject, name = ""): string {
  return `/apis/${FRUIT_VERSION}/namespaces/${api.namespace}/${plural}${name === "" ? "" : `/${name}`}`;
}

function make({ kind }: Subject, name: string, parts: unknown): unknown {
  return { apiVersion: FRUIT_VERSION, kind, metadata: { name }, ...parts as object };
}

/** Tries to make objects with specs; what is taken is not kept. */
async function tryEach(subject: Subject, specs: readonly unknown[]): Promise<void> {
  for (const spec of specs) {
    await subject.api.post(`${path(subject)}?dryRun=All`, make(subject, "try", { spec }));
  }
}

/** Makes an object, and tries to change its spec. */
async function tryChanges(subject: Subject, from: unknown, changes: readonly unknown[]): Promise<void> {
  await subject.api.quietly("POST", path(subject), make(subject, "a", { spec: from }));
  for (const spec of changes) await subject.api.merge(`${path(subject, "a")}?dryRun=All`, { spec });
}

/** CEL rules: which they refuse, and in which words. */
export const rules = area("rules", {
  "what a broken rule says": async (api) => {
    const subject = { api, kind: "Acorn", plural: "acorns" };
    const no = "self.size > 9";
    await define(
      subject,
      object({
        spec: ruled(
          object({
            size: COUNT,
            name: TEXT,
            long: { type: "string", maxLength: 6000 },
            map: { type: "object", additionalProperties: COUNT },
          }),
          no,
          `  ${no}  `,
          { rule: no, message: "  too small " },
          { rule: no, messageExpression: "'it is ' + self.name" },
          { rule: no, message: "plain", messageExpression: "string(1 / (self.size - 1))" },
          { rule: no, message: "plain", messageExpression: "''" },
          { rule: no, message: "plain", messageExpression: "'two\\nlines'" },
          { rule: no, message: "plain", messageExpression: "self.long" },
          { rule: no, message: "plain", messageExpression: "' trimmed '" },
          ...["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"].map((
            reason,
          ) => ({
            rule: no,
            reason,
          })),
          { rule: no, fieldPath: ".size" },
          { rule: no, fieldPath: ".map.a", reason: "FieldValueForbidden" },
          { rule: no, fieldPath: ".map['a b']" },
          { rule: no, fieldPath: "['name']" },
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
  "rules stand at every level": async (api) => {
    const subject = { api, kind: "Almond", plural: "almonds" };
    const even = "self % 2 == 0";
    await define(
      subject,
      object({
        spec: object({
          one: ruled(COUNT, even),
          text: ruled(TEXT, "self.startsWith('a')", { rule: "self.size() < 3", reason: "FieldValueDuplicate" }),
          list: { type: "array", maxItems: 5, items: ruled(COUNT, even) },
          map: { type: "object", maxProperties: 5, additionalProperties: ruled(COUNT, even) },
          deep: {
            type: "array",
            maxItems: 3,
            items: object({ list: { type: "array", maxItems: 3, items: ruled(object({ n: COUNT }), "self.n > 0") } }),
          },
          whole: ruled({ type: "array", maxItems: 5, items: TEXT }, "self.size() != 2"),
          either: ruled({ "x-kubernetes-int-or-string": true }, "type(self) == int ? self > 0 : self.endsWith('%')"),
          maybe: ruled({ ...TEXT, nullable: true }, "self != 'x'"),
          flag: ruled({ type: "boolean" }, "self"),
          part: ruled({ type: "number" }, "self < 1.0"),
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
  "what cannot be evaluated": async (api) => {
    const subject = { api, kind: "Brazil", plural: "brazils" };
    await define(
      subject,
      object({
        spec: ruled(
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
  "a value that is not of its type is not given to rules": async (api) => {
    const subject = { api, kind: "Cashew", plural: "cashews" };
    await define(
      subject,
      object({
        spec: ruled(
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
    const item = object({ k: TEXT, n: ruled(COUNT, { rule: "self >= oldSelf", message: "may only grow" }) }, {
      required: ["k"],
    });
    await define(
      subject,
      object({
        spec: ruled(
          object({
            name: ruled(TEXT, { rule: "self == oldSelf", message: "stays" }),
            once: ruled(TEXT, {
              rule: "oldSelf.hasValue() || self == 'first'",
              optionalOldSelf: true,
              message: "begins with first",
            }),
            list: mapList(item),
            map: {
              type: "object",
              maxProperties: 9,
              additionalProperties: ruled(COUNT, "self != oldSelf || self < 5"),
            },
            set: ruled({ type: "array", maxItems: 9, "x-kubernetes-list-type": "set", items: TEXT }, {
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
  "what was wrong before and does not change is let pass": async (api) => {
    const subject = { api, kind: "Pecan", plural: "pecans" };
    const never = { "x-kubernetes-validations": [{ rule: "false", message: "never" }] };
    // A default tells when the rules are there.
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
    // Each object is wrong in one place: of several warnings the real server's order is chance.
    const changes: Record<string, readonly [from: unknown, ...to: unknown[]]> = {
      text: ["1", "2", null],
      inner: [{ x: "1", y: "1" }, { y: "2" }, { x: "2" }],
      whole: [{ x: "1", y: "1" }, { y: "2" }, { y: null }],
      keyed: [[{ k: "a", n: 1 }, { k: "b" }], [{ k: "b" }, { k: "a", n: 1 }], [{ k: "a", n: 1 }]],
      plain: [["a", "b"], ["a", "c"], []],
    };
    for (const [key, [from]] of Object.entries(changes)) {
      await api.quietly("POST", path(subject), make(subject, key, { spec: { [key]: from } }));
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
  "rules of a status, and of the whole object when its status is written": async (api) => {
    const subject = { api, kind: "Walnut", plural: "walnuts" };
    await define(
      subject,
      ruled(
        object({
          spec: object({ size: COUNT }),
          status: ruled(object({ ready: COUNT, phase: { ...TEXT, enum: ["a", "b"] } }), {
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
    await api.post(path(subject), make(subject, "a", { spec: { size: 2 }, status: { ready: -1 } }));
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
  "names in rules": async (api) => {
    const subject = { api, kind: "Chestnut", plural: "chestnuts" };
    const names = ["a-b", "a.b", "a/b", "a__b", "namespace", "if", "true"];
    await define(
      subject,
      ruled(
        object({
          spec: ruled(
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
    await api.post(path(subject), make(subject, "toolong", {}));
    await api.post(`${path(subject)}?dryRun=All`, {
      apiVersion: FRUIT_VERSION,
      kind: subject.kind,
      metadata: { name: "g", generateName: "g" },
    });
  },
  "times, spans and bytes": async (api) => {
    const subject = { api, kind: "Pistachio", plural: "pistachios" };
    const format = (name: string) => ({ type: "string", format: name });
    await define(
      subject,
      object({
        spec: ruled(
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
  "rules that cost too much when they are evaluated": async (api) => {
    const subject = { api, kind: "Pinenut", plural: "pinenuts" };
    await define(
      subject,
      object({
        spec: ruled(
          object({
            list: { type: "array", maxItems: 1000, items: { ...TEXT, maxLength: 3 } },
            last: ruled(TEXT, "self != 'x'"),
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
  "rules that may cost too much are not defined": async (api) => {
    const list = (rest: Schema, items: Schema) => ({ type: "array", items, ...rest });
    const pairs = "self.all(a, self.all(b, a != b || true))";
    const schemas: Schema[] = [
      object({ spec: ruled(object({ l: list({}, { type: "string" }) }), "self.l.all(x, x.matches('^a'))") }),
      object({ spec: object({ l: ruled(list({ maxItems: 200 }, TEXT), pairs) }) }),
      object({ spec: object({ l: ruled(list({ maxItems: 1500 }, TEXT), pairs) }) }),
      object({ spec: object({ l: list({}, ruled(object({ s: { type: "string" } }), "self.s.contains('a')")) }) }),
      object({
        spec: object({
          m: { type: "object", maxProperties: 20, additionalProperties: ruled(list({ maxItems: 500 }, TEXT), pairs) },
        }),
      }),
      object({
        spec: object(
          Object.fromEntries(
            Array.from(
              { length: 6 },
              (_, i) => [`l${i}`, ruled(list({ maxItems: 700 + i }, { ...TEXT, maxLength: 8 }), pairs)],
            ),
          ),
        ),
      }),
      object({
        spec: ruled(object({ s: { type: "string" } }), { rule: "true", messageExpression: "self.s + self.s + self.s" }),
      }),
      object({
        spec: ruled(object({ s: { type: "string" } }), {
          rule: "true",
          messageExpression: "[1,2,3].map(i, self.s + self.s + self.s + self.s).join(self.s)",
        }),
      }),
    ];
    for (const schema of schemas) {
      await api.post(`${CRDS}?dryRun=All`, definition("Macadamia", "macadamias", { schema }));
    }
  },
  "lists that are sets and maps compare and add up without order": async (api) => {
    const subject = { api, kind: "Coconut", plural: "coconuts" };
    const keyed = mapList(object({ k: TEXT, v: COUNT }, { required: ["k"] }));
    await define(
      subject,
      object({
        spec: ruled(
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
          known: ruled(
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
  "numbers as Go has them": async (api) => {
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
