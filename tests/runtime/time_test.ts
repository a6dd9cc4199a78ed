/** The clock of reconciles, webhooks and sources, and requeues at a given time. */
import assert from "node:assert/strict";
import { type Clock, controller, operator, requeue, source, webhook } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note, recording } from "../fixtures/notes.ts";

const START = "2030-01-01T00:00:00.000Z";

Deno.test("now and clock of a reconcile follow the time of a memory cluster", async () => {
  const seen: string[] = [];
  const { notes } = recording((_note, { now, clock }) => {
    assert.equal(clock.now(), now().getTime());
    seen.push(now().toISOString());
    return requeue("1h");
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.advance("1h");

  assert.deepEqual(seen, [START, "2030-01-01T01:00:00.000Z"]);
});

Deno.test("sleep of a reconcile waits in the time of a memory cluster", async () => {
  const seen: string[] = [];
  const { notes } = recording(async ({ spec }, { now, sleep }) => {
    await Promise.all([sleep(spec.text === "long" ? "3h" : "300ms"), sleep("100ms")]);
    seen.push(`${spec.text} ${now().toISOString()}`);
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "short" } });
  await cluster.settle();
  assert.deepEqual(seen, ["short 2030-01-01T00:00:00.300Z"]);

  await cluster.create(Note, "b", { spec: { text: "long" } });
  await assert.rejects(cluster.settle(), {
    code: "StillBusy",
    message: /1 of its requests or sleeps waits for the clock to move\. Call advance\(\)/,
  });
  const before = performance.now();
  await cluster.advance("3h");
  assert(performance.now() - before < 5000, "the test waits for real time");
  assert.equal(seen[1], "long 2030-01-01T03:00:00.300Z");
});

Deno.test("sleep of a reconcile is canceled when the reconcile ends without waiting for it", async () => {
  const seen: string[] = [];
  const { notes } = recording(async (_note, { sleep }) => {
    const timeout = sleep("1h").then(() => seen.push("timeout"));
    await Promise.race([sleep("1m").then(() => seen.push("work")), timeout]);
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("1m");
  await cluster.settle();
  await cluster.advance("2h");
  assert.deepEqual(seen, ["work"]);
});

Deno.test("sleep of a reconcile rejects when the object is deleted", async () => {
  const errors: unknown[] = [];
  const { notes } = recording(async (_note, { sleep, signal }) => {
    await sleep("1h").catch((error) => errors.push(error, signal.reason));
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("1m");
  assert.equal(errors.length, 0);
  await cluster.delete(Note, "a");
  await cluster.settle();
  assert.equal(errors.length, 2);
  assert.equal((errors[0] as DOMException).name, "AbortError");
  assert.equal(errors[0], errors[1]);
});

Deno.test("services, webhooks and sources receive the clock of the memory cluster", async () => {
  const seen: Record<string, string> = {};
  const parts = {
    notes: controller.with<{ readonly clock: Clock }>()(Note, {
      triggers: [source(async function* (_signal, { now, clock }) {
        seen.source ??= `${now().toISOString()} ${new Date(clock.now()).toISOString()}`;
        yield [];
      })],
      reconcile: (_note, { services }) => void (seen.services = new Date(services.clock.now()).toISOString()),
    }),
    rules: webhook(Note, {
      validate: (_note, { now, clock }) => {
        seen.webhook = `${now().toISOString()} ${new Date(clock.now()).toISOString()}`;
      },
    }),
  };
  const op = operator({ name: "test", parts, services: ({ clock }) => ({ clock }), health: false });
  await using cluster = await memoryCluster({ operator: op });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();

  assert.deepEqual(seen, { source: `${START} ${START}`, webhook: `${START} ${START}`, services: START });
});

for (
  const { name, when, due } of [
    { name: "a Date", when: (now: Date) => new Date(now.getTime() + 90_000), due: 90_000 },
    { name: "a Date in the past", when: () => new Date(0), due: 0 },
    { name: "a number of milliseconds", when: () => 1500, due: 1500 },
    { name: "zero", when: () => 0, due: 0 },
  ]
) {
  Deno.test(`requeue with ${name} reconciles again at that time`, async () => {
    const times: number[] = [];
    const { notes } = recording((_note, { now }) => {
      times.push(now().getTime());
      return times.length === 1 ? requeue(when(now())) : undefined;
    });
    await using cluster = await memoryCluster({ parts: { notes } });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.advance("1h");

    assert.deepEqual(times.map((time) => time - times[0]!), [0, due]);
  });
}

Deno.test("requeue with a Date counts from the end of the reconcile, also in a cleanup", async () => {
  const times: number[] = [];
  const { notes } = recording(() => {}, {
    cleanup(_note, { now }) {
      times.push(now().getTime());
      return times.length === 1 ? requeue(new Date(now().getTime() + 5000)) : undefined;
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.delete(Note, "a");
  await cluster.advance("1m");

  assert.deepEqual(times.map((time) => time - times[0]!), [0, 5000]);
  assert(!await cluster.exists(Note, "a"));
});

Deno.test("a reconciler can requeue until a time in its object", async () => {
  const reminders = controller(ConfigMap, {
    reconcile({ data }, { now, events }) {
      if (data?.at === undefined) return undefined;
      if (now() < new Date(data.at)) return requeue(new Date(data.at));
      events.normal("Due", `It is ${now().toISOString()}`);
      return undefined;
    },
  });
  await using cluster = await memoryCluster({ parts: { reminders } });
  await cluster.create(ConfigMap, "a", { data: { at: "2030-01-01T06:00:00Z" } });
  await cluster.advance("5h");
  assert.equal(cluster.sent({ verb: "create", where: ({ resource }) => resource === "events" }).length, 0);
  await cluster.advance("1h");
  assert.equal(cluster.sent({ verb: "create", where: ({ resource }) => resource === "events" }).length, 1);
});
