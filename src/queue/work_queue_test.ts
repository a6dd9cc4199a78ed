import assert from "node:assert/strict";
import fc from "../../tests/fixtures/property.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { type AddOptions, type Priority, WorkQueue } from "./work_queue.ts";

Deno.test("WorkQueue returns a key once, however often it was added", () => {
  const { queue } = setUp();
  queue.add("a", "first");
  queue.add("a", "second");
  assert.deepEqual(queue.take(), { key: "a", reason: "first" });
  assert.equal(queue.take(), undefined);
});

Deno.test("WorkQueue returns a key once more after its reconcile, however often it was added during the reconcile", () => {
  const { queue, taken } = setUp();
  queue.add("a", "changed");
  queue.take();
  queue.add("a", "changed again");
  queue.add("a", "and again");
  assert.equal(queue.take(), undefined, "a key was returned during its reconcile");
  queue.done("a");
  assert.deepEqual(taken(), ["a: changed again"]);
  queue.done("a");
  assert.deepEqual(taken(), []);
});

Deno.test("WorkQueue returns fresh before initial before resync keys, the oldest first", () => {
  const { queue, taken } = setUp();
  queue.add("r", "r", { priority: "resync" });
  queue.add("i1", "i", { priority: "initial" });
  queue.add("i2", "i", { priority: "initial" });
  queue.add("f1", "f");
  queue.add("f2", "f");
  queue.add("f1", "second addition");
  assert.deepEqual(taken(), ["f1: f", "f2: f", "i1: i", "i2: i", "r: r"]);
});

Deno.test("WorkQueue raises the priority of a waiting key, never lowers it, and keeps the first reason", () => {
  const { queue, taken } = setUp();
  queue.add("a", "found", { priority: "initial" });
  queue.add("b", "found", { priority: "initial" });
  queue.add("b", "changed", { priority: "fresh" });
  queue.add("b", "resync", { priority: "resync" });
  assert.equal(queue.depth, 2);
  assert.deepEqual(taken(), ["b: found", "a: found"]);
});

Deno.test("WorkQueue keeps the highest priority of additions during a reconcile", () => {
  const { queue, taken } = setUp();
  queue.add("a", "x");
  queue.take();
  queue.add("b", "initial", { priority: "initial" });
  queue.add("a", "again", { priority: "resync" });
  queue.add("a", "again", { priority: "fresh" });
  queue.done("a");
  assert.deepEqual(taken(), ["a: again", "b: initial"]);
});

const AFTER_RECONCILE: readonly {
  name: string;
  next: { after: number; isBackoff: boolean; yields?: boolean };
  during?: AddOptions;
  after?: AddOptions;
  due: number;
}[] = [
  { name: "a requeue alone", next: { after: 100, isBackoff: false }, due: 100 },
  { name: "a requeue immediately", next: { after: 0, isBackoff: false }, due: 0 },
  { name: "a requeue and a change during the reconcile", next: { after: 100, isBackoff: false }, during: {}, due: 0 },
  { name: "a requeue and a change after it", next: { after: 100, isBackoff: false }, after: {}, due: 0 },
  {
    name: "a requeue immediately and a change during the reconcile",
    next: { after: 0, isBackoff: false },
    during: {},
    due: 0,
  },
  { name: "a backoff alone", next: { after: 100, isBackoff: true }, due: 100 },
  {
    name: "a backoff and an unrelated change during the reconcile",
    next: { after: 100, isBackoff: true },
    during: {},
    due: 100,
  },
  { name: "a backoff and an unrelated change after it", next: { after: 100, isBackoff: true }, after: {}, due: 100 },
  {
    name: "a backoff and a change of the object during the reconcile",
    next: { after: 100, isBackoff: true },
    during: { endsBackoff: true },
    due: 0,
  },
  {
    name: "a backoff and a change of the object after it",
    next: { after: 100, isBackoff: true },
    after: { endsBackoff: true },
    due: 0,
  },
  {
    name: "a backoff without yields and a related change",
    next: { after: 100, isBackoff: true },
    after: { isRelated: true },
    due: 100,
  },
  {
    name: "a backoff that yields and a related change during the reconcile",
    next: { after: 100, isBackoff: true, yields: true },
    during: { isRelated: true },
    due: 0,
  },
  {
    name: "a backoff that yields and a related change after it",
    next: { after: 100, isBackoff: true, yields: true },
    after: { isRelated: true },
    due: 0,
  },
  {
    name: "a backoff that yields and an unrelated change after it",
    next: { after: 100, isBackoff: true, yields: true },
    after: {},
    due: 100,
  },
];

for (const { name, next, during, after, due } of AFTER_RECONCILE) {
  Deno.test(`WorkQueue reconciles ${name} once, ${due === 0 ? "immediately" : "when it is due"}`, () => {
    // Each key is taken as soon as it is due, as by a loop with free capacity.
    const takenAt: number[] = [];
    const clock = new VirtualClock(0);
    const queue: WorkQueue<string> = new WorkQueue<string>(clock, () => {
      if (queue.take() !== undefined) takenAt.push(clock.now());
    });
    queue.add("a", "x");
    if (during) queue.add("a", "during", during);
    queue.done("a", { ...next, reason: "next" });
    if (after) queue.add("a", "after", after);
    while (clock.step(1000));
    assert.deepEqual(takenAt, [0, due]);
    queue.done("a");
    assert.deepEqual(takenAt, [0, due], "another reconcile followed");
  });
}

const PAUSES: readonly { name: string; next?: number; during?: AddOptions; after?: AddOptions; due: number }[] = [
  { name: "a change during the reconcile", during: {}, due: 500 },
  { name: "a change after the reconcile", after: {}, due: 500 },
  { name: "a requeue immediately", next: 0, due: 500 },
  { name: "a requeue later than the pause", next: 800, due: 800 },
  { name: "a requeue later than the pause, and a change", next: 800, after: {}, due: 500 },
  { name: "a change that ends a backoff", after: { endsBackoff: true }, due: 500 },
  { name: "a spec change during the reconcile", during: { endsPause: true }, due: 0 },
  { name: "a spec change after the reconcile", after: { endsPause: true }, due: 0 },
  { name: "a requeue immediately and a spec change", next: 0, after: { endsPause: true }, due: 0 },
  { name: "another change, and then a spec change", during: {}, after: { endsPause: true }, due: 0 },
];

for (const { name, next, during, after, due } of PAUSES) {
  Deno.test(`WorkQueue returns a key that is added too often ${due === 0 ? "immediately" : `after ${due} ms`}: ${name}`, () => {
    const takenAt: number[] = [];
    const clock = new VirtualClock(0);
    // No key is due before 500 ms.
    const limit = { pauseFor: (_key: string, delay = 0) => takenAt.length > 0 && delay < 500 ? 500 : 0 };
    const queue: WorkQueue<string> = new WorkQueue<string>(
      clock,
      () => {
        if (queue.take() !== undefined) takenAt.push(clock.now());
      },
      undefined,
      limit,
    );
    queue.add("a", "x");
    if (during) queue.add("a", "during", during);
    queue.done("a", next === undefined ? undefined : { after: next, isBackoff: false, reason: "next" });
    if (after) queue.add("a", "after", after);
    assert.deepEqual(queue.paused, due === 500 ? ["a"] : []);
    while (clock.step(1000));
    assert.deepEqual(takenAt, [0, due]);
    assert.deepEqual(queue.paused, []);
  });
}

Deno.test("WorkQueue does not delay a key that is already due, and removes a delayed key that is dropped", () => {
  const clock = new VirtualClock(0);
  let pause = 0;
  const queue = new WorkQueue<string>(clock, () => {}, undefined, { pauseFor: () => pause });
  queue.add("due", "x", { priority: "initial" });
  pause = 500;
  queue.add("due", "y", { priority: "fresh" });
  assert.deepEqual(queue.paused, []);
  assert.deepEqual(queue.take(), { key: "due", reason: "x" });
  queue.add("deleted", "x");
  assert.deepEqual(queue.paused, ["deleted"]);
  queue.drop("deleted");
  while (clock.step(1000));
  assert.equal(queue.take(), undefined);
});

Deno.test("WorkQueue drops a key that is due, due later, or added during its reconcile", () => {
  const { queue, clock, taken } = setUp();
  for (const key of ["ready", "later", "running"]) queue.add(key, "x");
  assert.equal(taken().length, 3);
  queue.done("ready");
  queue.done("later", { after: 10, reason: "x", isBackoff: true });
  queue.add("ready", "x", { priority: "resync" });
  queue.add("running", "x");
  for (const key of ["ready", "later", "running"]) queue.drop(key);
  queue.done("running", { after: 10, reason: "x", isBackoff: false });
  while (clock.step(1000));
  assert.deepEqual(taken(), []);
  assert.equal(queue.depth, 0);
});

Deno.test("WorkQueue reconciles a key that was dropped and added again during its reconcile", () => {
  const { queue, clock, taken } = setUp();
  for (const next of [undefined, { after: 5, reason: "retried", isBackoff: true }]) {
    queue.add("a", "x");
    queue.take();
    queue.drop("a");
    queue.add("a", "recreated");
    queue.done("a", next);
    while (clock.step(clock.now() + 10));
    assert.equal(taken().length, 1);
    queue.done("a");
  }
});

Deno.test("WorkQueue ignores additions and returns no keys after it is closed", () => {
  const { queue, clock, taken } = setUp();
  for (const key of ["running", "later", "ready"]) queue.add(key, "x");
  queue.take();
  queue.take();
  queue.done("later", { after: 10, reason: "x", isBackoff: false });
  queue.add("running", "x");
  queue.close();
  queue.add("new", "x");
  queue.done("running", { after: 0, reason: "x", isBackoff: false });
  assert.equal(clock.nextDue, undefined);
  assert.deepEqual(taken(), []);
  assert.deepEqual(queue.running, []);
});

/** A model of one key: the rules of the queue, applied to a single key. */
interface Model {
  running: boolean;
  dropped: boolean;
  again: boolean;
  againEndsBackoff: boolean;
  due: boolean;
  later: { at: number; isBackoff: boolean } | undefined;
}

type Command =
  | { readonly do: "add"; readonly key: string; readonly priority: Priority; readonly endsBackoff: boolean }
  | { readonly do: "take" }
  | { readonly do: "done"; readonly key: string; readonly after: number | undefined; readonly isBackoff: boolean }
  | { readonly do: "drop"; readonly key: string }
  | { readonly do: "wait"; readonly time: number };

const KEY = fc.constantFrom("a", "b", "c");
const COMMAND: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    key: KEY,
    priority: fc.constantFrom<Priority>("fresh", "initial", "resync"),
    endsBackoff: fc.boolean(),
  }),
  fc.record({ do: fc.constant("take" as const) }),
  fc.record({
    do: fc.constant("done" as const),
    key: KEY,
    after: fc.constantFrom(undefined, 0, 5, 20),
    isBackoff: fc.boolean(),
  }),
  fc.record({ do: fc.constant("drop" as const), key: KEY }),
  fc.record({ do: fc.constant("wait" as const), time: fc.integer({ min: 0, max: 30 }) }),
);

Deno.test("WorkQueue never reconciles a key twice at the same time, loses no addition, and ends a backoff only for additions with endsBackoff", () => {
  fc.assert(
    fc.property(fc.array(COMMAND, { maxLength: 60 }), (commands) => {
      const { queue, clock } = setUp();
      const models = new Map<string, Model>();
      for (const command of commands) perform(command, queue, clock, models);
      // In the end every key that is due is returned, each once.
      clock.step(clock.now());
      const expected = [...models].filter(([, model]) => model.due || model.later || model.again).map(([key]) => key);
      for (const [key, model] of models) if (model.running) perform(doneCommand(key), queue, clock, models);
      while (clock.step(clock.now() + 1000));
      const actual = new Set<string>();
      for (let work = queue.take(); work; work = queue.take()) actual.add(work.key);
      assert.deepEqual([...actual].sort(), expected.sort());
    }),
    { numRuns: 1000 },
  );
});

function doneCommand(key: string): Command {
  return { do: "done", key, after: undefined, isBackoff: false };
}

function perform(command: Command, queue: WorkQueue<string>, clock: VirtualClock, models: Map<string, Model>): void {
  switch (command.do) {
    case "add": {
      queue.add(command.key, "x", command);
      const model = modelOf(models, command.key);
      if (model.running) {
        model.again = true;
        model.againEndsBackoff ||= command.endsBackoff;
        model.dropped = false;
      } else if (!model.later?.isBackoff || command.endsBackoff) {
        model.later = undefined;
        model.due = true;
      }
      break;
    }
    case "take": {
      const work = queue.take();
      const due = [...models].filter(([, model]) => model.due).map(([key]) => key);
      if (work === undefined) return assert.deepEqual(due, [], "a key that is due was not returned");
      const model = modelOf(models, work.key);
      assert(!model.running, "a key was returned during its reconcile");
      assert(model.due, "a key was returned that is not due");
      Object.assign(model, { running: true, due: false, again: false, againEndsBackoff: false, dropped: false });
      break;
    }
    case "done": {
      const model = modelOf(models, command.key);
      if (!model.running) return;
      const { key, after, isBackoff } = command;
      queue.done(key, after === undefined ? undefined : { after, isBackoff, reason: "x" });
      model.running = false;
      const hasNext = after !== undefined && !model.dropped;
      if (model.again && !(hasNext && isBackoff && !model.againEndsBackoff)) model.due = true;
      else if (hasNext) model.later = { at: clock.now() + after, isBackoff };
      model.again = false;
      break;
    }
    case "drop":
      queue.drop(command.key);
      Object.assign(modelOf(models, command.key), { due: false, later: undefined, again: false, dropped: true });
      modelOf(models, command.key).againEndsBackoff = false;
      break;
    case "wait": {
      const until = clock.now() + command.time;
      while (clock.step(until));
      for (const model of models.values()) {
        if (model.later === undefined || model.later.at > until) continue;
        model.later = undefined;
        model.due = true;
      }
    }
  }
}

function modelOf(models: Map<string, Model>, key: string): Model {
  const model = models.get(key) ??
    { running: false, dropped: false, again: false, againEndsBackoff: false, due: false, later: undefined };
  models.set(key, model);
  return model;
}

function setUp() {
  const clock = new VirtualClock(0);
  const queue = new WorkQueue<string>(clock, () => {});
  return {
    clock,
    queue,
    taken: () => {
      const taken: string[] = [];
      for (let work = queue.take(); work; work = queue.take()) taken.push(`${work.key}: ${work.reason}`);
      return taken;
    },
  };
}
