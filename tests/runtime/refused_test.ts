/** What a run may not do, and how it is told. */
import assert from "node:assert/strict";
import { controller } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note } from "./_notes.ts";

Deno.test("an object does not take the child of another", async () => {
  const notes = controller(Note, {
    owns: [ConfigMap],
    async reconcile(note, { apply }) {
      await apply(ConfigMap, { metadata: { name: "shared" }, data: { text: note.spec.text } });
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "first", { spec: { text: "first" } });
  await cluster.settle();
  await cluster.create(Note, "second", { spec: { text: "second" } });
  await cluster.settle();

  const shared = await cluster.get(ConfigMap, "shared");
  assert.deepEqual(shared.metadata.ownerReferences?.map(({ name }) => name), ["first"]);
  assert.equal(shared.data?.text, "first");
  const { status } = await cluster.get(Note, "second");
  assert.equal(
    status?.conditions?.find(({ type }) => type === "Ready")?.message,
    'Cannot apply ConfigMap "default/shared": it is owned by Note "first": give it another name, or apply it with { owner: false }',
  );
});

for (
  const [name, value, told] of [["a number that is none", NaN, '"runs" is NaN'], [
    "a bigint",
    1n,
    '"runs" is a bigint, 1',
  ]] as const
) {
  Deno.test(`a status with ${name} fails the run and says which property`, async () => {
    const notes = controller(Note, {
      reconcile(_note, { status }) {
        status({ runs: value as number });
      },
    });
    await using cluster = await memoryCluster({ parts: { notes } });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
    const ready = (await cluster.get(Note, "a")).status?.conditions?.find(({ type }) => type === "Ready");
    assert.equal(ready?.status, "False");
    assert(ready?.message.startsWith(`Cannot write the status: ${told}`), ready?.message);
  });
}
