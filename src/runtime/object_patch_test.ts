import assert from "node:assert/strict";
import { applyJsonPatch } from "../base/json_patch.ts";
import type { KubeObject } from "../resource/kind.ts";
import { type GuardedChanges, hasValues, type ObjectPatch, patchOf } from "./object_patch.ts";

const RECORD = ["metadata", "annotations", "example.com/record"];

const CASES: readonly { name: string; object: object; changes: Partial<GuardedChanges>; expected: ObjectPatch }[] = [
  {
    name: "sends a merge patch if nothing is tested",
    object: {},
    changes: { merge: { status: { url: "a" } } },
    expected: { type: "merge", patch: { status: { url: "a" } } },
  },
  {
    name: "tests the version in a merge patch",
    object: {},
    changes: { merge: { metadata: { finalizers: ["a/b"] } }, isVersioned: true },
    expected: { type: "merge", patch: { metadata: { resourceVersion: "7", finalizers: ["a/b"] } } },
  },
  {
    name: "tests the uid and the previous value of a field",
    object: { metadata: { annotations: { "example.com/record": "old" } } },
    changes: { fields: [{ keys: RECORD, before: "old", after: "new" }] },
    expected: {
      type: "json",
      patch: [
        { op: "test", path: "/metadata/uid", value: "u" },
        { op: "test", path: "/metadata/annotations/example.com~1record", value: "old" },
        { op: "add", path: "/metadata/annotations/example.com~1record", value: "new" },
      ],
    },
  },
  {
    name: "tests that a field which was absent still is",
    object: { metadata: { annotations: { other: "x" } } },
    changes: { fields: [{ keys: RECORD, before: undefined, after: "new" }] },
    expected: {
      type: "json",
      patch: [
        { op: "test", path: "/metadata/uid", value: "u" },
        { op: "test", path: "/metadata/annotations/example.com~1record", value: null },
        { op: "add", path: "/metadata/annotations/example.com~1record", value: "new" },
      ],
    },
  },
  {
    name: "creates missing objects around a field only if they still are missing",
    object: {},
    changes: { fields: [{ keys: ["status", "handlerState", "shop"], before: undefined, after: "new" }] },
    expected: {
      type: "json",
      patch: [
        { op: "test", path: "/metadata/uid", value: "u" },
        { op: "test", path: "/status", value: null },
        { op: "add", path: "/status", value: { handlerState: { shop: "new" } } },
      ],
    },
  },
  {
    name: "removes a field",
    object: { metadata: { annotations: { "example.com/record": "old" } } },
    changes: { fields: [{ keys: RECORD, before: "old", after: undefined }] },
    expected: {
      type: "json",
      patch: [
        { op: "test", path: "/metadata/uid", value: "u" },
        { op: "test", path: "/metadata/annotations/example.com~1record", value: "old" },
        { op: "remove", path: "/metadata/annotations/example.com~1record" },
      ],
    },
  },
  {
    name: "converts the other changes to operations",
    object: { status: { handlerState: { shop: "old" }, url: "a", parts: { one: 1, two: 2 } } },
    changes: {
      merge: { status: { url: null, none: null, parts: { two: 3, three: null }, sizes: { large: 1, small: null } } },
      fields: [{ keys: ["status", "handlerState", "shop"], before: "old", after: "new" }],
    },
    expected: {
      type: "json",
      patch: [
        { op: "test", path: "/metadata/uid", value: "u" },
        { op: "test", path: "/status/handlerState/shop", value: "old" },
        { op: "test", path: "/status/sizes", value: null },
        { op: "remove", path: "/status/url" },
        { op: "add", path: "/status/parts/two", value: 3 },
        { op: "add", path: "/status/sizes", value: { large: 1 } },
        { op: "add", path: "/status/handlerState/shop", value: "new" },
      ],
    },
  },
];

for (const { name, object, changes, expected } of CASES) {
  Deno.test(`patchOf ${name}`, () => {
    assert.deepEqual(patchOf(withMetadata(object), { ...NONE, ...changes }), expected);
  });
}

const NONE: GuardedChanges = { merge: {}, fields: [], isVersioned: false };

Deno.test("patchOf tests the version in place of a value that the API server compares by its JSON source", () => {
  for (const before of ["a < b", "a > b", "a & b", "line\u2028", "page\f", { text: ["a < b"] }]) {
    const object = withMetadata({ metadata: { annotations: { "example.com/record": before } } });
    const { patch } = patchOf(object, { ...NONE, fields: [{ keys: RECORD, before, after: "new" }] });
    const tests = (patch as { op: string; path: string }[]).filter(({ op }) => op === "test").map(({ path }) => path);
    assert.deepEqual(tests, ["/metadata/uid", "/metadata/resourceVersion"], JSON.stringify(before));
  }
});

Deno.test("a patch that creates an object does not remove fields that others create meanwhile", () => {
  const { patch } = patchOf(withMetadata({}), {
    ...NONE,
    fields: [{ keys: RECORD, before: undefined, after: "new" }],
  });
  assert(Array.isArray(patch));
  const changed = withMetadata({ metadata: { annotations: { other: "x" } } });
  assert.throws(() => applyJsonPatch(changed, patch), { name: "JsonPatchError" });
});

Deno.test("hasValues compares all fields with the object", () => {
  const object = withMetadata({ metadata: { annotations: { a: "1" } } });
  const field = (name: string, before: unknown) => ({ keys: ["metadata", "annotations", name], before, after: "x" });
  assert.equal(hasValues(object, [field("a", "1"), field("b", undefined)]), true);
  assert.equal(hasValues(object, [field("a", "1"), field("b", "2")]), false);
  assert.equal(hasValues(object, [{ keys: ["status", "a", "b"], before: undefined, after: 1 }]), true);
});

function withMetadata(object: { metadata?: object }): KubeObject {
  const metadata = { name: "a", uid: "u", resourceVersion: "7", creationTimestamp: "2030-01-01T00:00:00Z" };
  return { apiVersion: "v1", kind: "Pod", ...object, metadata: { ...metadata, ...object.metadata } };
}
