import assert from "node:assert/strict";
import { readEmbedded } from "./embedded_metadata.ts";
import type { JsonSchema } from "./json_schema.ts";
import { prune } from "./prune.ts";
import { validate } from "./validate.ts";

const resource: JsonSchema = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
};
const schema: JsonSchema = {
  type: "object",
  properties: {
    one: resource,
    list: { type: "array", items: resource },
    map: { type: "object", additionalProperties: resource },
  },
};
const TYPE = { apiVersion: "v1", kind: "Pod" };

/**
 * Results of a real API server for `metadata` in an embedded object, with the fields that it
 * reported as unknown.
 */
const READ: readonly { name: string; given: unknown; expected: unknown; unknown?: string[] }[] = [
  { name: "null", given: null, expected: {} },
  { name: "a time that is null", given: { creationTimestamp: null }, expected: {} },
  { name: "the zero time", given: { creationTimestamp: "0001-01-01T00:00:00Z" }, expected: {} },
  { name: "empty values", given: { name: "", generation: 0, labels: {}, finalizers: [] }, expected: {} },
  {
    name: "a zero behind a pointer",
    given: { deletionGracePeriodSeconds: 0 },
    expected: { deletionGracePeriodSeconds: 0 },
  },
  { name: "deprecated fields", given: { selfLink: "y" }, expected: { selfLink: "y" } },
  { name: "a label that is null", given: { labels: { a: null } }, expected: { labels: { a: "" } } },
  {
    name: "a time in another zone",
    given: { deletionTimestamp: "2024-01-01T00:30:00.5+01:00" },
    expected: { deletionTimestamp: "2023-12-31T23:30:00Z" },
  },
  {
    name: "an owner without required fields",
    given: { ownerReferences: [{ kind: "Pod", controller: false }, null] },
    expected: {
      ownerReferences: [{ apiVersion: "", kind: "Pod", name: "", uid: "", controller: false }, {
        apiVersion: "",
        kind: "",
        name: "",
        uid: "",
      }],
    },
  },
  {
    name: "unknown fields",
    given: { name: "a", nmae: "b", ownerReferences: [{ other: 1 }] },
    expected: { name: "a", ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }] },
    unknown: ["metadata.nmae", "metadata.ownerReferences[0].other"],
  },
];

for (const { name, given, expected, unknown = [] } of READ) {
  Deno.test(`prune decodes embedded metadata like the server: ${name}`, () => {
    const at = (metadata: unknown) => ({ ...TYPE, metadata });
    const before = { one: at(given), list: [at(given)], map: { "a.b": at(given) } };

    const { value, dropped } = prune(schema, before);

    assert.deepEqual(value, { one: at(expected), list: [at(expected)], map: { "a.b": at(expected) } });
    const places = ["one", "list[0]", "map[a.b]"];
    assert.deepEqual(
      [...dropped].sort(),
      places.flatMap((place) => unknown.map((field) => `${place}.${field}`)).sort(),
    );
  });
}

const WRONG_TYPES: readonly { given: unknown; expected: string }[] = [
  { given: 3, expected: "cannot unmarshal number into Go value of type v1.ObjectMeta" },
  { given: { name: 3 }, expected: "cannot unmarshal number into Go struct field ObjectMeta.name of type string" },
  {
    given: { labels: [] },
    expected: "cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string",
  },
  {
    given: { generation: 1.5 },
    expected: "cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64",
  },
  {
    given: { ownerReferences: [{ uid: true }] },
    expected: "cannot unmarshal bool into Go struct field OwnerReference.ownerReferences.uid of type types.UID",
  },
  {
    given: { creationTimestamp: "yesterday" },
    expected: 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  },
  {
    given: { deletionTimestamp: "2024-13-01T00:00:00Z" },
    expected: 'parsing time "2024-13-01T00:00:00Z": month out of range',
  },
];

for (const { given, expected } of WRONG_TYPES) {
  Deno.test(`validate reports the server's decoding error for metadata ${JSON.stringify(given)}, and prune keeps it`, () => {
    const value = { one: { ...TYPE, metadata: given } };

    assert.deepEqual(prune(schema, value), { value, dropped: [] });
    const [error, ...others] = validate(schema, value);
    assert.deepEqual(others, []);
    assert.equal(error?.field, "one.metadata");
    assert(error.message.endsWith(expected), error.message);
  });
}

Deno.test('readEmbedded drops fields of a wrong type with onWrongType "drop"', () => {
  const value = { one: { apiVersion: 1, kind: "Pod", metadata: { name: "a", labels: 3 } } };

  assert.deepEqual(readEmbedded(schema, value, { onWrongType: "drop" }), {
    one: { kind: "Pod", metadata: { name: "a" } },
  });
});

Deno.test("readEmbedded returns the same object if it changes no field", () => {
  const value = { one: { ...TYPE, spec: { metadata: null } }, other: {} };

  assert.equal(readEmbedded(schema, value), value);
});
