/** owned(), and the options of delete(). */
import assert from "node:assert/strict";
import { access, type AnyKind, controller } from "@op/sdk";
import { ConfigMap, Secret } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note, ownedBy, recording } from "../fixtures/notes.ts";

Deno.test("owned lists the object's children, including those just created, and no others", async () => {
  const seen = new Map<string, string[]>();
  const { notes } = recording(async ({ metadata: { name } }, { apply, create, owned }) => {
    if (owned(ConfigMap).length === 0) {
      await apply(ConfigMap, { metadata: { name: `${name}-applied` } });
      await create(ConfigMap, { metadata: { name: `${name}-created` } });
      await apply(ConfigMap, { metadata: { name: `${name}-free` } }, { owner: false });
    }
    seen.set(name, owned(ConfigMap).map(({ metadata }) => metadata.name).sort());
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(ConfigMap, "unrelated", {});
  await cluster.create(Note, "a", { spec: {} });
  await cluster.create(Note, "b", { spec: {} });
  await cluster.settle();

  assert.deepEqual([...seen], [["a", ["a-applied", "a-created"]], ["b", ["b-applied", "b-created"]]]);
});

Deno.test("owned follows children that are created, change their owner and are deleted", async () => {
  let seen: string[] = [];
  const { notes } = recording((note, { owned }) => {
    if (note.metadata.name === "a") seen = owned(ConfigMap).map(({ metadata }) => metadata.name).sort();
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  const a = await cluster.create(Note, "a", { spec: {} });
  const b = await cluster.create(Note, "b", { spec: {} });
  await cluster.settle();
  for (const name of ["one", "two"]) {
    await cluster.create(ConfigMap, name, { metadata: { ownerReferences: [ownedBy(a)] } });
  }
  await cluster.settle();
  assert.deepEqual(seen, ["one", "two"]);

  await cluster.patch(ConfigMap, "one", { metadata: { ownerReferences: [ownedBy(b)] } });
  await cluster.settle();
  assert.deepEqual(seen, ["two"]);

  await cluster.delete(ConfigMap, "two");
  await cluster.settle();
  assert.deepEqual(seen, []);
});

Deno.test("owned omits the children of an earlier object of the same name", async () => {
  let seen: string[] = [];
  const { notes } = recording((_note, { owned }) => {
    seen = owned(ConfigMap).map(({ metadata }) => metadata.name);
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  const { apiVersion, kind, name } = ownedBy(await cluster.create(Note, "a", { spec: {} }));
  const before = { apiVersion, kind, name, uid: crypto.randomUUID(), controller: true };
  await cluster.create(ConfigMap, "old", {
    metadata: { ownerReferences: [before], finalizers: ["demo.example.com/stays"] },
  });
  await cluster.settle();

  assert.deepEqual(seen, []);
});

Deno.test("owned rejects a kind that is not in owns", async () => {
  const { notes } = recording((_note, { owned }) => void owned(Secret as AnyKind as never));
  await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();

  assert.match(String(cluster.failures[0]?.error), /controller "notes" does not declare it\. Add it to "owns"/);
});

Deno.test("delete sends its propagation policy and preconditions", async () => {
  const cleaning = controller(Note, {
    uses: [access(ConfigMap, "get", "delete")],
    async reconcile(_note, context) {
      await context.delete(ConfigMap, "plain");
      const found = await context.get(ConfigMap, "guarded");
      if (found === undefined) return;
      const { uid, resourceVersion } = found.metadata;
      await context.delete(ConfigMap, "guarded", {
        propagationPolicy: "Foreground",
        preconditions: { uid, resourceVersion },
      });
    },
  });
  await using cluster = await memoryCluster({ parts: { cleaning } });
  const { metadata: { uid, resourceVersion } } = await cluster.create(ConfigMap, "guarded", {});
  await cluster.create(ConfigMap, "plain", {});
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();

  const sent = cluster.sent({ verb: "delete", kind: ConfigMap }).map(({ name, body }) => [name, body]);
  const options = { apiVersion: "v1", kind: "DeleteOptions" };
  assert.deepEqual(sent, [
    ["plain", { ...options, propagationPolicy: "Background" }],
    ["guarded", { ...options, propagationPolicy: "Foreground", preconditions: { uid, resourceVersion } }],
  ]);
  assert(!await cluster.exists(ConfigMap, "guarded"));
});

for (
  const [name, preconditions] of Object.entries({
    uid: { uid: crypto.randomUUID() },
    resourceVersion: { resourceVersion: "1" },
  })
) {
  Deno.test(`delete rejects with 409 when the object does not meet a precondition of its ${name}`, async () => {
    const statuses: unknown[] = [];
    const cleaning = controller(Note, {
      uses: [access(ConfigMap, "delete")],
      async reconcile(_note, context) {
        await context.delete(ConfigMap, "a", { preconditions }).catch(({ status }) => statuses.push(status));
      },
    });
    await using cluster = await memoryCluster({ parts: { cleaning } });
    await cluster.create(ConfigMap, "a", {});
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();

    assert.deepEqual(statuses, [409]);
    assert(await cluster.exists(ConfigMap, "a"));
  });
}
