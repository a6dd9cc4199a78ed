/** Objects that share a child, and controllers that share an object. */
import assert from "node:assert/strict";
import { controller, PermanentError, TemporaryError } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note, ownedBy } from "../fixtures/notes.ts";

Deno.test("apply fails for a child that another object owns", async () => {
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
    'Cannot apply ConfigMap "default/shared": it is owned by Note "first". Use another name, or apply it with { owner: false }',
  );
});

Deno.test("controllers of one kind share the condition Ready, which is True only if the last reconcile of each succeeded", async () => {
  let isBroken = true;
  const broken = controller(Note, {
    reconcile() {
      if (isBroken) throw new TemporaryError("not yet", { retry: "1m" });
    },
  });
  const fine = controller(Note, { reconcile: () => undefined });
  await using cluster = await memoryCluster({ parts: { broken, fine } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("1h");
  const ready = async () =>
    (await cluster.get(Note, "a")).status?.conditions?.filter(({ status }) => status === "True").map(({ type }) =>
      type
    );
  assert.deepEqual(await ready(), ["Reconciling"]);
  const writes = cluster.requests.filter(({ method, path }) => method === "PATCH" && !path.includes("/events")).length;
  assert(writes <= 4, `${writes} writes of the condition`);

  isBroken = false;
  await cluster.advance("2m");
  assert.deepEqual(await ready(), ["Ready"]);
});

Deno.test("two controllers that both report a PermanentError do not trigger each other by their status writes", async () => {
  const runs: string[] = [];
  const failing = (name: string) =>
    controller(Note, {
      owns: [ConfigMap],
      reconcile(_note, { reason }) {
        runs.push(`${name}: ${reason}`);
        throw new PermanentError(`${name} cannot`);
      },
    });
  await using cluster = await memoryCluster({ parts: { one: failing("one"), two: failing("two") }, maxTurns: 500 });
  const note = await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("1h");
  assert(runs.length <= 4, `${runs.length} runs`);

  const changes = [
    ["a label", () => cluster.patch(Note, "a", { metadata: { labels: { touched: "yes" } } }), "changed"],
    ["its spec", () => cluster.patch(Note, "a", { spec: { text: "good" } }), "changed"],
    [
      "an owned object",
      () => cluster.create(ConfigMap, "owned", { metadata: { ownerReferences: [ownedBy(note)] } }),
      "owned changed",
    ],
  ] as const;
  for (const [what, change, reason] of changes) {
    runs.length = 0;
    await change();
    await cluster.advance("1h");
    assert.deepEqual([...new Set(runs)].sort(), [`one: ${reason}`, `two: ${reason}`], what);
    assert(runs.length <= 4, `${runs.length} runs after ${what}`);
  }
});
