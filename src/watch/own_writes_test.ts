import assert from "node:assert/strict";
import type { KubeObject } from "../resource/kind.ts";
import {
  added,
  deleted,
  initialEventsEnd,
  type Line,
  modified,
  object,
  rejection,
  startInformer,
  turns,
} from "../../tests/fixtures/scripted_informer.ts";

/**
 * A real server sets the grace period to 0 for every deleted object that waits for its finalizers.
 */
const PENDING = {
  deletionTimestamp: "2030-01-01T00:00:00Z",
  deletionGracePeriodSeconds: 0,
  finalizers: ["x/y"],
};

// The event of a write may be received before or after its response. In both cases, the change is
// reported once, with its writer.
const WRITES: readonly {
  name: string;
  before?: Line[];
  response: KubeObject;
  after?: Line[];
  changes: string[];
  stored?: string;
}[] = [
  { name: "event after the response", response: object("a", 6), after: [modified("a", 6)], changes: ["a@1->6 by us"] },
  {
    name: "event before the response",
    before: [modified("a", 6)],
    response: object("a", 6),
    changes: ["a@1->6 by us"],
  },
  {
    name: "another writer's change, then the event of the write, both before the response",
    before: [modified("a", 6), modified("a", 7)],
    response: object("a", 7),
    changes: ["a@6->7 by us", "a@1->6"],
  },
  {
    name: "the event of the write, then another writer's change, both before the response",
    before: [modified("a", 6), modified("a", 7)],
    response: object("a", 6),
    changes: ["a@1->6 by us", "a@6->7"],
    stored: "7",
  },
  {
    name: "another writer's change after the response",
    response: object("a", 6),
    after: [modified("a", 6), modified("a", 7)],
    changes: ["a@1->6 by us", "a@6->7"],
    stored: "7",
  },
  { name: "a write without changes", response: object("a", 1), after: [], changes: [], stored: "1" },
  {
    name: "a deletion before the response",
    before: [modified("a", 6), deleted("a", 7)],
    response: object("a", 6),
    changes: ["a@1->6 by us", "-a@6"],
    stored: "none",
  },
  {
    name: "a change of another object before the response",
    before: [added("b", 6)],
    response: object("a", 7),
    changes: ["+b@6", "a@1->7 by us"],
    stored: "7",
  },
];

for (const { name, before = [], response, after = [], changes, stored = response.metadata.resourceVersion } of WRITES) {
  Deno.test(`Informer.write reports the change with its writer: ${name}`, async () => {
    await using scenario = startInformer();
    const [stream] = await scenario.openStreams(1);
    await stream.send(added("a", 1), initialEventsEnd(5));
    scenario.changes.length = 0;

    const pending = Promise.withResolvers<KubeObject>();
    const written = scenario.informer.write("a", scenario.us, () => pending.promise);
    await stream.send(...before);
    pending.resolve(response);
    assert.equal(await written, response);
    await stream.send(...after);

    assert.deepEqual(scenario.changes, changes);
    assert.equal(scenario.informer.store.get("a")?.metadata.resourceVersion ?? "none", stored);
  });
}

// Some aggregated API servers have versions that are not integers and cannot be compared.
const OPAQUE: typeof WRITES = [
  {
    name: "an older event after the response",
    response: opaque("z"),
    after: [{ type: "MODIFIED", object: opaque("y") }, { type: "MODIFIED", object: opaque("z") }],
    changes: ["a@x->z by us"],
  },
  {
    name: "another writer's change after the event of the write",
    response: opaque("z"),
    after: [{ type: "MODIFIED", object: opaque("z") }, { type: "MODIFIED", object: opaque("b") }],
    changes: ["a@x->z by us", "a@z->b"],
    stored: "b",
  },
  {
    name: "the event of the write and another writer's change before the response",
    before: [{ type: "MODIFIED", object: opaque("z") }, { type: "MODIFIED", object: opaque("b") }],
    response: opaque("z"),
    changes: ["a@x->z by us", "a@z->b"],
    stored: "b",
  },
  {
    name: "the object is recreated before the event of the write",
    response: opaque("z"),
    after: [{ type: "MODIFIED", object: opaque("n", { uid: "another" }) }],
    changes: ["a@x->z by us", "a@z->n"],
    stored: "n",
  },
  {
    name: "the object is deleted before the event of the write",
    response: opaque("z"),
    after: [{ type: "DELETED", object: opaque("d") }, { type: "ADDED", object: opaque("n") }],
    changes: ["a@x->z by us", "-a@z", "+a@n"],
    stored: "n",
  },
];

for (const { name, before = [], response, after = [], changes, stored = response.metadata.resourceVersion } of OPAQUE) {
  Deno.test(`Informer.write ignores older events if versions cannot be compared: ${name}`, async () => {
    await using scenario = startInformer();
    const [stream] = await scenario.openStreams(1);
    await stream.send({ type: "ADDED", object: opaque("x") }, initialEventsEnd(5));
    scenario.changes.length = 0;
    const pending = Promise.withResolvers<KubeObject>();
    const written = scenario.informer.write("a", scenario.us, () => pending.promise);
    await stream.send(...before);
    pending.resolve(response);
    await written;
    await stream.send(...after);
    assert.deepEqual(scenario.changes, changes);
    assert.equal(scenario.informer.store.get("a")?.metadata.resourceVersion, stored);
  });
}

Deno.test("Informer stores the objects of a new list even if the event of a write was never received", async () => {
  await using scenario = startInformer({}, ({ query }) => query.resourceVersion === "5" ? rejection(410) : undefined);
  const [stream] = await scenario.openStreams(1);
  await stream.send({ type: "ADDED", object: opaque("x") }, initialEventsEnd(5));
  await scenario.informer.write("a", scenario.us, () => Promise.resolve(opaque("z")));
  scenario.clock.step(scenario.clock.now() + 60_000);
  await stream.end();
  const [, second] = await scenario.openStreams(2);
  await second.send({ type: "ADDED", object: opaque("b") }, initialEventsEnd(9));
  assert.equal(scenario.informer.store.get("a")?.metadata.resourceVersion, "b");
  await second.send({ type: "MODIFIED", object: opaque("c") });
  assert.equal(scenario.informer.store.get("a")?.metadata.resourceVersion, "c");
});

function opaque(resourceVersion: string, more: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return object("a", 0, { resourceVersion, ...more });
}

Deno.test("Informer.write reports the changes of others when the write fails", async () => {
  await using scenario = startInformer();
  const [stream] = await scenario.openStreams(1);
  await stream.send(added("a", 1), initialEventsEnd(5));
  scenario.changes.length = 0;
  const pending = Promise.withResolvers<KubeObject>();
  const written = scenario.informer.write("a", scenario.us, () => pending.promise);
  await stream.send(modified("a", 6));
  pending.reject(new Error("conflict"));
  await assert.rejects(written, { message: "conflict" });
  assert.deepEqual(scenario.changes, ["a@1->6"]);
});

Deno.test("Informer.write reports the changes of two concurrent writers with the right writer", async () => {
  await using scenario = startInformer();
  const [stream] = await scenario.openStreams(1);
  await stream.send(added("a", 1), initialEventsEnd(5));
  scenario.changes.length = 0;
  const [ours, theirs] = [Promise.withResolvers<KubeObject>(), Promise.withResolvers<KubeObject>()];
  const both = [
    scenario.informer.write("a", scenario.us, () => ours.promise),
    scenario.informer.write("a", scenario.them, () => theirs.promise),
  ];
  await stream.send(modified("a", 6), modified("a", 7), modified("a", 8));
  theirs.resolve(object("a", 7));
  await turns();
  ours.resolve(object("a", 6));
  await Promise.all(both);
  assert.deepEqual(scenario.changes, ["a@6->7 by them", "a@1->6 by us", "a@7->8"]);
});

Deno.test("Informer.write removes an object before the event if the write removed its last finalizer", async () => {
  await using scenario = startInformer();
  const [stream] = await scenario.openStreams(1);
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
  await stream.send(added("a", 1, { ...deletion, finalizers: ["x/y"] }), initialEventsEnd(5));
  await scenario.informer.write("a", scenario.us, () => Promise.resolve(object("a", 6, deletion)));
  assert.equal(scenario.informer.store.get("a"), undefined);
  await stream.send(modified("a", 6, deletion), deleted("a", 7));
  assert.equal(scenario.informer.store.get("a"), undefined);
});

Deno.test("Informer.write does not remove an object in its grace period", async () => {
  await using scenario = startInformer();
  const [stream] = await scenario.openStreams(1);
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };
  await stream.send(added("a", 1), initialEventsEnd(5));
  await scenario.informer.write("a", scenario.us, () => Promise.resolve(object("a", 6, deletion)));
  assert.equal(scenario.informer.store.get("a")?.metadata.resourceVersion, "6");
});

// The response to a deletion is the object if it still exists because of its finalizers.
const REMOVALS: readonly {
  name: string;
  before?: Line[];
  remaining?: KubeObject;
  after?: Line[];
  changes: string[];
  stored?: string;
}[] = [
  { name: "event after the response", after: [deleted("a", 6)], changes: ["-a@1 by us"] },
  { name: "event before the response", before: [deleted("a", 6)], changes: ["-a@1 by us"] },
  {
    name: "an older event after the response",
    after: [modified("a", 5), deleted("a", 6)],
    changes: ["-a@1 by us"],
  },
  {
    name: "recreated by another writer before the response",
    before: [deleted("a", 6), added("a", 7, { uid: "another" })],
    changes: ["-a@1 by us", "+a@7"],
    stored: "7",
  },
  {
    name: "recreated by another writer after the response",
    after: [deleted("a", 6), added("a", 7, { uid: "another" })],
    changes: ["-a@1 by us", "+a@7"],
    stored: "7",
  },
  {
    name: "the object has finalizers, event after the response",
    remaining: object("a", 6, PENDING),
    after: [modified("a", 6, PENDING), deleted("a", 7)],
    changes: ["a@1->6 by us", "-a@6"],
  },
  {
    name: "the object has finalizers, event before the response",
    before: [modified("a", 6, PENDING)],
    remaining: object("a", 6, PENDING),
    changes: ["a@1->6 by us"],
    stored: "6",
  },
];

for (const { name, before = [], remaining, after = [], changes, stored = "none" } of REMOVALS) {
  Deno.test(`Informer.remove reports the deletion with its writer: ${name}`, async () => {
    await using scenario = startInformer();
    const [stream] = await scenario.openStreams(1);
    await stream.send(added("a", 1), initialEventsEnd(5));
    scenario.changes.length = 0;

    const pending = Promise.withResolvers<KubeObject | undefined>();
    const removed = scenario.informer.remove("a", scenario.us, () => pending.promise);
    await stream.send(...before);
    pending.resolve(remaining);
    await removed;
    if (remaining === undefined && before.length === 0) assert.equal(scenario.informer.store.get("a"), undefined);
    await stream.send(...after);

    assert.deepEqual(scenario.changes, changes);
    assert.equal(scenario.informer.store.get("a")?.metadata.resourceVersion ?? "none", stored);
  });
}
