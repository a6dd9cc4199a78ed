/** What a reconcile reads and writes through its context. */
import assert from "node:assert/strict";
import { access, controller } from "@op/sdk";
import { ConfigMap, Namespace, Secret } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { applyText, conditions, Note, type NoteContext, recording } from "../fixtures/notes.ts";

Deno.test("a reconcile reads its own writes at once, and they do not trigger another reconcile", async () => {
  const read: Record<string, unknown> = {};
  const { notes, reconciles } = recording(async (note, { apply, create, patch, get, list }) => {
    if (read.created !== undefined) return;
    await create(ConfigMap, { metadata: { name: "made" }, data: { text: "created" } });
    read.created = (await get(ConfigMap, "made"))?.data?.text;
    read.listed = (await list(ConfigMap)).map(({ metadata }) => metadata.name);
    await patch(ConfigMap, "made", { data: { text: "patched" } });
    read.patched = (await get(ConfigMap, "made"))?.data?.text;
    const applied = await apply(ConfigMap, { metadata: { name: "made" }, data: { text: "applied" } });
    read.applied = (await get(ConfigMap, "made"))?.data?.text;
    read.owners = applied.metadata.ownerReferences?.map(({ uid }) => uid === note.metadata.uid);
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
  assert.deepEqual(read, {
    created: "created",
    listed: ["made"],
    patched: "patched",
    applied: "applied",
    owners: [true],
  });
  assert.deepEqual(reconciles, ["a hello: changed"]);
});

Deno.test("a reconcile does not see an object that it deleted, is not triggered by that deletion, and may delete a missing object", async () => {
  const read: unknown[] = [];
  let runs = 0;
  const notes = controller(Note, {
    owns: [ConfigMap],
    uses: [access(ConfigMap, "delete")],
    async reconcile({ spec }, context) {
      runs++;
      if (spec.text === "keep") return await applyText(await context.get(Note, "a") as Note, context);
      await context.delete(ConfigMap, "a");
      read.push(
        await context.get(ConfigMap, "a"),
        (await context.list(ConfigMap)).some(({ metadata }) => metadata.name === "a"),
      );
      await context.delete(ConfigMap, "a");
    },
  });
  await using cluster = await memoryCluster({ parts: { notes }, maxTurns: 5000 });
  await cluster.create(Note, "a", { spec: { text: "keep" } });
  await cluster.settle();
  await cluster.patch(Note, "a", { spec: { text: "drop" } });
  await cluster.settle();
  assert.equal(await cluster.exists(ConfigMap, "a"), false);
  assert.deepEqual(read, [undefined, false]);
  assert.equal(runs, 2);
});

Deno.test("lists from the cache accept a namespace, all namespaces, and label selectors", async () => {
  let lists: string[][] = [];
  const notes = controller(Note, {
    reads: [ConfigMap],
    async reconcile(_, { list }) {
      const found = await Promise.all([
        list(ConfigMap),
        list(ConfigMap, { namespace: "team" }),
        list(ConfigMap, { namespace: "*", selector: { app: "web" } }),
      ]);
      lists = found.map((objects) =>
        objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).filter((key) => /\d$/.test(key)).sort()
      );
    },
  });
  await using cluster = await memoryCluster({ parts: { notes }, namespaces: ["team"] });
  const labels = { app: "web" };
  await cluster.create(ConfigMap, "c1", { metadata: { labels } });
  await cluster.create(ConfigMap, "c2", {});
  await cluster.create(ConfigMap, "c3", { metadata: { labels } }, { namespace: "team" });
  await cluster.settle();
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(lists, [["default/c1", "default/c2"], ["team/c3"], ["default/c1", "team/c3"]]);
});

const REJECTED: readonly { name: string; call: (context: NoteContext) => Promise<unknown>; message: RegExp }[] = [
  {
    name: "a child in another namespace",
    call: ({ apply }) => apply(ConfigMap, { metadata: { name: "x", namespace: "team" } }),
    message: /^Cannot make Note "default\/a" the owner of ConfigMap "x": it is in namespace "team"/,
  },
  {
    name: "reading a kind that it does not declare",
    call: ({ get }) => get(Secret as never, "x"),
    message: /^Cannot access Secret: controller "notes" does not declare it\. Add access\(Secret, "get"\) to "uses"$/,
  },
  {
    name: "deleting an object of a kind that it only owns",
    call: (context) => context.delete(ConfigMap as never, "x"),
    message:
      /^Cannot access ConfigMap: controller "notes" does not declare it\. Add access\(ConfigMap, "delete"\) to "uses"$/,
  },
];

for (const { name, call, message } of REJECTED) {
  Deno.test(`a reconcile fails on ${name}, and the error says what to do`, async () => {
    const { notes } = recording(async (_, context) => void await call(context));
    await using cluster = await memoryCluster({ parts: { notes }, namespaces: ["team"], failures: "collect" });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
    const ready = (await cluster.get(Note, "a")).status?.conditions?.find(({ type }) => type === "Ready");
    assert.match(ready!.message, message);
  });
}

Deno.test("an object applied without an owner may be in another namespace, and outlives the reconciled object", async () => {
  const { notes } = recording(async ({ metadata: { name } }, { apply }) => {
    await apply(ConfigMap, { metadata: { name, namespace: "team" } }, { owner: false });
  });
  await using cluster = await memoryCluster({ parts: { notes }, namespaces: ["team"] });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.delete(Note, "a");
  await cluster.settle();
  const child = await cluster.get(ConfigMap, "a", { namespace: "team" });
  assert.equal(child.metadata.ownerReferences, undefined);
});

Deno.test("the reconcile of a cluster-scoped object must pass the namespace of an object that it gets", async () => {
  const results: string[] = [];
  const teams = controller(Namespace, {
    reads: [Secret],
    async reconcile({ metadata: { name } }, { get, list }) {
      if (name !== "team") return;
      const found = await get(Secret, "one", { namespace: "team" });
      results.push(`${found?.metadata.name} of ${(await list(Secret)).length}`);
      await get(Secret, "one").catch((error: Error) => results.push(error.message));
    },
  });
  await using cluster = await memoryCluster({ parts: { teams }, namespaces: ["team"] });
  await cluster.create(Secret, "one", {}, { namespace: "team" });
  await cluster.settle();
  assert.deepEqual(results, [
    "one of 1",
    'Cannot get Secret "one": Namespace "team" is not in a namespace. Pass the namespace: get(Secret, "one", { namespace })',
  ]);
});
