import assert from "node:assert/strict";
import { fieldTarget } from "./field_path.ts";

const SCHEMA = {
  type: "object",
  properties: {
    a: { type: "string" },
    "b-c": { type: "object", properties: { d: { type: "integer" } } },
    map: { type: "object", additionalProperties: { type: "boolean" } },
    open: { type: "object", additionalProperties: true },
    list: { type: "array", items: { type: "string" } },
    "it's": { type: "string" },
  },
} as const;

const FOUND: readonly { path: string; field: string; type: string | undefined }[] = [
  { path: ".a", field: "a", type: "string" },
  { path: ".b-c.d", field: "b-c.d", type: "integer" },
  { path: "['b-c'].d", field: "b-c.d", type: "integer" },
  { path: "['b-c']['d']", field: "b-c.d", type: "integer" },
  { path: ".map.any", field: "map[any]", type: "boolean" },
  { path: ".map['a.b']", field: "map[a.b]", type: "boolean" },
  { path: ".open.any", field: "open[any]", type: undefined },
  { path: "['it\\'s']", field: "it's", type: "string" },
];
for (const { path, field, type } of FOUND) {
  Deno.test(`fieldTarget resolves ${path}`, () => {
    const found = fieldTarget(path, SCHEMA);
    assert.deepEqual([found.field, found.schema?.type], [field, type]);
  });
}

const REJECTED: readonly { path: string; expected: string }[] = [
  { path: "a", expected: "expected [ or . but got: a" },
  { path: ".", expected: "unexpected end of JSON path" },
  { path: ".nowhere", expected: "does not refer to a valid field" },
  { path: ".a.b", expected: "does not refer to a valid field" },
  { path: ".list[0]", expected: "expected single quoted string but got 0" },
  { path: "['a'", expected: "unexpected end of JSON path" },
  { path: "['a", expected: "expected single quoted string but got 'a" },
  { path: "['\\q']", expected: "invalid string literal: invalid escape char \\q" },
  { path: ".open.any.more", expected: "does not refer to a valid field" },
  { path: ".toString", expected: "does not refer to a valid field" },
];
for (const { path, expected } of REJECTED) {
  Deno.test(`fieldTarget rejects ${path}`, () => {
    assert.throws(() => fieldTarget(path, SCHEMA), { message: expected });
  });
}

Deno.test("fieldTarget rejects brackets if they are not allowed", () => {
  assert.throws(() => fieldTarget("['a']", SCHEMA, { brackets: false }), { message: "array notation is not allowed" });
});
