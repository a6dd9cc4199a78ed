/**
 * Invalid definitions for `resource()` and for the real API server, including those that only one
 * of them rejects.
 */
import assert from "node:assert/strict";
import type { JsonSchema, Schema } from "../../src/schema/mod.ts";
import { resource } from "../../src/resource/mod.ts";
import { DEFINITIONS, ourServer, realServer, type Server } from "./_servers.ts";

interface Names {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly plural?: string;
}

interface BadDefinition extends Names {
  readonly name: string;
  /** The schema of `.spec.f`. */
  readonly schema?: JsonSchema;
  /** The error of `resource()`. Omitted if it accepts the definition. */
  readonly ours?: RegExp;
  /**
   * The field in the server's error, relative to the schema of `.spec.f` or absolute. Omitted if
   * the server accepts the definition.
   */
  readonly server?: string;
}

const json = (text: string): JsonSchema => JSON.parse(text);
const rules = (...rules: readonly string[]): JsonSchema => ({
  type: "object",
  properties: { a: { type: "string" }, n: { type: "integer" }, l: { type: "array", items: { type: "string" } } },
  "x-kubernetes-validations": rules.map((rule) => ({ rule })),
});

const BAD: readonly BadDefinition[] = [
  {
    name: "a group with ../",
    group: "../a.example.com",
    ours: /"group" must be a domain name/,
    server: "spec.group",
  },
  { name: "a group in uppercase", group: "A.example.com", ours: /"group" must be a domain name/, server: "spec.group" },
  { name: "a version with ../", version: "v1/../v2", ours: /"version" must have/, server: "spec.versions[0].name" },
  { name: "a version called __proto__", version: "__proto__", ours: /"version" must/, server: "spec.versions[0].name" },
  { name: "a kind with ../", kind: "../Secret", ours: /"kind" must be/, server: "spec.names.kind" },
  { name: "a kind called __proto__", kind: "__proto__", ours: /"kind" must be/, server: "spec.names.kind" },
  // The server accepts any DNS label as a kind. Clients may have problems with it.
  { name: "a kind called constructor", kind: "constructor", ours: /"kind" must be in CamelCase/ },
  { name: "a plural with ../", plural: "../secrets", ours: /"plural" must have/, server: "spec.names.plural" },
  {
    name: "fields called __proto__ and constructor",
    schema: json('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}'),
  },
  {
    name: "a invalid type below __proto__",
    schema: json('{"type":"object","properties":{"__proto__":{"type":"text"}}}'),
    ours: /"type" of \.spec\.f\.__proto__: Unsupported value: "text"/,
    server: ".properties[__proto__].type",
  },
  {
    name: "a default of another type",
    schema: { type: "integer", default: "x" },
    ours: /"default" of \.spec\.f: .* must be of type integer/,
    server: ".default",
  },
  {
    name: "a nested default above its maximum",
    schema: {
      type: "array",
      items: { type: "object", properties: { a: { type: "integer", maximum: 3, default: 5 } } },
    },
    ours: /"default" of \.spec\.f\[\]\.a: .* should be less than or equal to 3/,
    server: ".items.properties[a].default",
  },
  {
    name: "a default with an unknown field",
    schema: { type: "object", properties: { a: { type: "string" } }, default: { b: 1 } },
    ours: /"default" of \.spec\.f: .* must not have unknown fields/,
    server: ".default",
  },
  {
    name: "a default without a required field",
    schema: { type: "object", properties: { a: { type: "string" } }, required: ["a"], default: {} },
    ours: /"default\.a" of \.spec\.f: Required value/,
    server: ".default.a",
  },
  {
    name: "a default that violates its own rule",
    schema: { type: "integer", default: 5, "x-kubernetes-validations": [{ rule: "self < 3" }] },
    ours: /"default" of \.spec\.f: Invalid value: 5: failed rule: self < 3/,
    server: ".default",
  },
  // The server accepts it; s.enum and s.raw do not.
  { name: "an enum with a duplicate value", schema: { type: "string", enum: ["a", "b", "a"] } },
  {
    name: "a pattern with a look-ahead",
    schema: { type: "string", pattern: "^(?!a)" },
    ours: /"pattern" of \.spec\.f: .* must be a valid regular expression/,
    server: ".pattern",
  },
  {
    name: "a pattern with a back reference",
    schema: { type: "string", pattern: "(a)\\1" },
    ours: /"pattern" of \.spec\.f: .* invalid escape sequence/,
    server: ".pattern",
  },
  {
    name: "a rule that does not parse",
    schema: rules("self.a =="),
    ours: /the rule "self\.a ==" of \.spec\.f: compilation failed: ERROR: <input>:1:\d+: Syntax error/,
    server: ".x-kubernetes-validations[0].rule",
  },
  {
    name: "a rule with an unknown field",
    schema: rules("self.a == 'x'", "self.b == 'x'"),
    ours: /the rule "self\.b == 'x'" of \.spec\.f: compilation failed: ERROR: <input>:1:5: undefined field 'b'/,
    server: ".x-kubernetes-validations[1].rule",
  },
  {
    name: "a rule that compares a string with an integer",
    schema: rules("self.a > self.n"),
    ours: /the rule "self\.a > self\.n" of \.spec\.f: compilation failed: .* found no matching overload/,
    server: ".x-kubernetes-validations[0].rule",
  },
  {
    name: "a rule that costs too much",
    schema: rules("self.l.all(x, self.l.all(y, x == y))"),
    ours:
      /of \.spec\.f: Forbidden: estimated rule cost exceeds .*; add maxItems to \.spec\.f\.l, maxLength to \.spec\.f\.l\[\]/,
    server: ".x-kubernetes-validations[0].rule",
  },
  {
    name: "a list-map key that is optional",
    schema: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object", properties: { name: { type: "string" } } },
    },
    ours: /"default" of \.spec\.f\[\]\.name: Required value: this property is in x-kubernetes-list-map-keys/,
    server: ".items.properties[name].default",
  },
  {
    name: "a list-map key that is an unknown property",
    schema: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["constructor"],
      items: { type: "object", properties: { name: { type: "string" } } },
    },
    ours: /"x-kubernetes-list-map-keys" of \.spec\.f: .* entries must all be names of item properties/,
    server: ".x-kubernetes-list-map-keys",
  },
  {
    name: "a set of objects",
    schema: { type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } },
    ours: /"items.x-kubernetes-map-type" of \.spec\.f|"x-kubernetes-map-type" of \.spec\.f\[\]/,
    server: ".items.x-kubernetes-map-type",
  },
  {
    name: "a recursive schema by $ref",
    schema: json('{"type":"object","properties":{"a":{"$ref":"#/properties/spec"}}}'),
    ours: /"\$ref" of \.spec\.f\.a: Forbidden: \$ref is not supported/,
    server: ".properties[a].$ref",
  },
];

Deno.test("resource() rejects invalid definitions with the position and the reason", async (t) => {
  for (const bad of BAD) {
    await t.step(bad.name, () => {
      if (bad.ours === undefined) return void kindOf(bad);
      assert.throws(() => kindOf(bad), (error) => {
        assert(error instanceof TypeError);
        assert.match(error.message, /^Cannot define kind "/);
        assert.match(error.message, bad.ours!);
        return true;
      });
    });
  }
});

Deno.test("the real API server and ours reject invalid definitions at the same position", async (t) => {
  await using real = await realServer();
  await using ours = ourServer();
  for (const bad of BAD) {
    await t.step(bad.name, async () => {
      for (const server of [real, ours]) await checkResponse(server, bad);
    });
  }
  await t.step("a schema that exceeds the depth limit of JSON", async () => {
    const [start, end] = JSON.stringify(manifest({ name: "" }, { title: "nested" })).split('{"title":"nested"}');
    const deep = '{"type":"array","items":'.repeat(10_000) + '{"type":"string"}' + "}".repeat(10_000);
    const { code, body } = await real.send("POST", `${DEFINITIONS}?dryRun=All`, `${start}${deep}${end}`);
    assert.equal(code, 400);
    assert.match(body.message, /exceeded max depth/);
  });
});

function withDefaults({ group = "bad.example.com", version = "v1", kind = "Bad", plural = "bads" }: Names) {
  return { group, version, kind, plural };
}

function kindOf(bad: BadDefinition): unknown {
  const { schema = { type: "string" } } = bad;
  const spec = { type: "object", properties: { f: schema } } as unknown as Schema<unknown, unknown, "required">;
  return resource({ ...withDefaults(bad), spec });
}

/** Returns the definition as handwritten without `resource()`. */
function manifest(bad: BadDefinition, schema: JsonSchema): unknown {
  const { group, version, kind, plural } = withDefaults(bad);
  const spec = { type: "object", properties: { f: schema } };
  const openAPIV3Schema = { type: "object", properties: { spec } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: "bad", listKind: "BadList" },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

async function checkResponse(server: Server, bad: BadDefinition): Promise<void> {
  const text = JSON.stringify(manifest(bad, bad.schema ?? { type: "string" }));
  const { code, body } = await server.send("POST", `${DEFINITIONS}?dryRun=All&fieldValidation=Strict`, text);
  assert.equal(code, bad.server === undefined ? 201 : 422, `${server.name}: ${JSON.stringify(body)}`);
  if (bad.server === undefined) return;
  const at = "spec.validation.openAPIV3Schema.properties[spec].properties[f]";
  const field = bad.server.startsWith(".") ? `${at}${bad.server}` : bad.server;
  const fields = body.details.causes.map((cause: { field: string }) => cause.field);
  assert(fields.includes(field), `${server.name}: "${field}" is not among ${JSON.stringify(fields)}`);
}
