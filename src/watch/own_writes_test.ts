import assert from "node:assert/strict";
import type { KubeObject } from "../resource/kind.ts";
import {
  added,
  deleted,
  type Line,
  mark,
  modified,
  object,
  refusal,
  start,
  turns,
} from "../../tests/fixtures/scripted_informer.ts";

/** A real server says 0 of every deleted object that waits for its finalizers. */
const PENDING = {
  deletionTimestamp: "2030-01-01T00:00:00Z",
  deletionGracePeriodSeconds: 0,
  finalizers: ["x/y"],
};

// Our own writes: an event may come before the answer to the write, or after it; either way the writer is told once that it was its own.
const WRITES: readonly {
  name: string;
  before?: Line[];
  answer: KubeObject;
  after?: Line[];
  told: string[];
  held?: string;
}[] = [
  { name: "event after the answer", answer: object("a", 6), after: [modified("a", 6)], told: ["a@1->6 by us"] },
  { name: "event before the answer", before: [modified("a", 6)], answer: object("a", 6), told: ["a@1->6 by us"] },
  {
    name: "another's change before ours, all before the answer",
    before: [modified("a", 6), modified("a", 7)],
    answer: object("a", 7),
    told: ["a@6->7 by us", "a@1->6"],
  },
  {
    name: "another's change after ours, all before the answer",
    before: [modified("a", 6), modified("a", 7)],
    answer: object("a", 6),
    told: ["a@1->6 by us", "a@6->7"],
    held: "7",
  },
  {
    name: "another's change after the answer",
    answer: object("a", 6),
    after: [modified("a", 6), modified("a", 7)],
    told: ["a@1->6 by us", "a@6->7"],
    held: "7",
  },
  { name: "a write that changed nothing", answer: object("a", 1), after: [], told: [], held: "1" },
  {
    name: "a deletion before the answer",
    before: [modified("a", 6), deleted("a", 7)],
    answer: object("a", 6),
    told: ["a@1->6 by us", "-a@6"],
    held: "none",
  },
  {
    name: "another object's change meanwhile",
    before: [added("b", 6)],
    answer: object("a", 7),
    told: ["+b@6", "a@1->7 by us"],
    held: "7",
  },
];

for (const { name, before = [], answer, after = [], told, held = answer.metadata.resourceVersion } of WRITES) {
  Deno.test(`Informer.write tells the writer's own change as its own: ${name}`, async () => {
    await using desk = start();
    const [stream] = await desk.opened(1);
    await stream.send(added("a", 1), mark(5));
    desk.told.length = 0;

    const answered = Promise.withResolvers<KubeObject>();
    const written = desk.informer.write("a", desk.us, () => answered.promise);
    await stream.send(...before);
    answered.resolve(answer);
    assert.equal(await written, answer);
    await stream.send(...after);

    assert.deepEqual(desk.told, told);
    assert.equal(desk.informer.store.get("a")?.metadata.resourceVersion ?? "none", held);
  });
}

// Versions that are no integers, as of servers that keep their objects elsewhere than in etcd: nobody can tell which is newer.
const OPAQUE: typeof WRITES = [
  {
    name: "what is older comes after the answer",
    answer: opaque("z"),
    after: [{ type: "MODIFIED", object: opaque("y") }, { type: "MODIFIED", object: opaque("z") }],
    told: ["a@x->z by us"],
  },
  {
    name: "another's change comes after the write's own event",
    answer: opaque("z"),
    after: [{ type: "MODIFIED", object: opaque("z") }, { type: "MODIFIED", object: opaque("b") }],
    told: ["a@x->z by us", "a@z->b"],
    held: "b",
  },
  {
    name: "both come before the answer",
    before: [{ type: "MODIFIED", object: opaque("z") }, { type: "MODIFIED", object: opaque("b") }],
    answer: opaque("z"),
    told: ["a@x->z by us", "a@z->b"],
    held: "b",
  },
  {
    name: "it is made anew before the write's own event",
    answer: opaque("z"),
    after: [{ type: "MODIFIED", object: opaque("n", { uid: "another" }) }],
    told: ["a@x->z by us", "a@z->n"],
    held: "n",
  },
  {
    name: "it goes before the write's own event",
    answer: opaque("z"),
    after: [{ type: "DELETED", object: opaque("d") }, { type: "ADDED", object: opaque("n") }],
    told: ["a@x->z by us", "-a@z", "+a@n"],
    held: "n",
  },
];

for (const { name, before = [], answer, after = [], told, held = answer.metadata.resourceVersion } of OPAQUE) {
  Deno.test(`Informer.write waits for its event where versions do not compare: ${name}`, async () => {
    await using desk = start();
    const [stream] = await desk.opened(1);
    await stream.send({ type: "ADDED", object: opaque("x") }, mark(5));
    desk.told.length = 0;
    const answered = Promise.withResolvers<KubeObject>();
    const written = desk.informer.write("a", desk.us, () => answered.promise);
    await stream.send(...before);
    answered.resolve(answer);
    await written;
    await stream.send(...after);
    assert.deepEqual(desk.told, told);
    assert.equal(desk.informer.store.get("a")?.metadata.resourceVersion, held);
  });
}

Deno.test("Informer takes in what a new listing shows, though a write's own event never came", async () => {
  await using desk = start({}, ({ query }) => query.resourceVersion === "5" ? refusal(410) : undefined);
  const [stream] = await desk.opened(1);
  await stream.send({ type: "ADDED", object: opaque("x") }, mark(5));
  await desk.informer.write("a", desk.us, () => Promise.resolve(opaque("z")));
  desk.clock.step(desk.clock.now() + 60_000);
  await stream.end();
  const [, second] = await desk.opened(2);
  await second.send({ type: "ADDED", object: opaque("b") }, mark(9));
  assert.equal(desk.informer.store.get("a")?.metadata.resourceVersion, "b");
  await second.send({ type: "MODIFIED", object: opaque("c") });
  assert.equal(desk.informer.store.get("a")?.metadata.resourceVersion, "c");
});

function opaque(resourceVersion: string, more: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return object("a", 0, { resourceVersion, ...more });
}

Deno.test("Informer.write tells what came meanwhile when the write fails", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  await stream.send(added("a", 1), mark(5));
  desk.told.length = 0;
  const answered = Promise.withResolvers<KubeObject>();
  const written = desk.informer.write("a", desk.us, () => answered.promise);
  await stream.send(modified("a", 6));
  answered.reject(new Error("conflict"));
  await assert.rejects(written, { message: "conflict" });
  assert.deepEqual(desk.told, ["a@1->6"]);
});

Deno.test("Informer.write tells two writers of one object each its own change", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  await stream.send(added("a", 1), mark(5));
  desk.told.length = 0;
  const [ours, theirs] = [Promise.withResolvers<KubeObject>(), Promise.withResolvers<KubeObject>()];
  const both = [
    desk.informer.write("a", desk.us, () => ours.promise),
    desk.informer.write("a", desk.them, () => theirs.promise),
  ];
  await stream.send(modified("a", 6), modified("a", 7), modified("a", 8));
  theirs.resolve(object("a", 7));
  await turns();
  ours.resolve(object("a", 6));
  await Promise.all(both);
  assert.deepEqual(desk.told, ["a@6->7 by them", "a@1->6 by us", "a@7->8"]);
});

Deno.test("Informer.write drops an object whose last finalizer it took off, before the event comes", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  // A real server says 0 of every deleted object that waits for its finalizers.
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
  await stream.send(added("a", 1, { ...deletion, finalizers: ["x/y"] }), mark(5));
  await desk.informer.write("a", desk.us, () => Promise.resolve(object("a", 6, deletion)));
  assert.equal(desk.informer.store.get("a"), undefined);
  await stream.send(modified("a", 6, deletion), deleted("a", 7));
  assert.equal(desk.informer.store.get("a"), undefined);
});

Deno.test("Informer.write keeps an object that still ends gracefully", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };
  await stream.send(added("a", 1), mark(5));
  await desk.informer.write("a", desk.us, () => Promise.resolve(object("a", 6, deletion)));
  assert.equal(desk.informer.store.get("a")?.metadata.resourceVersion, "6");
});

// A deletion of ours: the server answers with the object where it stays for now, with nothing where it is gone.
const REMOVALS: readonly {
  name: string;
  before?: Line[];
  stays?: KubeObject;
  after?: Line[];
  told: string[];
  held?: string;
}[] = [
  { name: "event after the answer", after: [deleted("a", 6)], told: ["-a@1 by us"] },
  { name: "event before the answer", before: [deleted("a", 6)], told: ["-a@1 by us"] },
  {
    name: "an older event after the answer",
    after: [modified("a", 5), deleted("a", 6)],
    told: ["-a@1 by us"],
  },
  {
    name: "made anew by another before the answer",
    before: [deleted("a", 6), added("a", 7, { uid: "another" })],
    told: ["-a@1 by us", "+a@7"],
    held: "7",
  },
  {
    name: "made anew by another after the answer",
    after: [deleted("a", 6), added("a", 7, { uid: "another" })],
    told: ["-a@1 by us", "+a@7"],
    held: "7",
  },
  {
    name: "it stays for its finalizers, event after the answer",
    stays: object("a", 6, PENDING),
    after: [modified("a", 6, PENDING), deleted("a", 7)],
    told: ["a@1->6 by us", "-a@6"],
  },
  {
    name: "it stays for its finalizers, event before the answer",
    before: [modified("a", 6, PENDING)],
    stays: object("a", 6, PENDING),
    told: ["a@1->6 by us"],
    held: "6",
  },
];

for (const { name, before = [], stays, after = [], told, held = "none" } of REMOVALS) {
  Deno.test(`Informer.remove tells the writer's own deletion as its own: ${name}`, async () => {
    await using desk = start();
    const [stream] = await desk.opened(1);
    await stream.send(added("a", 1), mark(5));
    desk.told.length = 0;

    const answered = Promise.withResolvers<KubeObject | undefined>();
    const removed = desk.informer.remove("a", desk.us, () => answered.promise);
    await stream.send(...before);
    answered.resolve(stays);
    await removed;
    if (stays === undefined && before.length === 0) assert.equal(desk.informer.store.get("a"), undefined);
    await stream.send(...after);

    assert.deepEqual(desk.told, told);
    assert.equal(desk.informer.store.get("a")?.metadata.resourceVersion ?? "none", held);
  });
}
