import assert from "node:assert/strict";
import { s } from "../schema/mod.ts";
import { resource } from "./resource.ts";
import { applyDefaults, validate } from "./validation.ts";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({
    host: s.string({ maxLength: 100, validations: [{ rule: "self == oldSelf", message: "the host stays" }] }),
    replicas: s.integer({ maximum: 20, default: 1 }),
    ports: s.optional(
      s.array(s.object({ name: s.string(), number: s.optional(s.integer()) }), {
        listType: "map",
        listMapKeys: ["name"],
      }),
    ),
  }),
  status: s.object({ ready: s.optional(s.integer({ minimum: 0 })) }),
});

function messagesOf(errors: ReturnType<typeof validate>): string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

Deno.test("validate validates a whole object of a kind", () => {
  assert.deepEqual(validate(Website, { spec: { host: "a" } }), []);
  assert.deepEqual(
    messagesOf(
      validate(Website, { spec: { replicas: 21, ports: [{ name: "a" }, { name: "a" }] }, status: { ready: -1 } }),
    ),
    [
      "spec.replicas: Invalid value: 21: spec.replicas in body should be less than or equal to 20",
      "spec.host: Required value",
      "status.ready: Invalid value: -1: status.ready in body should be greater than or equal to 0",
      'spec.ports[1]: Duplicate value: {"name":"a"}',
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; " +
      "correct the existing errors to complete validation",
    ],
  );
});

Deno.test("validate rejects an object of another kind", () => {
  assert.deepEqual(messagesOf(validate(Website, { apiVersion: "v1", kind: "Pod" })), [
    'kind: Invalid value: "Pod": must be Website',
    'apiVersion: Invalid value: "v1": must be demo.example.com/v1',
  ]);
});

Deno.test("validate evaluates transition rules with an old value, and returns the failed rule", () => {
  const old = { spec: { host: "a" } };

  assert.deepEqual(validate(Website, { spec: { host: "b" } }, { old }), [{
    reason: "FieldValueInvalid",
    field: "spec.host",
    message: 'Invalid value: "b": the host stays',
    rule: "self == oldSelf",
  }]);
});

Deno.test("validate ignores undefined properties and null properties that are not nullable", () => {
  const schema = s.object({ a: s.optional(s.integer()), b: s.optional(s.string()) }, { maxProperties: 1 });

  assert.deepEqual(validate(schema, { a: undefined, b: "x" }), []);
  assert.deepEqual(validate(schema, { a: null, b: "x" }), []);
});

Deno.test("validate sets defaults before it evaluates rules", () => {
  const schema = s.object({ size: s.integer({ default: 3 }) }, { validations: [{ rule: "self.size < 5" }] });

  assert.deepEqual(validate(schema, {}), []);
  assert.equal(validate(schema, { size: 5 }).length, 1);
});

Deno.test("validate treats metadata in a part of an object as an ordinary field", () => {
  const schema = s.object({ a: s.optional(s.string()) }, { maxProperties: 1 });

  assert.deepEqual(validate(schema, { a: "x", kind: "dropped" }), []);
});

Deno.test("validate rejects a kind without a schema", () => {
  const ConfigMap = { ...Website, crd: undefined as never, kind: "ConfigMap" as const };

  assert.throws(() => validate(ConfigMap, {}), {
    name: "TypeError",
    message: 'Cannot validate kind "ConfigMap": it has no schema. Only kinds from resource() have one',
  });
});

for (const given of ["Website", undefined, null, 5]) {
  Deno.test(`validate and applyDefaults reject ${given} as a schema`, () => {
    const message = (action: string) =>
      `Cannot ${action} a value: the first argument must be a schema or a kind, got ` +
      `${JSON.stringify(given)}`;

    assert.throws(() => validate(given as never, {}), { name: "TypeError", message: message("validate") });
    assert.throws(() => applyDefaults(given as never, {} as never), {
      name: "TypeError",
      message: message("apply defaults to"),
    });
  });
}

Deno.test("validate applies the bounds of an int-or-string by the type of the value", () => {
  const surge = s.intOrString({ minimum: 1, maximum: 9, minLength: 2, maxLength: 4 });

  for (const value of [1, 9, "1%", "100%"]) assert.deepEqual(validate(surge, value), []);
  for (const value of [0, 10, "", "%", "1000%"]) assert.equal(validate(surge, value).length, 1);
});

Deno.test("applyDefaults adds defaults, apiVersion and kind to an object", () => {
  const website = applyDefaults(Website, { metadata: { name: "a" }, spec: { host: "a" } });

  website.spec.replicas satisfies number;
  assert.deepEqual(website, {
    apiVersion: "demo.example.com/v1",
    kind: "Website",
    metadata: { name: "a" },
    spec: { host: "a", replicas: 1 },
  });
});

Deno.test("applyDefaults returns the type in which properties with a default are required", () => {
  const schema = s.object({ size: s.integer({ default: 3 }), name: s.optional(s.string()) });

  applyDefaults(schema, {}).size satisfies number;
  // @ts-expect-error a size is a number
  applyDefaults(schema, { size: "x" });
  assert.deepEqual(applyDefaults(schema, { name: "a" }), { name: "a", size: 3 });
});
