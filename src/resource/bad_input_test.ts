/**
 * Invalid declarations. Each is rejected when the kind is declared, by an error with its position
 * and the reason.
 */
import assert from "node:assert/strict";
import { type JsonSchema, s, type Schema } from "../schema/mod.ts";
import { resource } from "./mod.ts";

// JavaScript code and data from files are not type-checked.
// deno-lint-ignore no-explicit-any
const any = (value: unknown): any => value;

function kindWith(field: unknown, rest: Record<string, unknown> = {}): JsonSchema {
  const spec = { type: "object", properties: { f: field } } as unknown as Schema<unknown, unknown, "required">;
  const { crd } = resource({ group: "demo.example.com", version: "v1", kind: "Website", spec, ...rest });
  return crd.spec.versions[0]!.schema.openAPIV3Schema.properties!["spec"]!.properties!["f"]!;
}

/** Returns a schema that contains itself. */
function selfContaining(schema: JsonSchema, close: (loop: JsonSchema) => JsonSchema): JsonSchema {
  const loop = { ...schema };
  return Object.assign(loop, close(loop));
}

function nested(times: number, around: (inner: JsonSchema) => JsonSchema): JsonSchema {
  let schema: JsonSchema = { type: "string" };
  for (let i = 0; i < times; i++) schema = around(schema);
  return schema;
}

const INVALID: readonly { name: string; given: () => unknown; expected: string }[] = [
  {
    name: "an object that contains itself",
    given: () => kindWith(selfContaining({ type: "object" }, (loop) => ({ properties: { loop } }))),
    expected: ".spec.f.loop contains itself. Use s.anything() instead of the recursion",
  },
  {
    name: "a list that contains itself",
    given: () => kindWith(selfContaining({ type: "array" }, (loop) => ({ items: loop }))),
    expected: ".spec.f[] contains itself. Use s.anything() instead of the recursion",
  },
  {
    name: "a map that contains itself through an object",
    given: () =>
      kindWith(selfContaining({ type: "object" }, (loop) => ({
        additionalProperties: { type: "object", properties: { a: loop } },
      }))),
    expected: ".spec.f.*.a contains itself. Use s.anything() instead of the recursion",
  },
  {
    name: "a value validation that contains itself",
    given: () => kindWith(selfContaining({ type: "string" }, (loop) => ({ anyOf: [loop] }))),
    expected: ".spec.f.anyOf.0 contains itself. Use s.anything() instead of the recursion",
  },
  {
    name: "a default that contains itself",
    given: () => kindWith(selfContaining({ type: "object" }, (loop) => ({ default: { a: loop } }))),
    expected: ".spec.f.default.a contains itself. Use s.anything() instead of the recursion",
  },
  {
    name: "a status that contains itself",
    given: () =>
      kindWith({ type: "string" }, { status: selfContaining({ type: "object" }, (a) => ({ properties: { a } })) }),
    expected: ".status.a contains itself. Use s.anything() instead of the recursion",
  },
  {
    name: "thousands of nested objects",
    given: () => kindWith(nested(10_000, (a) => ({ type: "object", properties: { a } }))),
    expected: `.spec.f${".a".repeat(26)}.... is nested deeper than 1000 levels of JSON. Use s.anything() at some level`,
  },
  {
    name: "thousands of nested lists",
    given: () => kindWith(nested(10_000, (items) => ({ type: "array", items }))),
    expected: `.spec.f${"[]".repeat(26)}[... is nested deeper than 1000 levels of JSON. Use s.anything() at some level`,
  },
  {
    name: "a rule that uses a missing field",
    given: () => kindWith(JSON.parse('{"type":"object","x-kubernetes-validations":[{"rule":"self.__proto__ == 1"}]}')),
    expected:
      'an API server would reject the rule "self.__proto__ == 1" of .spec.f: compilation failed: ERROR: <input>:1:5: ' +
      "undefined field '__proto__'\n | self.__proto__ == 1\n | ....^",
  },
  {
    name: "a list map key that is a property of Object.prototype",
    given: () =>
      kindWith({
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["constructor"],
        items: { type: "object", properties: { a: { type: "string" } } },
      }),
    expected:
      'an API server would reject "x-kubernetes-list-map-keys" of .spec.f: Invalid value: ["constructor"]: entries must ' +
      "all be names of item properties",
  },
  {
    name: "a default below __proto__",
    given: () => kindWith(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"integer","default":"x"}}}')),
    expected:
      'an API server would reject "default" of .spec.f.__proto__: Invalid value: "string":  in body must be of ' +
      'type integer: "string"',
  },
  ...["../x", "__proto__", "constructor", "A b", "Ä", "A".repeat(64), ""].map((kind) => ({
    name: `the kind "${kind.slice(0, 20)}"`,
    given: () => kindWith({ type: "string" }, { kind }),
    expected: `"kind" must be in CamelCase with at most 63 letters and digits, got "${kind}"`,
  })),
  ...["../x", "example", "a b.example.com", "A.example.com", "-a.example.com", "a..example.com", ""].map((group) => ({
    name: `the group "${group}"`,
    given: () => kindWith({ type: "string" }, { group }),
    expected: `"group" must be a domain name in lower case with a dot, such as "demo.example.com", got "${group}"`,
  })),
  ...["v1/../v2", "V1", "1", "v1.0", "__proto__", ""].map((version) => ({
    name: `the version "${version}"`,
    given: () => kindWith({ type: "string" }, { version }),
    expected:
      `"version" must have at most 63 lower case letters, digits and "-", and start with a letter, such as "v1", ` +
      `got "${version}"`,
  })),
  ...["a/b", "../secrets", "Websites", "web sites", "__proto__"].map((plural) => ({
    name: `the plural "${plural}"`,
    given: () => kindWith({ type: "string" }, { plural }),
    expected:
      `"plural" must have at most 63 lower case letters, digits and "-", and start with a letter, such as "websites", ` +
      `got "${plural}"`,
  })),
];

for (const { name, given, expected } of INVALID) {
  Deno.test(`resource rejects ${name}`, () => {
    assert.throws(given, (error) => {
      assert(error instanceof TypeError);
      assert.equal(error.message.replace(/^Cannot define kind ".*?": /s, ""), expected);
      return true;
    });
  });
}

Deno.test("resource accepts names of Object.prototype as fields, and does not modify prototypes", () => {
  const text =
    '{"type":"object","properties":{"__proto__":{"type":"string","default":"x"},"constructor":{"type":"string"}}}';

  assert.equal(JSON.stringify(kindWith(JSON.parse(text))), text);
  assert.equal(({} as Record<string, unknown>)["type"], undefined);
});

Deno.test("resource accepts a schema that is used twice", () => {
  const shared = { type: "object", properties: { a: { type: "string" } } };

  assert.deepEqual(kindWith({ type: "object", properties: { x: shared, y: shared } }).properties?.["y"], shared);
});

Deno.test("resource rejects thousands of nested objects without a stack overflow", () => {
  let schema: Schema<unknown, unknown, "required"> = s.string();
  for (let i = 0; i < 3000; i++) schema = s.object({ a: any(schema) });

  assert.throws(() => kindWith(schema), { name: "TypeError", message: /is nested deeper than 1000 levels of JSON/ });
});
