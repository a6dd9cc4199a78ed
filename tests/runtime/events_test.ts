/** Kubernetes Events of reconciles. */
import assert from "node:assert/strict";
import { controller, type Infer, operator, requeue, TemporaryError } from "@op/sdk";
import { ClusterRole, Event } from "@op/sdk/kinds";
import { faults, type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { conditions, Note, recording } from "../fixtures/notes.ts";

Deno.test("events.normal writes an Event about the object, and groups repeats into a series", async () => {
  const notes = controller(Note, {
    reconcile(note, { events }) {
      events.normal("Published", `It reads ${note.spec.text}`, { action: "Publish" });
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  const note = await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  const [event, ...more] = await cluster.list(Event);
  assert.deepEqual(more, []);
  const { type, reason, action, reportingController, reportingInstance, regarding, series } = event!;
  assert.deepEqual([type, reason, action, event!.note, reportingController, series], [
    "Normal",
    "Published",
    "Publish",
    "It reads one",
    "test.notes",
    undefined,
  ]);
  assert.match(reportingInstance ?? "", /^test_[0-9a-f-]{36}$/);
  assert.deepEqual([regarding?.kind, regarding?.name, regarding?.namespace, regarding?.uid], [
    "Note",
    "a",
    "default",
    note.metadata.uid,
  ]);

  for (let i = 0; i < 10; i++) {
    await cluster.patch(Note, "a", { metadata: { labels: { touched: String(i) } } });
    await cluster.advance("30s");
  }
  await cluster.advance("6m");

  const [again, ...others] = await cluster.list(Event);
  assert.deepEqual(others, []);
  assert.equal(again?.series?.count, 11);
  assert.match(again?.series?.lastObservedTime ?? "", /^2030-01-01T00:0[45]:/);
  assert.equal(eventWrites(cluster), 3, "one write for the first, one for its first repeat, one for all others");
});

Deno.test("a failed reconcile writes an Event with the reason and message of the condition", async () => {
  const notes = controller(Note, {
    reconcile() {
      throw new TemporaryError("the database is down", { retry: "10m" });
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual((await cluster.list(Event)).map(description), [
    "Warning TemporaryError Reconcile: the database is down",
  ]);
});

Deno.test("Events that the API server rejects fail no reconcile", async () => {
  const { notes, reconciles } = recording((note, { events }) => events.normal("Seen", note.spec.text));
  for (const code of [403, 500]) {
    await using cluster = await memoryCluster({ parts: { notes }, forbiddenRequests: "allow" });
    using rejected = cluster.inject(faults.status(code), { client: "test", kind: Event, times: 1000 });
    for (const name of ["a", "b"]) await cluster.create(Note, name, { spec: {} });
    await cluster.advance("1m");
    assert(rejected.hits.length > 0);
    assert.deepEqual(await cluster.list(Event), []);
    assert.match((await conditions(cluster)).join(), /^Ready=True Reconciled/);
  }
  assert.deepEqual(reconciles.sort(), ["a hello: changed", "a hello: changed", "b hello: changed", "b hello: changed"]);
});

for (
  const { name, fail } of [
    {
      name: "whose first write failed",
      fail: (cluster: MemoryCluster) => void cluster.inject(faults.status(500), { kind: Event, verb: "create" }),
    },
    {
      name: "whose first write was forbidden",
      fail: (cluster: MemoryCluster) => void cluster.inject(faults.status(403), { kind: Event, verb: "create" }),
    },
    {
      name: "that was deleted",
      async fail(cluster: MemoryCluster) {
        await cluster.create(Note, "a", { spec: {} });
        await cluster.settle();
        for (const { metadata } of await cluster.list(Event)) await cluster.delete(Event, metadata.name);
      },
    },
  ]
) {
  Deno.test(`an Event ${name} is written when it is repeated`, async () => {
    const { notes } = recording((_note, { events }) => {
      events.normal("Seen", "It was read");
      return requeue("1m");
    });
    await using cluster = await memoryCluster({ parts: { notes }, forbiddenRequests: "allow" });
    await fail(cluster);
    if (!await cluster.exists(Note, "a")) await cluster.create(Note, "a", { spec: {} });
    await cluster.advance("20m");
    assert.deepEqual((await cluster.list(Event)).map(description), ["Normal Seen Reconcile: It was read"]);
  });
}

Deno.test("Events are rate limited per object, and a long message is truncated at the API's limit", async () => {
  const notes = controller(Note, {
    reconcile({ metadata }, { events }) {
      if (metadata.name === "busy") { for (let i = 0; i < 100; i++) events.normal("Counted", String(i)); }
      else events.warning("Long", "é".repeat(1000));
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "busy", { spec: {} });
  await cluster.create(Note, "long", { spec: {} });
  await cluster.settle();
  const events = await cluster.list(Event);
  assert.equal(events.filter(({ reason }) => reason === "Counted").length, 25);
  const long = events.find(({ reason }) => reason === "Long");
  const bytes = new TextEncoder().encode(long?.note).length;
  assert(bytes <= 1024 && bytes > 1000, String(bytes));
  assert.match(long?.note ?? "", /^é+…$/);
});

Deno.test("object names, reasons and actions that an Event does not allow are shortened and escaped", async () => {
  const names = ["system:Watched:", `${"a".repeat(219)}.b`, "plain.name"];
  const part = "b".repeat(40);
  const roles = controller(ClusterRole, {
    reconcile({ metadata }, { events }) {
      if (names.includes(metadata.name)) events.normal("é".repeat(100), "Seen", { action: "é".repeat(100) });
    },
  });
  await using cluster = await memoryCluster({
    operator: operator({ name: "a".repeat(40), parts: { [part]: roles }, health: false }),
  });
  for (const name of names) await cluster.create(ClusterRole, name, { rules: [] });
  await cluster.settle();

  const events = await cluster.list(Event);
  assert.deepEqual(events.map(({ regarding }) => regarding?.name).sort(), names.toSorted());
  assert.deepEqual(
    events.map(({ metadata }) => metadata.name.replace(/[.][0-9a-f]+$/, "")).sort(),
    ["a".repeat(219), "plain.name", "system-watched"],
  );
  for (const { reportingController = "", reason = "", action = "" } of events) {
    assert.match(reportingController, /^a{40}\.b{13}-[0-9a-f]{8}$/);
    assert.deepEqual([reason, action], ["é".repeat(64), "é".repeat(64)]);
  }
});

function description({ type, reason, action, note }: Infer<typeof Event>): string {
  return `${type} ${reason} ${action}: ${note}`;
}

function eventWrites({ requests }: MemoryCluster): number {
  return requests.filter(({ method, path, userAgent }) =>
    method !== "GET" && path.includes("/events") && userAgent.startsWith("test/")
  ).length;
}
