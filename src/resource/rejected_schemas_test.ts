/**
 * Schemas that an API server would reject. The error has their position as a path in the object.
 */
import assert from "node:assert/strict";
import { type JsonSchema, s, type Schema } from "../schema/mod.ts";
import { resource } from "./mod.ts";

/** Declares a kind with one field of `spec`. */
function kindWith(field: JsonSchema, rest: Record<string, unknown> = {}): unknown {
  const spec = { type: "object", properties: { f: field } } as unknown as Schema<unknown, unknown, "required">;
  return resource({ group: "demo.example.com", version: "v1", kind: "Website", spec, ...rest });
}

const HINT =
  "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are " +
  "declared)";

const INVALID: readonly { name: string; given: JsonSchema; rest?: Record<string, unknown>; expected: string }[] = [
  {
    name: "a field without a type",
    given: { description: "any text" },
    expected: ' "type" of .spec.f: Required value: must not be empty for specified object fields',
  },
  {
    name: "an item without a type",
    given: { type: "array", items: {} },
    expected: ' "type" of .spec.f[]: Required value: must not be empty for specified array items',
  },
  {
    name: "an optional list map key",
    given: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
      items: { type: "object", properties: { a: { type: "string" } } },
    },
    expected:
      ' "default" of .spec.f[].a: Required value: this property is in x-kubernetes-list-map-keys, so it must have a ' +
      "default or be a required property",
  },
  {
    name: "a type in a value validation",
    given: { type: "object", additionalProperties: { type: "string", anyOf: [{ type: "string" }] } },
    expected: ' "anyOf[0].type" of .spec.f.*: Forbidden: must be empty to be structural',
  },
  {
    name: "a pattern that RE2 does not support",
    given: { type: "string", pattern: "(?=a)" },
    expected:
      ' "pattern" of .spec.f: Invalid value: "(?=a)": must be a valid regular expression, but isn\'t: error parsing ' +
      "regexp: invalid or unsupported Perl syntax: `(?=`",
  },
  {
    name: "a default that violates its schema",
    given: { type: "integer", default: "x" },
    expected: ' "default" of .spec.f: Invalid value: "string":  in body must be of type integer: "string"',
  },
  {
    name: "a rule on an unknown field",
    given: {
      type: "object",
      properties: { a: { type: "string" } },
      "x-kubernetes-validations": [{ rule: "self.b == 'x'" }],
    },
    expected: ` the rule "self.b == 'x'" of .spec.f: compilation failed: ERROR: <input>:1:5: undefined field 'b'\n` +
      " | self.b == 'x'\n | ....^",
  },
  {
    name: "a message that is not a string",
    given: {
      type: "object",
      properties: { a: { type: "integer" } },
      "x-kubernetes-validations": [{ rule: "self.a > 1", messageExpression: "self.a" }],
    },
    expected: ' "messageExpression" of the rule "self.a > 1" of .spec.f: messageExpression must evaluate to a string',
  },
  {
    name: "a rule that is too expensive",
    given: {
      type: "array",
      items: { type: "string" },
      maxItems: 1000,
      "x-kubernetes-validations": [{ rule: "self.all(a, self.all(b, a == b))" }],
    },
    expected:
      ':\n  the rule "self.all(a, self.all(b, a == b))" of .spec.f: Forbidden: estimated rule cost exceeds budget by ' +
      `factor of more than 100x ${HINT}; add maxLength to .spec.f[]` +
      '\n  the rule "self.all(a, self.all(b, a == b))" of .spec.f: Forbidden: contributed to estimated rule cost total ' +
      "exceeding cost limit for entire OpenAPIv3 schema" +
      "\n  the whole object: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema " +
      `exceeds budget by factor of more than 100x ${HINT}`,
  },
  {
    name: "a rule on an unbounded list",
    given: {
      type: "object",
      properties: { hosts: { type: "array", items: { type: "string", maxLength: 100 } } },
      "x-kubernetes-validations": [{ rule: "self.hosts.all(h, h.contains('.'))" }],
    },
    expected: ` the rule "self.hosts.all(h, h.contains('.'))" of .spec.f: Forbidden: estimated rule cost exceeds ` +
      `budget by factor of 4.6x ${HINT}; add maxItems to .spec.f.hosts`,
  },
  {
    name: "a rule below unbounded lists and maps",
    given: {
      type: "array",
      items: {
        type: "object",
        additionalProperties: {
          type: "string",
          maxLength: 100,
          "x-kubernetes-validations": [{ rule: "self.matches('^a')" }],
        },
      },
    },
    expected:
      ` the rule "self.matches('^a')" of .spec.f[].*: Forbidden: estimated rule cost exceeds budget by factor ` +
      `of 4.4x ${HINT}; add maxItems to .spec.f, maxProperties to .spec.f[]`,
  },
  {
    name: "a message whose length is unknown",
    given: {
      type: "object",
      properties: { n: { type: "integer" } },
      "x-kubernetes-validations": [{ rule: "self.n > 0", messageExpression: "'100% of ' + string(self.n)" }],
    },
    expected:
      ':\n  "messageExpression" of the rule "self.n > 0" of .spec.f: Forbidden: estimated messageExpression cost ' +
      `exceeds budget by factor of more than 100x ${HINT}; write '100%% of %s'.format([self.n]), which has a limited length` +
      '\n  "messageExpression" of the rule "self.n > 0" of .spec.f: Forbidden: contributed to estimated rule cost total ' +
      "exceeding cost limit for entire OpenAPIv3 schema" +
      "\n  the whole object: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema " +
      `exceeds budget by factor of more than 100x ${HINT}`,
  },
  {
    name: "a rule of the whole object that does not compile",
    given: { type: "string" },
    rest: { validations: [{ rule: "self.spec.g == 'x'" }] },
    expected:
      ` the rule "self.spec.g == 'x'" of the whole object: compilation failed: ERROR: <input>:1:10: undefined field 'g'\n` +
      " | self.spec.g == 'x'\n | .........^",
  },
  {
    name: "several errors",
    given: { type: "object", properties: { a: {}, b: { type: "array" } } },
    expected: ':\n  "type" of .spec.f.a: Required value: must not be empty for specified object fields' +
      '\n  "items" of .spec.f.b: Required value: must be specified',
  },
];
for (const { name, given, rest, expected } of INVALID) {
  Deno.test(`resource rejects ${name}, with position and rule`, () => {
    assert.throws(() => kindWith(given, rest), {
      name: "TypeError",
      message: `Cannot define kind "Website": an API server would reject${expected}`,
    });
  });
}

Deno.test("resource normalizes a schema to the form that the server returns", () => {
  const raw = { type: "string", description: "", nullable: false, enum: [] } as unknown as Schema<
    string,
    string,
    "required"
  >;
  const kind = resource({ group: "demo.example.com", version: "v1", kind: "Note", spec: s.object({ text: raw }) });

  assert.deepEqual(kind.crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.["spec"]?.properties, {
    text: { type: "string" },
  });
});
