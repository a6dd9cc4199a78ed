import assert from "node:assert/strict";
import { on } from "../parts/handlers/on.ts";
import { resource } from "../resource/resource.ts";
import { s } from "../schema/mod.ts";
import { definitionsOf } from "./handler_state.ts";

const Note = resource({
  group: "notes.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
  status: s.object({ length: s.optional(s.integer()) }),
});

function statusFields(parts: Parameters<typeof definitionsOf>[0]): readonly string[] {
  const [definition] = definitionsOf(parts);
  const { properties = {} } = definition!.spec.versions[0]!.schema.openAPIV3Schema.properties!.status!;
  return Object.keys(properties).filter((name) => !["conditions", "observedGeneration"].includes(name));
}

Deno.test("the status of a kind has the field handlerState if its handlers store their state there", () => {
  const handle = () => {};
  assert.deepEqual(statusFields({ a: on.create(Note, handle) }), ["length", "handlerState"]);
  assert.deepEqual(statusFields({ a: on.delete(Note, handle) }), ["length", "handlerState"]);
  assert.deepEqual(statusFields({ a: on.resume(Note, handle), b: on.afterDelete(Note, handle) }), ["length"]);
  assert.deepEqual(statusFields({ a: on.create(Note, handle, { storage: "annotation" }) }), ["length"]);
  assert.deepEqual(statusFields({ a: on.create(Note, handle, { storage: "memory" }) }), ["length"]);
});

Deno.test("the definition of a kind is not changed for handlers that store no state", () => {
  assert.equal(definitionsOf({ a: on.resume(Note, () => {}) })[0], Note.crd);
});
