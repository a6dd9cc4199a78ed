import assert from "node:assert/strict";
import { resource, s } from "../../../mod.ts";
import { patchOfDraft, patchOfWanted } from "./patch.ts";

const Note = resource({
  group: "patches.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({
    text: s.string(),
    size: s.optional(s.integer()),
    parts: s.optional(s.array(s.object({ a: s.string() }))),
  }),
});

const BEFORE = {
  apiVersion: "patches.example.com/v1",
  kind: "Note",
  metadata: { name: "a", uid: "u", labels: { x: "1" } },
  spec: { text: "a", size: 1, newer: { unknown: true }, parts: [{ a: "1", b: "newer" }] },
};

for (
  const { name, wanted, expected } of [
    {
      name: "keeps omitted fields at the top level and in the metadata",
      wanted: { spec: { ...BEFORE.spec, text: "b" } },
      expected: [{ op: "replace", path: "/spec/text", value: "b" }],
    },
    {
      name: "keeps fields that the schema does not define, also in list items",
      wanted: { spec: { text: "a", size: 1, parts: [{ a: "2" }] } },
      expected: [{ op: "replace", path: "/spec/parts/0/a", value: "2" }],
    },
    {
      name: "changes a field that the schema does not define",
      wanted: { spec: { ...BEFORE.spec, newer: { unknown: false } } },
      expected: [{ op: "replace", path: "/spec/newer/unknown", value: false }],
    },
    {
      name: "removes omitted fields that the schema defines",
      wanted: { spec: { text: "a", parts: [{ a: "1" }] } },
      expected: [{ op: "remove", path: "/spec/size" }],
    },
    {
      name: "removes metadata fields that are undefined",
      wanted: { metadata: { labels: undefined } },
      expected: [{ op: "remove", path: "/metadata/labels" }],
    },
    {
      name: "removes omitted labels",
      wanted: { metadata: { labels: { y: "2" } } },
      expected: [{ op: "remove", path: "/metadata/labels/x" }, { op: "add", path: "/metadata/labels/y", value: "2" }],
    },
  ]
) {
  Deno.test(`patchOfWanted ${name}`, () => assert.deepEqual(patchOfWanted(BEFORE, wanted, Note), expected));
}

Deno.test("patchOfWanted uses the schema of the kind's version", () => {
  const { group, kind } = Note;
  const newer = s.optional(s.anything());
  const Other = resource({ group, kind, version: "v2", spec: s.object({ text: s.string(), newer }), versions: [Note] });
  const Older = { ...Note, crd: Other.crd } as unknown as typeof Note;
  const wanted = { spec: { text: "b" } };
  const paths = (of: typeof Note) => patchOfWanted(BEFORE, wanted, of).map(({ path }) => path).sort();
  assert.deepEqual(paths(Older), ["/spec/parts", "/spec/size", "/spec/text"]);
  assert(paths(Other as unknown as typeof Note).includes("/spec/newer"));
});

Deno.test("patchOfDraft contains exactly the changes of the draft", () => {
  const draft = structuredClone(BEFORE);
  draft.spec.text = "b";
  draft.spec.newer.unknown = false;
  assert.deepEqual(patchOfDraft(BEFORE, draft), [
    { op: "replace", path: "/spec/text", value: "b" },
    { op: "replace", path: "/spec/newer/unknown", value: false },
  ]);
});
