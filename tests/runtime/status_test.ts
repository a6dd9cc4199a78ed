/** The status and the conditions that a reconcile writes. */
import assert from "node:assert/strict";
import { controller, PermanentError, resource, s, TemporaryError } from "@op/sdk";
import { memoryCluster } from "@op/sdk/testing";
import { conditions, Note, recording, writes } from "../fixtures/notes.ts";

Deno.test("an object that failed with PermanentError has the condition Stalled, and is reconciled again when it changes", async () => {
  const { notes, reconciles } = recording(({ spec }) => {
    if (spec.text === "bad") throw new PermanentError("no such text");
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "bad" } });
  await cluster.advance("1h");
  assert.deepEqual(reconciles, ["a bad: changed"]);
  assert.deepEqual(await conditions(cluster), [
    "Ready=False PermanentError: no such text",
    "Stalled=True PermanentError: no such text",
  ]);

  await cluster.patch(Note, "a", { spec: { text: "good" } });
  await cluster.settle();
  assert.deepEqual(reconciles, ["a bad: changed", "a good: changed"]);
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
});

Deno.test("conditions report success and failure, with the time of each one's last transition", async () => {
  const { notes } = recording(({ spec }) => {
    if (spec.text === "bad") throw new TemporaryError("cannot read it", { retry: "10h" });
  });
  await using cluster = await memoryCluster({ parts: { notes }, start: new Date("2030-01-01T00:00:00Z") });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);

  await cluster.advance("1h");
  await cluster.patch(Note, "a", { spec: { text: "bad" } });
  await cluster.settle();
  await cluster.advance("1h");
  await cluster.patch(Note, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();
  assert.deepEqual(await conditions(cluster), [
    "Ready=False TemporaryError: cannot read it",
    "Reconciling=True TemporaryError: cannot read it",
  ]);
  const { status, metadata } = await cluster.get(Note, "a");
  assert.deepEqual(status?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime), [
    "2030-01-01T01:00:00Z",
    "2030-01-01T01:00:00Z",
  ]);
  assert.deepEqual([status?.observedGeneration, metadata.generation], [2, 2]);

  await cluster.patch(Note, "a", { spec: { text: "good" } });
  await cluster.settle();
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
});

Deno.test("the status of a reconcile is written once, with the last reported values and the observed generation", async () => {
  const { notes } = recording(({ spec }, { status, condition }) => {
    status({ text: "first" });
    status({ text: spec.text, runs: 1 });
    condition({ type: "Printed", status: "False", reason: "Waiting" });
    condition({ type: "Printed", status: "True", reason: "Done" });
    condition({ type: "Ready", status: "Unknown", reason: "Proofreading" });
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  const { status } = await cluster.get(Note, "a");
  assert.deepEqual([status?.text, status?.runs, status?.observedGeneration], ["hello", 1, 1]);
  assert.deepEqual(await conditions(cluster), ["Printed=True Done: ", "Ready=Unknown Proofreading: "]);
  assert.deepEqual(writes(cluster), ["PATCH notes/a/status"]);
});

Deno.test("a failed reconcile writes the failure and no other status", async () => {
  const { notes } = recording((_, { status }) => {
    status({ text: "half" });
    throw new PermanentError("no");
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.equal((await cluster.get(Note, "a")).status?.text, undefined);
  assert.deepEqual(writes(cluster), ["PATCH notes/a/status"]);
});

Deno.test("a status without conditions is written once, not in every reconcile", async () => {
  const Plain = resource({
    group: "demo.example.com",
    version: "v1",
    kind: "Plain",
    spec: s.object({}),
    status: s.object({ runs: s.integer() }),
    conditions: false,
  });
  let runs = 0;
  const plains = controller(Plain, {
    reconcile(_plain, { status }) {
      runs++;
      status({ runs: 1 });
    },
  });
  await using cluster = await memoryCluster({ parts: { plains } });
  await cluster.create(Plain, "a", { spec: {} });
  await cluster.settle();
  await cluster.patch(Plain, "a", { metadata: { labels: { again: "yes" } } });
  await cluster.settle();

  assert.equal(runs, 2);
  assert.equal(cluster.sent({ verb: "patch", subresource: "status" }).length, 1);
  assert.deepEqual((await cluster.get(Plain, "a")).status, { runs: 1 });
});

Deno.test("status() throws for a kind whose status is not a subresource", async () => {
  const Plain = resource({
    group: "demo.example.com",
    version: "v1",
    kind: "Plain",
    root: s.object({ status: s.optional(s.object({ runs: s.integer() })) }),
  });
  let message = "";
  const plains = controller(Plain, {
    reconcile(_plain, { status }) {
      try {
        status({ runs: 1 });
      } catch (error) {
        message = (error as Error).message;
      }
    },
  });
  await using cluster = await memoryCluster({ parts: { plains } });
  await cluster.create(Plain, "a", {});
  await cluster.settle();
  assert.match(
    message,
    /^status\(\) for Plain: the kind has no status subresource\. Set "status" \(or "status: true"\) in resource\(\)/,
  );
});

for (
  const { name, value, message } of [
    { name: "NaN", value: NaN, message: '"runs" is NaN' },
    { name: "a bigint", value: 1n, message: '"runs" is the bigint 1' },
  ]
) {
  Deno.test(`a status with ${name} fails the reconcile, and the condition names the property`, async () => {
    const notes = controller(Note, {
      reconcile(_note, { status }) {
        status({ runs: value as number });
      },
    });
    await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
    const ready = (await cluster.get(Note, "a")).status?.conditions?.find(({ type }) => type === "Ready");
    assert.equal(ready?.status, "False");
    assert(ready?.message.startsWith(`Status not written: ${message}`), ready?.message);
  });
}
