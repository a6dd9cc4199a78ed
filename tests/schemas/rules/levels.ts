/** Rules at every level of a schema, their messages, and transition rules. */
import type { JsonSchema } from "../../../src/schema/json_schema.ts";

/** A kind with rules, and objects of it. */
export interface RuleKind {
  readonly kind: string;
  /** Properties and rules of the whole object. */
  readonly schema: JsonSchema;
  readonly cases: readonly RuleCase[];
}

/** An object to create, or an update of an object. */
export interface RuleCase {
  readonly name: string;
  /** The object that is stored before without validation. The case is then an update. */
  readonly old?: Readonly<Record<string, unknown>>;
  readonly object: Readonly<Record<string, unknown>>;
}

const short = { type: "string", maxLength: 32 } as const;
const rules = (...all: JsonSchema["x-kubernetes-validations"] & object) => ({ "x-kubernetes-validations": all });

const levels: RuleKind = {
  kind: "Level",
  schema: {
    type: "object",
    ...rules(
      { rule: "self.metadata.name.size() < 12" },
      { rule: "self.kind == 'Level' && self.apiVersion.startsWith('levels.')", message: "must have its own kind" },
      { rule: "!has(self.metadata.generateName)" },
      { rule: "!has(self.spec) || !has(self.spec.top) || self.spec.top == self.metadata.name", fieldPath: ".spec.top" },
      { rule: "has(self.spec)", message: "spec is required", reason: "FieldValueRequired", fieldPath: ".spec" },
    ),
    properties: {
      spec: {
        type: "object",
        properties: {
          top: short,
          text: { ...short, ...rules({ rule: "self.startsWith('a')" }) },
          number: { type: "integer", ...rules({ rule: "self > 3" }, { rule: "self % 2 == 0" }) },
          list: { type: "array", maxItems: 5, items: { type: "integer", ...rules({ rule: "self > 0" }) } },
          map: {
            type: "object",
            maxProperties: 5,
            additionalProperties: { ...short, ...rules({ rule: "self.size() > 1" }) },
            ...rules({ rule: "self.all(k, k.size() < 6)" }),
          },
          nested: {
            type: "object",
            maxProperties: 3,
            additionalProperties: {
              type: "array",
              maxItems: 3,
              items: {
                type: "object",
                properties: { x: { type: "integer", ...rules({ rule: "self != 13", message: "is unlucky" }) } },
                ...rules({ rule: "has(self.x)", reason: "FieldValueRequired", fieldPath: ".x" }),
              },
            },
          },
          pod: {
            type: "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
            ...rules({ rule: "self.metadata.name != self.kind" }, { rule: "self.apiVersion == 'v1'" }),
          },
          none: { ...short, nullable: true, ...rules({ rule: "self == 'x'" }) },
          filled: { type: "integer", default: 5, ...rules({ rule: "self > 4" }) },
          free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, ...rules({ rule: "self != self" }) },
          bounded: { type: "integer", minimum: 10 },
        },
      },
    },
  },
  cases: [
    { name: "a valid object", object: { spec: { text: "a", number: 4, list: [1], map: { k: "vv" }, top: "name" } } },
    { name: "the root's name", object: { metadata: { name: "far-too-long-a-name" }, spec: {} } },
    { name: "no spec", object: {} },
    { name: "the root's field path", object: { spec: { top: "other" } } },
    { name: "an invalid property", object: { spec: { text: "b" } } },
    { name: "two rules of one property", object: { spec: { number: 3 } } },
    { name: "one rule of two", object: { spec: { number: 5 } } },
    { name: "items", object: { spec: { list: [1, 0, 2, -1] } } },
    { name: "values of a map", object: { spec: { map: { a: "x", b: "yy", "c.d": "" } } } },
    { name: "a map as a whole and its values", object: { spec: { map: { "much-longer": "x" } } } },
    { name: "objects in lists in maps", object: { spec: { nested: { a: [{ x: 1 }, {}], "b c": [{ x: 13 }] } } } },
    {
      name: "an embedded resource",
      object: { spec: { pod: { apiVersion: "v2", kind: "same", metadata: { name: "same" } } } },
    },
    { name: "an embedded resource without a name", object: { spec: { pod: { apiVersion: "v1", kind: "Pod" } } } },
    { name: "null", object: { spec: { none: null } } },
    { name: "not null", object: { spec: { none: "y" } } },
    { name: "a default", object: { spec: {} } },
    { name: "no default", object: { spec: { filled: 4 } } },
    { name: "an unknown field", object: { spec: { free: { a: 1 } } } },
    { name: "rules next to another error", object: { spec: { bounded: 1, text: "b" } } },
    { name: "rules with a wrong type", object: { spec: { number: "3", text: "b" } } },
    { name: "an object instead of a list", object: { spec: { list: {}, text: "b" } } },
    {
      name: "several errors at once",
      object: { metadata: { name: "far-too-long-a-name" }, spec: { text: "", number: 1, list: [0] } },
    },
  ],
};

const names: RuleKind = {
  kind: "Named",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: Object.fromEntries(
          ["namespace", "a-b", "a.b", "a/b", "__x", "in", "package", "x_y", "_", "size", "self", "A1", "true", "a__b"]
            .map((name) => [name, { type: "integer" }]),
        ),
        ...rules(
          { rule: "!has(self.__namespace__) || self.__namespace__ > 0" },
          { rule: "!has(self.a__dash__b) || self.a__dash__b > 0" },
          { rule: "!has(self.a__dot__b) || self.a__dot__b > 0" },
          { rule: "!has(self.a__slash__b) || self.a__slash__b > 0", fieldPath: "['a/b']" },
          { rule: "!has(self.__underscores__x) || self.__underscores__x > 0" },
          { rule: "!has(self.__in__) || self.__in__ > 0" },
          { rule: "!has(self.__package__) || self.__package__ > 0" },
          { rule: "!has(self.x_y) || self.x_y > 0" },
          { rule: "!has(self.self) || self.self > 0" },
          { rule: "!has(self.__true__) || self.__true__ > 0" },
          { rule: "!has(self.a__underscores__b) || self.a__underscores__b > 0" },
          { rule: "!has(self.A1) || self.A1 > 0", fieldPath: ".A1" },
        ),
      },
    },
  },
  cases: [
    ...["namespace", "a-b", "a.b", "a/b", "__x", "in", "package", "x_y", "self", "true", "a__b", "A1"].map((name) => ({
      name,
      object: { spec: { [name]: 0 } },
    })),
    { name: "all rules", object: { spec: { namespace: 1, "a-b": 1, __x: 1 } } },
  ],
};

const inner = { type: "object", properties: { b: { type: "integer" }, "c-d": short } } as const;

const messages: RuleKind = {
  kind: "Message",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          n: { type: "integer", default: 0 },
          a: inner,
          map: { type: "object", maxProperties: 4, additionalProperties: inner },
          list: { type: "array", maxItems: 4, items: { type: "integer" } },
          text: { type: "string", maxLength: 6000 },
        },
        ...rules(
          { rule: "self.n != 1" },
          { rule: "self.n != 2", message: "must not be 2" },
          { rule: "self.n != 3", messageExpression: "'must not be %d'.format([self.n])" },
          { rule: "self.n != 4", message: "plain", messageExpression: "'made of %d'.format([self.n])" },
          { rule: "self.n != 5", messageExpression: "string(self.list[0])" },
          { rule: "self.n != 6", message: "plain", messageExpression: "string(self.list[0])" },
          { rule: "self.n != 7", messageExpression: "self.text" },
          { rule: "self.n != 8", message: "plain", messageExpression: "self.text" },
          { rule: "self.n != 9", reason: "FieldValueInvalid" },
          { rule: "self.n != 10", reason: "FieldValueForbidden" },
          { rule: "self.n != 11", reason: "FieldValueRequired" },
          { rule: "self.n != 12", reason: "FieldValueDuplicate" },
          { rule: "self.n != 13", fieldPath: ".n" },
          { rule: "self.n != 14", fieldPath: ".a.b" },
          { rule: "self.n != 15", fieldPath: ".a['c-d']", message: "with a path" },
          { rule: "self.n != 16", fieldPath: ".map.key" },
          { rule: "self.n != 17", fieldPath: ".map['x y'].b", reason: "FieldValueForbidden" },
          { rule: "self.n != 18 || 1 / self.list[0] > 0", message: "of an error" },
          {
            rule: "self.n != 19 || self.list[0] > 0",
            messageExpression: "'of an error'",
            reason: "FieldValueRequired",
          },
          { rule: "self.n != 20", message: "  spaces around  " },
          { rule: "self.n != 21 &&\nself.n != 22", message: "on two lines" },
          { rule: "  self.n != 23  " },
          { rule: "self.n != 24", fieldPath: ".list", message: "of a list" },
        ),
      },
    },
  },
  cases: [
    ...Array.from({ length: 25 }, (_, n) => ({ name: `n is ${n}`, object: { spec: { n } } })),
    { name: "an empty message", object: { spec: { n: 7, text: "" } } },
    { name: "a message of spaces", object: { spec: { n: 7, text: "   " } } },
    { name: "a message of two lines", object: { spec: { n: 7, text: "a\nb" } } },
    { name: "a message that is too long", object: { spec: { n: 7, text: "x".repeat(5121) } } },
    { name: "a message that is nearly too long", object: { spec: { n: 7, text: "x".repeat(5120) } } },
    { name: "an empty message and a plain one", object: { spec: { n: 8, text: "" } } },
    { name: "a message with leading and trailing spaces", object: { spec: { n: 8, text: " made " } } },
    { name: "an error of a rule with a list", object: { spec: { n: 18, list: [0] } } },
    { name: "no error of a rule with a list", object: { spec: { n: 19, list: [1] } } },
  ],
};

const transitions: RuleKind = {
  kind: "Transition",
  schema: {
    type: "object",
    ...rules({ rule: "self.metadata.name == oldSelf.metadata.name" }, {
      rule: "!has(oldSelf.spec.version) || has(self.spec.version)",
      message: "version cannot be removed",
      fieldPath: ".spec.version",
    }),
    properties: {
      spec: {
        type: "object",
        properties: {
          version: { type: "integer" },
          fixed: { ...short, ...rules({ rule: "self == oldSelf", message: "is immutable" }) },
          growing: {
            type: "integer",
            ...rules({ rule: "self >= oldSelf", messageExpression: "'was %d'.format([oldSelf])" }),
          },
          once: {
            ...short,
            ...rules({
              rule: "oldSelf.hasValue() || self.startsWith('new')",
              optionalOldSelf: true,
              messageExpression: "oldSelf.hasValue() ? 'was there' : 'is new: ' + self",
            }),
          },
          same: { type: "integer", ...rules({ rule: "self == oldSelf.orValue(self)", optionalOldSelf: true }) },
          map: {
            type: "object",
            maxProperties: 5,
            additionalProperties: { type: "integer", ...rules({ rule: "self >= oldSelf" }) },
            ...rules({ rule: "oldSelf.all(k, k in self)", message: "keys cannot be removed" }),
          },
          ports: {
            type: "array",
            maxItems: 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name", "protocol"],
            items: {
              type: "object",
              required: ["name"],
              properties: {
                name: short,
                protocol: { ...short, default: "TCP" },
                port: { type: "integer", ...rules({ rule: "self == oldSelf", message: "the port cannot change" }) },
              },
              ...rules({ rule: "has(self.port) == has(oldSelf.port)" }),
            },
          },
          atomic: {
            type: "array",
            maxItems: 5,
            items: { type: "integer" },
            ...rules({ rule: "self.size() >= oldSelf.size()" }),
          },
          set: {
            type: "array",
            maxItems: 5,
            "x-kubernetes-list-type": "set",
            items: { type: "integer" },
            ...rules({ rule: "self == oldSelf", message: "the same set" }),
          },
          whole: {
            type: "object",
            "x-kubernetes-map-type": "atomic",
            properties: { a: { type: "integer" }, b: { type: "integer" } },
            ...rules({ rule: "!has(oldSelf.a) || self.a == oldSelf.a" }),
          },
        },
      },
    },
  },
  cases: [
    { name: "created", object: { spec: { fixed: "x", growing: 1, once: "newer", same: 1, map: { a: 1 } } } },
    { name: "created with one field", object: { spec: { once: "other" } } },
    ...transition("the same", { fixed: "x", growing: 1, once: "a" }, { fixed: "x", growing: 1, once: "a" }),
    ...transition("an immutable", { fixed: "x" }, { fixed: "y" }),
    ...transition("an immutable field is added", {}, { fixed: "y" }),
    ...transition("an immutable field is removed", { fixed: "x" }, {}),
    ...transition("a number increases", { growing: 1 }, { growing: 2 }),
    ...transition("a number decreases", { growing: 2 }, { growing: 1 }),
    ...transition("the version is removed", { version: 1 }, {}),
    ...transition("optional, there before", { once: "old" }, { once: "older" }),
    ...transition("optionalOldSelf without an old value", {}, { once: "older" }),
    ...transition("optionalOldSelf without an old value, valid", {}, { once: "newest" }),
    ...transition("optionalOldSelf with a changed value", { same: 1 }, { same: 2 }),
    ...transition("values of a map", { map: { a: 2, b: 2 } }, { map: { a: 1, b: 3, c: 0 } }),
    ...transition("a key is removed", { map: { a: 2, b: 2 } }, { map: { a: 2 } }),
    ...transition(
      "items of a list map in another order",
      { ports: [{ name: "a", port: 1 }, { name: "b", port: 2 }] },
      { ports: [{ name: "b", port: 2 }, { name: "a", port: 1 }, { name: "c", port: 3 }] },
    ),
    ...transition(
      "changed items of a list map",
      { ports: [{ name: "a", port: 1 }, { name: "b", protocol: "UDP", port: 2 }] },
      { ports: [{ name: "b", protocol: "UDP", port: 3 }, { name: "a", protocol: "UDP", port: 9 }] },
    ),
    ...transition("an item without its previous port", { ports: [{ name: "a", port: 1 }] }, { ports: [{ name: "a" }] }),
    ...transition("an atomic list", { atomic: [1, 2] }, { atomic: [3] }),
    ...transition("a set in another order", { set: [1, 2] }, { set: [2, 1] }),
    ...transition("another set", { set: [1, 2] }, { set: [1, 3] }),
    ...transition("an atomic object", { whole: { a: 1 } }, { whole: { b: 1 } }),
    ...transition("an atomic object that keeps its key", { whole: { a: 1 } }, { whole: { a: 1, b: 1 } }),
    ...transition("from null to a value", { fixed: null }, { fixed: "x" }),
  ],
};

function transition(name: string, old: object, spec: object): RuleCase[] {
  return [{ name, old: { spec: old }, object: { spec } }];
}

/** Rules that the stored object violates. Unchanged violations are ignored. */
const ratcheted: RuleKind = {
  kind: "Ratcheted",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          note: short,
          text: { ...short, ...rules({ rule: "self.startsWith('a')" }) },
          inner: {
            type: "object",
            properties: { n: { type: "integer", ...rules({ rule: "self > 0" }) }, note: short },
            ...rules({ rule: "has(self.n)", message: "n is required" }),
          },
          list: { type: "array", maxItems: 4, items: { type: "integer", ...rules({ rule: "self > 0" }) } },
          ports: {
            type: "array",
            maxItems: 4,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            items: {
              type: "object",
              required: ["name"],
              properties: { name: short, port: { type: "integer", ...rules({ rule: "self > 0" }) } },
              ...rules({ rule: "self.name != 'bad'", message: "a bad name" }),
            },
          },
          strict: { type: "integer", ...rules({ rule: "oldSelf.orValue(0) >= 0 && self > 0", optionalOldSelf: true }) },
        },
        ...rules({ rule: "!has(self.note) || self.note != 'bad'", fieldPath: ".note" }),
      },
    },
  },
  cases: [
    ...transition("unchanged", { text: "b" }, { text: "b" }),
    ...transition("an unrelated field changes", { text: "b", note: "x" }, { text: "b", note: "y" }),
    ...transition("from one invalid value to another", { text: "b" }, { text: "c" }),
    ...transition("from an invalid value to a valid one", { text: "b" }, { text: "a" }),
    ...transition("an object that does not change", { inner: { note: "x" } }, { inner: { note: "x" }, note: "z" }),
    ...transition("an object that changes", { inner: { note: "x" } }, { inner: { note: "y" } }),
    ...transition("inside an object that changes", { inner: { n: 0, note: "x" } }, { inner: { n: 0, note: "y" } }),
    ...transition("items unchanged", { list: [0, 1] }, { list: [0, 1], note: "z" }),
    ...transition("items of a list that grows", { list: [0, 1] }, { list: [0, 1, 2] }),
    ...transition("items in another order", { list: [0, 1] }, { list: [1, 0] }),
    ...transition("an item of a list map", { ports: [{ name: "a", port: 0 }] }, {
      ports: [{ name: "b", port: 1 }, { name: "a", port: 0 }],
    }),
    ...transition("a bad item of a list map", { ports: [{ name: "bad", port: 1 }] }, {
      ports: [{ name: "bad", port: 2 }],
    }),
    ...transition("a bad item that stays", { ports: [{ name: "bad", port: 1 }] }, {
      ports: [{ name: "bad", port: 1 }],
      note: "q",
    }),
    ...transition("a rule with a field path", { note: "bad", text: "a" }, { note: "bad", text: "ab" }),
    ...transition("an optional old value", { strict: 0 }, { strict: 0, note: "q" }),
    ...transition("an optional old value that changes", { strict: 0 }, { strict: -1 }),
  ],
};

/** All kinds. */
export const RULE_KINDS: readonly RuleKind[] = [levels, names, messages, transitions, ratcheted];
