import assert from "node:assert/strict";
import { FieldSet, pathText } from "./field_set.ts";

const set = (fields: unknown) => FieldSet.parse(fields);

Deno.test("FieldSet parses and formats fieldsV1", () => {
  const fields = {
    "f:a": {},
    "f:b": { ".": {}, "f:c": {} },
    "f:d": { 'k:{"name":"x"}': { ".": {}, "f:name": {} } },
    "f:e": { 'v:"y"': {} },
  };

  assert.deepEqual(set(fields).toJSON(), fields);
});

Deno.test("FieldSet compares list map keys independent of their order", () => {
  const left = set({ 'k:{"a":1,"b":2}': {} });
  const right = set({ 'k:{"b":2,"a":1}': {} });

  assert(left.difference(right).isEmpty);
});

const operations: readonly { name: string; make: (a: FieldSet, b: FieldSet) => FieldSet; expected: unknown }[] = [
  {
    name: "union",
    make: (a, b) => a.union(b),
    expected: { "f:a": { ".": {}, "f:x": {}, "f:y": {} }, "f:b": {}, "f:c": {} },
  },
  { name: "intersection", make: (a, b) => a.intersection(b), expected: { "f:b": {} } },
  { name: "difference", make: (a, b) => a.difference(b), expected: { "f:a": { "f:x": {} } } },
  { name: "recursive difference", make: (a, b) => a.recursiveDifference(b), expected: {} },
];

for (const { name, make, expected } of operations) {
  Deno.test(`FieldSet computes the ${name}`, () => {
    const a = set({ "f:a": { "f:x": {} }, "f:b": {} });
    const b = set({ "f:a": { ".": {}, "f:y": {} }, "f:b": {}, "f:c": {} });

    assert.deepEqual(make(a, b).toJSON(), expected);
  });
}

Deno.test("pathText formats paths for messages", () => {
  assert.equal(pathText(["f:spec", "f:ports", 'k:{"name":"a","port":1}', "f:x"]), '.spec.ports[name="a",port=1].x');
  assert.equal(pathText(["f:tags", 'v:"a"']), '.tags[="a"]');
});
