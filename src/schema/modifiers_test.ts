import assert from "node:assert/strict";
import { type JsonSchema, s } from "./mod.ts";

// deno-lint-ignore no-explicit-any
const any = (value: unknown): any => value;

const UNCHANGED = { rule: "self == oldSelf", message: "field is immutable" };

const CASES: { name: string; given: JsonSchema; expected: unknown }[] = [
  {
    name: "immutable adds a transition rule",
    given: s.immutable(s.string({ validations: [{ rule: "self != ''" }] })),
    expected: { type: "string", "x-kubernetes-validations": [{ rule: "self != ''" }, UNCHANGED] },
  },
  {
    name: "immutable is idempotent",
    given: s.immutable(s.immutable(s.integer())),
    expected: { type: "integer", "x-kubernetes-validations": [UNCHANGED] },
  },
  {
    name: "immutable optional properties can be neither removed nor added",
    given: s.object({
      a: s.optional(s.immutable(s.string())),
      "b-c": s.immutable(s.optional(s.string())),
      d: s.nullable(s.optional(s.immutable(s.string(), { mayBeAdded: true }))),
      e: s.immutable(s.string()),
      f: s.immutable(s.string({ default: "" })),
    }),
    expected: {
      type: "object",
      properties: {
        a: { type: "string", "x-kubernetes-validations": [UNCHANGED] },
        "b-c": { type: "string", "x-kubernetes-validations": [UNCHANGED] },
        d: { type: "string", nullable: true, "x-kubernetes-validations": [UNCHANGED] },
        e: { type: "string", "x-kubernetes-validations": [UNCHANGED] },
        f: { type: "string", default: "", "x-kubernetes-validations": [UNCHANGED] },
      },
      required: ["e"],
      "x-kubernetes-validations": [
        { rule: "has(self.a) == has(oldSelf.a)", message: "field is immutable", fieldPath: ".a" },
        {
          rule: "has(self.b__dash__c) == has(oldSelf.b__dash__c)",
          message: "field is immutable",
          fieldPath: "['b-c']",
        },
        { rule: "has(self.d) || !has(oldSelf.d)", message: "field is immutable", fieldPath: ".d" },
      ],
    },
  },
  {
    name: "with adds keywords and rules, and keeps existing ones",
    given: s.with(s.string({ minLength: 1, title: "A", validations: [{ rule: "self != 'a'" }] }), {
      title: "T",
      description: "D",
      deprecated: "use b",
      example: "e",
      default: "d",
      validations: [{ rule: "self != 'b'" }],
    }),
    expected: {
      type: "string",
      minLength: 1,
      title: "T",
      description: "D\n\nDeprecated: use b",
      example: "e",
      default: "d",
      "x-kubernetes-validations": [{ rule: "self != 'a'" }, { rule: "self != 'b'" }],
    },
  },
  {
    name: "with appends deprecated to the description",
    given: s.with(s.string({ description: "D" }), { deprecated: "use b" }),
    expected: { type: "string", description: "D\n\nDeprecated: use b" },
  },
  {
    name: "with keeps a property optional",
    given: s.object({ a: s.with(s.optional(s.string()), { title: "A" }) }),
    expected: { type: "object", properties: { a: { type: "string", title: "A" } } },
  },
  {
    name: "with a default makes an optional property non-optional",
    given: s.object({ a: s.with(s.optional(s.immutable(s.string())), { default: "a" }) }),
    expected: {
      type: "object",
      properties: { a: { type: "string", default: "a", "x-kubernetes-validations": [UNCHANGED] } },
    },
  },
  {
    name: "nullable keeps the properties of an object",
    given: s.nullable(s.object({ a: s.optional(s.string()), b: s.string() }, { default: { b: "" } })),
    expected: {
      type: "object",
      nullable: true,
      properties: { a: { type: "string" }, b: { type: "string" } },
      required: ["b"],
      default: { b: "" },
    },
  },
];

for (const { name, given, expected } of CASES) {
  Deno.test(`s: ${name}`, () => assert.deepEqual(given, expected));
}

Deno.test("modifiers do not modify their schema", () => {
  const schema = s.string();
  s.optional(schema);
  s.immutable(schema);
  s.with(schema, { default: "" });

  assert.deepEqual(s.object({ schema }), {
    type: "object",
    properties: { schema: { type: "string" } },
    required: ["schema"],
  });
});

const REJECTED: { name: string; given: () => unknown; expected: string }[] = [
  {
    name: "an immutable optional property whose name CEL cannot spell",
    given: () => s.object({ "1st": s.optional(s.immutable(s.string())) }),
    expected:
      'TypeError: Cannot define an object schema: the name of property "1st" cannot be used in CEL. Use letters, digits, "_", "-", "." and "/", and no leading digit',
  },
  {
    name: "an added default that violates its schema",
    given: () => s.with(s.string({ maxLength: 1 }), { default: "ab" }),
    expected: "TypeError: Cannot add keywords to a schema: default: Too long: may not be more than 1 byte",
  },
  {
    name: "an added default that violates an enum",
    given: () => s.with(s.enum(["a"]), { default: any("b") }),
    expected: 'TypeError: Cannot add keywords to a schema: default: Unsupported value: "b": supported values: "a"',
  },
  {
    name: "keywords of a value that is not a schema",
    given: () => s.with(any("string"), {}),
    expected: "TypeError: Cannot add keywords to a schema: it must be a schema, such as s.string()",
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
