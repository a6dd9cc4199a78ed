import assert from "node:assert/strict";
import { type JsonSchema, s } from "./mod.ts";

// deno-lint-ignore no-explicit-any
const any = (value: unknown): any => value;

const user = s.object({
  name: s.string(),
  age: s.integer({ default: 18 }),
  phone: s.optional(s.string()),
  badge: s.optional(s.immutable(s.string())),
}, { description: "D", mapType: "atomic" });

/** Like a generated Kubernetes type: JSON without marks from a builder. */
const plain = s.raw<{ readonly a: string; readonly b?: string }>({
  type: "object",
  properties: { a: { type: "string" }, b: { type: "string" } },
  required: ["a"],
});

const UNCHANGED = [{ rule: "self == oldSelf", message: "field is immutable" }];
const BADGE_IS_IMMUTABLE = {
  rule: "has(self.badge) == has(oldSelf.badge)",
  message: "field is immutable",
  fieldPath: ".badge",
};

const CASES: { name: string; given: JsonSchema; expected: unknown }[] = [
  {
    name: "pick keeps required properties and the object's keywords",
    given: s.pick(user, ["name", "phone", "age"]),
    expected: {
      type: "object",
      description: "D",
      properties: { name: { type: "string" }, age: { type: "integer", default: 18 }, phone: { type: "string" } },
      required: ["name"],
      "x-kubernetes-map-type": "atomic",
    },
  },
  {
    name: "pick keeps the rules of the picked properties",
    given: s.pick(user, ["badge"]),
    expected: {
      type: "object",
      description: "D",
      properties: { badge: { type: "string", "x-kubernetes-validations": UNCHANGED } },
      "x-kubernetes-map-type": "atomic",
      "x-kubernetes-validations": [BADGE_IS_IMMUTABLE],
    },
  },
  {
    name: "omit removes properties",
    given: s.omit(user, ["name", "badge"]),
    expected: {
      type: "object",
      description: "D",
      properties: { age: { type: "integer", default: 18 }, phone: { type: "string" } },
      "x-kubernetes-map-type": "atomic",
    },
  },
  {
    name: "omit of all properties returns an object without properties",
    given: s.omit(plain, ["a", "b"]),
    expected: { type: "object" },
  },
  {
    name: "extend adds and replaces properties",
    given: s.extend(s.pick(user, ["name", "phone"]), { phone: s.integer(), mail: s.optional(s.string()) }),
    expected: {
      type: "object",
      description: "D",
      properties: { name: { type: "string" }, phone: { type: "integer" }, mail: { type: "string" } },
      required: ["name", "phone"],
      "x-kubernetes-map-type": "atomic",
    },
  },
  {
    name: "partial makes all properties optional and keeps defaults",
    given: s.partial(user),
    expected: {
      type: "object",
      description: "D",
      properties: {
        name: { type: "string" },
        age: { type: "integer", default: 18 },
        phone: { type: "string" },
        badge: { type: "string", "x-kubernetes-validations": UNCHANGED },
      },
      "x-kubernetes-map-type": "atomic",
      "x-kubernetes-validations": [BADGE_IS_IMMUTABLE],
    },
  },
  {
    name: "partial keeps immutable properties from being removed",
    given: s.partial(s.object({ id: s.immutable(s.string()) })),
    expected: {
      type: "object",
      properties: { id: { type: "string", "x-kubernetes-validations": UNCHANGED } },
      "x-kubernetes-validations": [
        { rule: "has(self.id) == has(oldSelf.id)", message: "field is immutable", fieldPath: ".id" },
      ],
    },
  },
  {
    name: "pick, extend and partial accept plain JSON Schema",
    given: s.object({
      picked: s.pick(plain, ["b"]),
      extended: s.extend(plain, { c: s.string() }),
      partial: s.partial(plain),
    }),
    expected: {
      type: "object",
      properties: {
        picked: { type: "object", properties: { b: { type: "string" } } },
        extended: {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } },
          required: ["a", "c"],
        },
        partial: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
      },
      required: ["picked", "extended", "partial"],
    },
  },
  {
    name: "pick keeps a rule on a property whose name starts like an omitted one",
    given: s.pick(s.object({ a: s.string(), ab: s.string() }, { validations: [{ rule: "self.ab != ''" }] }), ["ab"]),
    expected: {
      type: "object",
      properties: { ab: { type: "string" } },
      required: ["ab"],
      "x-kubernetes-validations": [{ rule: "self.ab != ''" }],
    },
  },
  {
    name: "extend keeps a default that is still valid",
    given: s.extend(s.object({ a: s.string() }, { default: { a: "" } }), { b: s.string({ default: "b" }) }),
    expected: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string", default: "b" } },
      required: ["a"],
      default: { a: "" },
    },
  },
];

for (const { name, given, expected } of CASES) {
  Deno.test(`s: ${name}`, () => assert.deepEqual(given, expected));
}

Deno.test("s.pick keeps the object itself optional", () => {
  assert.equal(s.object({ user: s.pick(s.optional(user) as never, ["name"] as never) }).required, undefined);
});

const REJECTED: { name: string; given: () => unknown; expected: string }[] = [
  {
    name: "picking an unknown property",
    given: () => s.pick(user, [any("nmae")]),
    expected: 'TypeError: Cannot pick property "nmae": the object has no such property. Did you mean "name"?',
  },
  {
    name: "omitting a property that every object inherits",
    given: () => s.omit(user, [any("toString")]),
    expected:
      'TypeError: Cannot omit property "toString": the object has no such property. It has "name", "age", "phone", "badge"',
  },
  {
    name: "picking a property twice",
    given: () => s.pick(user, ["name", "name"]),
    expected: 'TypeError: Cannot pick property "name": it is listed twice',
  },
  {
    name: "picking from a schema that is not an object",
    given: () => s.pick(s.string() as never, ["length"] as never),
    expected:
      "TypeError: Cannot pick properties of an object: the argument must be the schema of an object with properties, such as s.object()",
  },
  {
    name: "picking from a map",
    given: () => s.pick(s.map(s.string()), ["a"]),
    expected:
      "TypeError: Cannot pick properties of an object: the argument must be the schema of an object with properties, such as s.object()",
  },
  {
    name: "omitting a property that a rule needs",
    given: () => s.omit(s.object({ a: s.string(), b: s.string() }, { validations: [{ rule: "self.a != ''" }] }), ["a"]),
    expected:
      'TypeError: Cannot remove property "a": the rule "self.a != \'\'" of the object uses it. Call s.omit() before you add rules or alternatives',
  },
  {
    name: "omitting one of several alternatives",
    given: () =>
      s.omit(s.atLeastOneOf(s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }), ["a", "b"]), ["a"]),
    expected:
      'TypeError: Cannot remove property "a": the rule "[has(self.a),has(self.b)].filter(x,x==true).size() >= 1" of the object uses it. Call s.omit() before you add rules or alternatives',
  },
  {
    name: "omitting one of several alternatives in JSON Schema",
    given: () =>
      s.omit(
        s.atMostOneOf(s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }), ["a", "b"], { as: "schema" }),
        ["a"],
      ),
    expected:
      'TypeError: Cannot remove property "a": one of allOf, anyOf, oneOf and not of the object uses it. Call s.omit() before you add rules or alternatives',
  },
  {
    name: "omitting a property of the default",
    given: () => s.omit(s.object({ a: s.string(), b: s.string() }, { default: { a: "", b: "" } }), ["a"]),
    expected: "TypeError: Cannot omit properties of an object: default.a: unknown field",
  },
  {
    name: "extending with a required property that the default lacks",
    given: () => s.extend(s.object({ a: s.string() }, { default: { a: "" } }), { b: s.string() }),
    expected: "TypeError: Cannot extend an object: default.b: Required value",
  },
  {
    name: "extending with __proto__",
    given: () => s.extend(user, { ["__proto__"]: s.string() }),
    expected:
      'TypeError: Cannot extend an object: properties must be a plain object, without a property named "__proto__"',
  },
];

for (const { name, given, expected } of REJECTED) {
  Deno.test(`s rejects ${name}`, () => {
    assert.throws(given, (error) => {
      assert.equal(String(error), expected);
      return true;
    });
  });
}
