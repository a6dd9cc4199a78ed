/**
 * Values of stored objects in rules: comparison, concatenation and indexing of JSON lists and maps,
 * on a real API server and here.
 */
import assert from "node:assert/strict";
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { validate } from "../../src/schema/validate.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { eventually } from "../eventually.ts";
import { createObject, defineKind } from "./_cel_comparison.ts";

const RULES = [
  "dyn(1) in self.objects",
  "self.objects == dyn(1)",
  "self.numbers == dyn(1)",
  "dyn(1) == self.numbers",
  "self.objects[0] == dyn(1)",
  "dyn([1]) == self.numbers",
  "self.numbers == dyn(['a'])",
  "[dyn(1)] == self.objects",
  "self.objects == dyn([1])",
  "self.numbers + [3] == [1, 2]",
  "4 in self.numbers + [3]",
  "dyn('a') in self.numbers",
  "dyn(1) in [dyn(2)] + self.objects",
  "dyn(1) in self.objects + [dyn(1)]",
  "dyn(1) in self.objects + self.objects",
  "sets.contains(dyn(self.objects), dyn([1]))",
  "sets.intersects(dyn([1]), dyn(self.objects))",
  "(self.times + self.times)[1] != self.times[0]",
  "(self.times + self.times).size() == 3",
  "([self.times[0]] + self.times)[1] != self.times[0]",
  "(self.bytes + self.bytes)[1] == self.bytes[0]",
  "self.lists + [[1]] == [[1], [1]]",
  "(self.lists + [[1]])[1] == [1]",
  "(self.objects + [dyn({'a': 1})])[1] == 1",
  "(self.numbers + [dyn(1.5)])[2] == 1",
  "(self.numbers + [dyn('a')])[2] == 1",
  "self.map == dyn(1)",
  "self.map != dyn({'a': 'x'})",
  "dyn({1: 1}) == self.map",
  "dyn(1) in self.map",
  "self.map[dyn(1)] == 'a'",
  "!has(self.objects[0].a)",
  "self.numbers[dyn(1.0)] == 2",
  "self.numbers[dyn(1u)] == 2",
  "self.numbers[dyn('a')] == 2",
  "self.numbers[5] == 2",
  "[1] + self.numbers != [1, 1, 2]",
  "[] + self.numbers != self.numbers",
  "self.empty + [1] != [1]",
  "self.numbers.map(x, x) != self.numbers",
  "self.objects != self.objects.map(object, object)",
  "self.objects.distinct().size() == 2",
  "dyn(self.objects).indexOf(1) == 0",
];
const text = { type: "string", maxLength: 30 } as const;
const whole = { type: "integer" } as const;
const schema: JsonSchema = {
  type: "object",
  properties: {
    objects: { type: "array", maxItems: 3, items: { type: "object", properties: { a: whole } } },
    numbers: { type: "array", maxItems: 3, items: whole },
    empty: { type: "array", maxItems: 3, items: whole },
    times: { type: "array", maxItems: 3, items: { ...text, format: "date-time" } },
    bytes: { type: "array", maxItems: 3, items: { ...text, format: "byte" } },
    lists: { type: "array", maxItems: 3, items: { type: "array", maxItems: 3, items: whole } },
    map: { type: "object", maxProperties: 3, additionalProperties: text },
  },
  "x-kubernetes-validations": RULES.map((rule) => ({ rule })),
};
const value = {
  objects: [{ a: 1 }],
  numbers: [1, 2],
  empty: [],
  times: ["2026-01-01T00:00:00Z"],
  bytes: ["YWI="],
  lists: [[1]],
  map: { a: "x" },
};

Deno.test(`${RULES.length} rules about stored lists and maps fail with the same messages on a real API server and here`, async () => {
  await using cluster = await realCluster();
  assert.deepEqual(await defineKind(cluster, "Stored", { ...schema }), { status: 201, causes: [] });

  const { causes } = await eventually(async () => {
    const response = await createObject(cluster, "Stored", value);
    assert.equal(response.status, 422);
    return response;
  });

  const ours = validate({ type: "object", properties: { spec: schema } }, { spec: value });
  assert.deepEqual(ours.map(({ message }) => afterValue(message)), causes.map(({ message }) => afterValue(message)));
  assert.equal(ours.length, RULES.length);
});

/** Returns the part of an error after the value. */
function afterValue(message: string): string {
  return message.replace(/^Invalid value: (?:"object": )?/, "");
}
