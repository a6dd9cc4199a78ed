/** What triggers a reconcile, and the objects that reconciles write. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { controller, conversion, resource, s } from "@op/sdk";
import { ConfigMap, Namespace } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { applyText, conditions, Note, ownedBy, recording, until, writes } from "../fixtures/notes.ts";

Deno.test("a controller reconciles a new object and a changed one, and ignores other kinds", async () => {
  const { notes, reconciles } = recording();
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.create(ConfigMap, "a", { data: { text: "without an owner" } });
  await cluster.settle();
  assert.deepEqual(reconciles, ["a one: changed", "a two: changed"]);
});

Deno.test("a controller reconciles objects that existed before it started, and reads them with defaults", async () => {
  const { notes, reconciles } = recording();
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  reconciles.length = 0;
  await cluster.restart();
  await cluster.settle();
  assert.deepEqual(reconciles, ["a hello: found at start"]);
});

Deno.test("a controller repairs an owned object that drifts or is deleted, and keeps fields that other clients added", async () => {
  const { notes, reconciles } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();

  await cluster.patch(ConfigMap, "a", { data: { text: "drifted", more: "foreign" } });
  await cluster.settle();
  assert.deepEqual((await cluster.get(ConfigMap, "a")).data, { text: "one", more: "foreign" });

  await cluster.delete(ConfigMap, "a");
  await cluster.settle();
  assert.deepEqual((await cluster.get(ConfigMap, "a")).data, { text: "one" });
  assert.deepEqual(reconciles, ["a one: changed", "a one: owned changed", "a one: owned changed"]);
});

Deno.test("a controller removes a field that it no longer sets", async () => {
  const { notes } = recording(async ({ metadata: { name }, spec }, { apply }) => {
    await apply(ConfigMap, { metadata: { name }, data: { always: "yes", [spec.text]: "now" } });
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.settle();
  assert.deepEqual((await cluster.get(ConfigMap, "a")).data, { always: "yes", two: "now" });
});

Deno.test("the old and the new owner are both reconciled when an owned object changes owners", async () => {
  const { notes, reconciles } = recording();
  await using cluster = await memoryCluster({ parts: { notes } });
  const [a, b] = [await cluster.create(Note, "a", { spec: {} }), await cluster.create(Note, "b", { spec: {} })];
  await cluster.create(ConfigMap, "moved", { metadata: { ownerReferences: [ownedBy(a)] } });
  await cluster.settle();
  reconciles.length = 0;

  await cluster.patch(ConfigMap, "moved", { metadata: { ownerReferences: [ownedBy(b)] } });
  await cluster.settle();
  assert.deepEqual(reconciles.sort(), ["a hello: owned changed", "b hello: owned changed"]);
});

Deno.test("an owner reference with another version of the kind triggers its owner, which prunes the child or updates the reference", async () => {
  const names = { group: "demo.example.com", kind: "Card" } as const;
  const CardV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string({ default: "hi" }) }) });
  const Card = resource({
    ...names,
    version: "v2",
    spec: s.object({ text: s.string({ default: "hi" }) }),
    versions: [CardV1],
  });
  const reasons: string[] = [];
  const cards = controller(Card, {
    owns: [ConfigMap],
    prune: true,
    async reconcile({ metadata: { name }, spec }, { applyAll, reason }) {
      reasons.push(reason);
      await applyAll([[ConfigMap, { metadata: { name }, data: { text: spec.text } }]]);
    },
  });
  const version = conversion(CardV1, Card, { up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) });
  await using cluster = await memoryCluster({ parts: { cards, version } });
  const { metadata: { uid } } = await cluster.create(Card, "a", { spec: {} });
  await cluster.settle();
  reasons.length = 0;
  // An earlier version of the operator created this reference when only v1 existed.
  const reference = { apiVersion: CardV1.apiVersion, kind: "Card", name: "a", uid, controller: true };
  for (const name of ["old", "a"]) {
    const metadata = { name, namespace: "default", ownerReferences: [reference] };
    await cluster.client.apply(ConfigMap, { metadata, data: { text: "drifted" } }, {
      manager: "test.cards",
      force: true,
    });
  }
  await cluster.settle();
  assert.deepEqual([...new Set(reasons)], ["owned changed"]);
  assert.equal(await cluster.exists(ConfigMap, "old"), false, "a child that is no longer desired is pruned");
  const { metadata, data } = await cluster.get(ConfigMap, "a");
  assert.deepEqual([data?.text, metadata.ownerReferences?.map(({ apiVersion }) => apiVersion)], [
    "hi",
    [Card.apiVersion],
  ]);
});

Deno.test("apply fails with a conflict on another field manager's field, and with force it takes the field over", async () => {
  for (const force of [false, true]) {
    const { notes, reconciles } = recording(async ({ metadata: { name }, spec }, { apply }) => {
      await apply(ConfigMap, { metadata: { name }, data: { text: spec.text } }, { force });
    });
    await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
    const metadata = { name: "a", namespace: "default" };
    await cluster.client.apply(ConfigMap, { metadata, data: { text: "theirs" } }, { manager: "other" });
    await cluster.create(Note, "a", { spec: { text: "ours" } });
    await cluster.advance("1m");
    assert.equal((await cluster.get(ConfigMap, "a")).data?.text, force ? "ours" : "theirs");
    const [ready] = await conditions(cluster);
    if (force) assert.match(ready!, /^Ready=True/);
    else assert.match(ready!, /^Ready=False Conflict: Cannot apply ConfigMap .* conflict with "other".*data.text/);
    assert(force ? reconciles.length === 1 : reconciles.length > 5, `${reconciles.length} reconciles`);
  }
});

Deno.test("deleting an object deletes its owned objects", async () => {
  const { notes } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.delete(Note, "a");
  await cluster.settle();
  assert.equal(await cluster.exists(ConfigMap, "a"), false);
});

Deno.test("many changes during a reconcile cause one more reconcile, which sees the last of them", async () => {
  const gate = Promise.withResolvers<void>();
  const { notes, reconciles } = recording(() => gate.promise);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await until(() => reconciles.length === 1);
  for (const text of ["two", "three", "four"]) await cluster.patch(Note, "a", { spec: { text } });
  gate.resolve();
  await cluster.settle();
  assert.deepEqual(reconciles, ["a one: changed", "a four: changed"]);
});

Deno.test("concurrency limits how many objects are reconciled at once", async () => {
  let running = 0;
  let maxRunning = 0;
  const { notes, reconciles } = recording(async () => {
    maxRunning = Math.max(maxRunning, ++running);
    await new Promise<void>((resolve) => setImmediate(resolve));
    running--;
  }, { concurrency: 2 });
  await using cluster = await memoryCluster({ parts: { notes } });
  for (const name of ["a", "b", "c", "d", "e"]) await cluster.create(Note, name, { spec: {} });
  await cluster.settle();
  assert.equal(maxRunning, 2);
  assert.equal(reconciles.length, 5);
});

Deno.test("a reconcile's own writes trigger no other reconcile, and a reconcile without changes writes no object", async () => {
  const { notes, reconciles } = recording(async (note, context) => {
    await applyText(note, context);
    context.status({ text: note.spec.text });
  }, { cleanup() {} });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(reconciles, ["a hello: changed"]);
  assert.deepEqual(writes(cluster), ["PATCH notes/a", "PATCH configmaps/a", "PATCH notes/a/status"]);

  await cluster.patch(Note, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();
  assert.equal(reconciles.length, 2);
  assert.equal(writes(cluster).length, 3);
});

Deno.test("an operator that restarts writes no object", async () => {
  const { notes, reconciles } = recording(async (note, context) => {
    await applyText(note, context);
    context.status({ text: note.spec.text });
  }, { cleanup() {} });
  await using cluster = await memoryCluster({ parts: { notes } });
  for (const name of ["a", "b", "c"]) await cluster.create(Note, name, { spec: { text: name } });
  await cluster.settle();
  const before = writes(cluster);
  reconciles.length = 0;
  await cluster.restart();
  await cluster.settle();
  assert.deepEqual(reconciles, ["a a: found at start", "b b: found at start", "c c: found at start"]);
  assert.deepEqual(writes(cluster), before);
});

Deno.test("a controller does not write the status of built-in kinds", async () => {
  const names: string[] = [];
  const namespaces = controller(Namespace, { reconcile: ({ metadata }) => void names.push(metadata.name) });
  await using cluster = await memoryCluster({ parts: { namespaces } });
  await cluster.settle();
  assert(names.includes("default"));
  assert.deepEqual(writes(cluster), []);
});

Deno.test("a controller of a kind without a generation reconciles when the content changes", async () => {
  const texts: unknown[] = [];
  const configs = controller(ConfigMap, { reconcile: ({ data }) => void texts.push(data?.text) });
  await using cluster = await memoryCluster({ parts: { configs } });
  await cluster.create(ConfigMap, "a", { data: { text: "one" } });
  await cluster.settle();
  await cluster.patch(ConfigMap, "a", { data: { text: "two" } });
  await cluster.settle();
  assert.deepEqual(texts, ["one", "two"]);
});

Deno.test("a reconciler that throws for one object does not affect another", async () => {
  const thrown = [new Error("boom"), "text", undefined, null, Object.create(null)];
  const { notes, reconciles } = recording(({ metadata: { name } }, { attempt }) => {
    if (name.startsWith("bad") && attempt === 1) throw thrown[Number(name.slice(3))];
  }, { concurrency: 1 });
  await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
  for (const i of thrown.keys()) await cluster.create(Note, `bad${i}`, { spec: {} });
  await cluster.create(Note, "good", { spec: {} });
  await cluster.settle();
  assert(reconciles.includes("good hello: changed"));
  for (const i of thrown.keys()) assert(reconciles.includes(`bad${i} hello: retried`), `bad${i} is not retried`);
});

Deno.test("two controllers of one kind both reconcile and clean up an object, and become idle", async () => {
  const done: string[] = [];
  const part = (name: string) =>
    controller(Note, {
      owns: [ConfigMap],
      async reconcile(note, { apply }) {
        await apply(ConfigMap, { metadata: { name: `${note.metadata.name}-${name}` }, data: { text: note.spec.text } });
      },
      cleanup: () => void done.push(name),
    });
  await using cluster = await memoryCluster({ parts: { one: part("one"), two: part("two") } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  const names = (await cluster.list(ConfigMap)).map(({ metadata }) => metadata.name).sort();
  assert.deepEqual(names, ["a-one", "a-two"]);
  assert.deepEqual((await cluster.get(Note, "a")).metadata.finalizers?.toSorted(), [
    "demo.example.com/test.one",
    "demo.example.com/test.two",
  ]);
  const before = writes(cluster).length;
  await cluster.patch(Note, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();
  assert.equal(writes(cluster).length, before, "neither controller writes again");

  await cluster.delete(Note, "a");
  await cluster.settle();
  // Cleanups that end together conflict over the finalizers, so the slower one is retried.
  assert.deepEqual([...new Set(done)].sort(), ["one", "two"]);
  assert.equal(await cluster.exists(Note, "a"), false);
});
