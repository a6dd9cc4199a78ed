import assert from "node:assert/strict";
import type { KubeObject } from "../resource/kind.ts";
import { ObjectDraft } from "./object_draft.ts";

const LABEL = ["metadata", "labels", "size"];
const RECORD = ["status", "handlerState", "shop"];

Deno.test("ObjectDraft has no changes at first, nor if values stay the same", () => {
  const draft = new ObjectDraft();
  assert.equal(draft.takeObjectChanges(object()), undefined);
  draft.replace(LABEL, "large", "large");
  draft.changeFinalizers([], ["example.com/other"]);
  assert.equal(draft.takeObjectChanges(object(["example.com/a"])), undefined);
  assert.deepEqual(draft.takeStatusFields(), []);
});

Deno.test("ObjectDraft adds finalizers at the end, at the version of the object", () => {
  const draft = new ObjectDraft();
  draft.changeFinalizers(["example.com/new"], ["example.com/old"]);
  assert.deepEqual(draft.takeObjectChanges(object(["example.com/old", "example.com/a"])), {
    merge: { metadata: { finalizers: ["example.com/a", "example.com/new"] } },
    fields: [],
    isVersioned: true,
  });
});

Deno.test("ObjectDraft removes finalizers at the version of the object", () => {
  const draft = new ObjectDraft();
  draft.changeFinalizers([], ["example.com/a"]);
  assert.deepEqual(draft.takeObjectChanges(object(["example.com/a"])), {
    merge: { metadata: { finalizers: [] } },
    fields: [],
    isVersioned: true,
  });
});

Deno.test("ObjectDraft tests only the list of finalizers if it is sent with tested fields", () => {
  const draft = new ObjectDraft();
  const label = { keys: LABEL, before: undefined, after: "large" };
  draft.replace(label.keys, label.before, label.after);
  draft.changeFinalizers([], ["example.com/a"]);
  assert.deepEqual(draft.takeObjectChanges(object(["example.com/a", "example.com/b"])), {
    merge: {},
    fields: [label, {
      keys: ["metadata", "finalizers"],
      before: ["example.com/a", "example.com/b"],
      after: ["example.com/b"],
    }],
    isVersioned: false,
  });
});

Deno.test("ObjectDraft returns each change once", () => {
  const draft = new ObjectDraft();
  draft.changeFinalizers(["example.com/a"], []);
  draft.replace(LABEL, undefined, "large");
  draft.replace(RECORD, "old", "new");
  assert.notEqual(draft.takeObjectChanges(object()), undefined);
  assert.equal(draft.takeObjectChanges(object()), undefined);
  assert.deepEqual(draft.takeStatusFields(), [{ keys: RECORD, before: "old", after: "new" }]);
  assert.deepEqual(draft.takeStatusFields(), []);
});

Deno.test("withoutReport keeps changed fields, but neither finalizers nor the reported status", () => {
  const draft = new ObjectDraft();
  draft.status.add({ url: "a" });
  draft.changeFinalizers(["example.com/a"], []);
  draft.replace(LABEL, undefined, "large");
  draft.replace(RECORD, "old", "new");
  const kept = draft.withoutReport();
  assert.deepEqual(kept.takeObjectChanges(object())?.merge, {});
  assert.equal(kept.takeStatusFields().length, 1);
  assert.deepEqual(kept.status.patch(object(), undefined, [], 0), { conditions: [] });
});

function object(finalizers?: readonly string[]): KubeObject {
  const metadata = { name: "a", uid: "u", resourceVersion: "7", creationTimestamp: "2030-01-01T00:00:00Z" };
  return { apiVersion: "v1", kind: "Pod", metadata: finalizers === undefined ? metadata : { ...metadata, finalizers } };
}
