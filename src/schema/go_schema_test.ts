import assert from "node:assert/strict";
import { normalSchema, quotedRule, quotedSchema } from "./go_schema.ts";

Deno.test("normalSchema drops empty values and unknown keywords at any depth", () => {
  assert.deepEqual(
    normalSchema({
      type: "object",
      title: "",
      nullable: false,
      required: [],
      default: null,
      minimum: 0,
      other: 1,
      properties: {
        a: { type: "array", items: { type: "string", enum: [], other: 1 }, maxItems: 0 },
        b: { type: "object", additionalProperties: { type: "string", description: "" } },
        c: { type: "object", properties: {}, additionalProperties: false, not: {} },
        d: { "x-kubernetes-preserve-unknown-fields": true, allOf: [] },
        e: { type: "string", "x-kubernetes-validations": [{ rule: "true", message: "", optionalOldSelf: false }] },
      },
    }),
    {
      type: "object",
      minimum: 0,
      properties: {
        a: { type: "array", items: { type: "string" }, maxItems: 0 },
        b: { type: "object", additionalProperties: { type: "string" } },
        c: { type: "object", additionalProperties: false, not: {} },
        d: { "x-kubernetes-preserve-unknown-fields": true },
        e: { type: "string", "x-kubernetes-validations": [{ rule: "true", optionalOldSelf: false }] },
      },
    },
  );
});

Deno.test('normalSchema keeps a property named "__proto__"', () => {
  const schema = normalSchema(JSON.parse('{"properties": {"__proto__": {"type": "string", "title": ""}}}'));

  assert.equal(JSON.stringify(schema), '{"properties":{"__proto__":{"type":"string"}}}');
});

Deno.test("quotedSchema contains all fields by their Go names", () => {
  const text = quotedSchema({ type: "object", properties: { "a<b": { type: "array", items: { type: "string" } } } });

  assert(text.startsWith('{"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,'));
  assert(text.includes('"Properties":{"a\\u003cb":{"ID":""'));
  assert(text.includes('"Items":{"Schema":{"ID":""'));
  assert(text.endsWith('"XListType":null,"XMapType":null,"XValidations":null}'));
});

Deno.test("quotedRule contains all fields by their Go names", () => {
  assert.equal(
    quotedRule({ rule: "self > 1", reason: "FieldValueInvalid" }),
    '{"Rule":"self \\u003e 1","Message":"","MessageExpression":"","Reason":"FieldValueInvalid","FieldPath":"","OptionalOldSelf":null}',
  );
});
