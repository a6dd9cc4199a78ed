import assert from "node:assert/strict";
import fc from "../../tests/fixtures/property.ts";
import { type JsonSchema, s, type Schema } from "./mod.ts";

/** A random schema from the builders. */
const item: fc.Arbitrary<Schema<unknown, unknown, "required">> = fc.letrec<
  { any: Schema<unknown, unknown, "required">; leaf: Schema<unknown, unknown, "required"> }
>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie("leaf"),
    fc.tuple(tie("any"), fc.nat(5)).map(([items, maxItems]) => s.array(items, { maxItems })),
    fc.tuple(tie("any"), fc.nat(5)).map(([values, maxProperties]) => s.map(values, { maxProperties })),
    tie("any").map((schema) => s.nullable(schema)),
    fc.dictionary(
      fc.string({ minLength: 1 }).filter((name) => name !== "__proto__"),
      fc.tuple(tie("any"), fc.boolean()).map(([schema, optional]) => optional ? s.optional(schema) : schema),
      { maxKeys: 4, noNullPrototype: true },
    ).map((properties) => s.object(properties)),
  ),
  leaf: fc.oneof(
    fc.tuple(fc.nat(9), fc.nat(9), fc.string()).map(([a, b, description]) =>
      s.string({ minLength: Math.min(a, b), maxLength: Math.max(a, b), description })
    ),
    fc.tuple(fc.integer(), fc.nat()).map(([minimum, more]) => s.integer({ minimum, maximum: minimum + more })),
    fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 4 }).map((values) => s.enum(values)),
    fc.constantFrom(s.boolean(), s.number(), s.intOrString(), s.anything()),
  ),
})).any;

function isFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

/**
 * Converts objects to lists of entries. A property "constructor" confuses assert.deepEqual of Deno
 * 2.4.
 */
function pairs(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(pairs);
  return { pairs: Object.entries(value).map(([key, inner]) => [key, pairs(inner)]) };
}

/** Calls `check` for each object in a schema. */
function everyObject(schema: JsonSchema, check: (object: JsonSchema) => void): void {
  if (schema.type === "object") check(schema);
  for (const below of [schema.items, ...Object.values(schema.properties ?? {})]) if (below) everyObject(below, check);
  if (typeof schema.additionalProperties === "object") everyObject(schema.additionalProperties, check);
}

Deno.test("schemas equal their own JSON for random options", () => {
  fc.assert(fc.property(item, (schema) => {
    assert.deepEqual(pairs(JSON.parse(JSON.stringify(schema))), pairs(schema));
    assert(isFrozen(schema));
    everyObject(schema, ({ properties = {}, required = [] }) => {
      assert.equal(new Set(required).size, required.length);
      for (const name of required) assert(Object.hasOwn(properties, name));
    });
  }));
});

Deno.test("s.object requires all non-optional properties for random names", () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1 }).filter((name) => name !== "__proto__"), { maxLength: 8 });
  fc.assert(fc.property(names, fc.infiniteStream(fc.boolean()), (names, coin) => {
    const flags = names.map((name) => [name, coin.next().value === true] as const);
    const schema = s.object(
      Object.fromEntries(flags.map(([name, optional]) => [name, optional ? s.optional(s.string()) : s.string()])),
    );

    const required = flags.filter(([, optional]) => !optional).map(([name]) => name);
    assert.deepEqual(new Set(schema.required ?? []), new Set(required));
  }));
});
