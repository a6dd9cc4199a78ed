import assert from "node:assert/strict";
import { requeue } from "@op/sdk";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { Note, recording } from "../fixtures/notes.ts";

async function clusterWith(reconcile: Parameters<typeof recording>[0]): Promise<MemoryCluster> {
  const cluster = await memoryCluster({ parts: { notes: recording(reconcile).notes }, maxTurns: 200 });
  await cluster.create(Note, "a", { spec: {} });
  return cluster;
}

/** Returns the warnings that are printed while a function runs. */
async function warnings(run: () => Promise<void>): Promise<string[]> {
  const { warn } = console;
  const lines: string[] = [];
  console.warn = (...args: unknown[]) => void lines.push(args.join(" "));
  try {
    await run();
  } finally {
    console.warn = warn;
  }
  return lines;
}

const readers: Record<string, () => unknown> = {
  "new Date()": () => new Date(),
  "Date.now()": () => Date.now(),
  "Date()": () => Date(),
};

for (const [name, read] of Object.entries(readers)) {
  Deno.test(`disposing of a memory cluster warns about ${name} in a reconcile, with the line`, async () => {
    const lines = await warnings(async () => {
      await using cluster = await clusterWith(async () => {
        await Promise.resolve();
        read();
      });
      await cluster.settle();
    });

    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /now\(\).*\n +at file:.*date_use_test\.ts:\d+:\d+$/s);
  });
}

Deno.test("a failed reconcile reports that it read the machine's clock", async () => {
  await using cluster = await clusterWith(() => {
    throw new Error(`too early: ${Date.now()}`);
  });

  await assert.rejects(cluster.settle(), /Use now\(\) of its context instead:\n +at file:.*date_use_test\.ts/);
});

Deno.test("the error of a settle that gives up reports that a reconcile read the machine's clock", async () => {
  await using cluster = await clusterWith((_note, { status }) => {
    status({ text: String(Date.now()) });
    return requeue("0s");
  });

  await assert.rejects(cluster.settle(), /Cannot settle.*Use now\(\)/s);
});

Deno.test("dates with arguments, and Date outside of reconciles, are not reported", async () => {
  const lines = await warnings(async () => {
    await using cluster = await clusterWith((_note, { now, log }) => {
      log.info("Seen", { at: new Date(now().getTime()), parsed: Date.parse("2030-01-01T00:00:00Z") });
    });
    await cluster.settle();
    assert(new Date() instanceof Date);
    assert(Date.now() > 0);
  });

  assert.deepEqual(lines, []);
});

Deno.test("Date works as usual while clusters exist, and is the original again after the last one is disposed of", async () => {
  const before = Date;
  const one = await memoryCluster();
  const two = await memoryCluster();
  class Day extends Date {}
  assert(new Day(0) instanceof Day && new Day(0) instanceof Date && new before(0) instanceof Date);
  assert(new Date(0) instanceof before && structuredClone(new Date(0)) instanceof Date);
  assert.equal(Object.getPrototypeOf(new Date(0)), before.prototype);
  assert.equal(Date.UTC(2030, 0, 1), before.UTC(2030, 0, 1));
  assert.equal(typeof Date(), "string");

  // The clusters are disposed of in the order of their creation, not in reverse.
  await one[Symbol.asyncDispose]();
  assert(new Date() instanceof before);
  await two[Symbol.asyncDispose]();
  assert.equal(Date, before);
});

Deno.test("a Date that a test replaces stays until the test restores it", async () => {
  const before = Date;
  const cluster = await memoryCluster();
  const patched = globalThis.Date;
  class Fake extends Date {}
  globalThis.Date = Fake as DateConstructor;
  await cluster[Symbol.asyncDispose]();
  assert.equal(Date, Fake);
  globalThis.Date = patched;

  await (await memoryCluster())[Symbol.asyncDispose]();
  assert.equal(Date, before);
});
