/** The next process of an operator continues the calls of handlers of one that was killed. */
import assert from "node:assert/strict";
import { on, type Operator, operator, resource, s, TemporaryError } from "@op/sdk";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { type Process, startProcess } from "./_processes.ts";

const Shop = resource({
  group: "killed.example.com",
  version: "v1",
  kind: "Shop",
  spec: s.object({
    size: s.integer(),
    items: s.array(s.object({ name: s.string(), price: s.integer() })),
  }),
  status: s.object({ handlerState: s.optional(s.map(s.string())) }),
});

/** A call of a handler, or of one of its steps, that returned without an error. */
interface Success {
  readonly handler: string;
  readonly item?: string;
  readonly old?: unknown;
  readonly current?: unknown;
}

/** What the handlers did, in all processes. */
class Journal {
  readonly successes: Success[] = [];
  isDown = false;
}

/** Creates an operator with handlers of all causes that report to a journal. */
function operatorWith(journal: Journal, storage: "status" | "annotation"): Operator {
  const shop = on.for(Shop, { storage });
  const add = (success: Success) => void journal.successes.push(success);
  return operator({
    name: "shop",
    health: false,
    parts: {
      provision: shop.create(async (_shop, { step }) => {
        const database = await step("database", () => {
          add({ handler: "provision/database" });
          return "db-1";
        });
        await step("schema", () => add({ handler: "provision/schema" }));
        assert.equal(database, "db-1");
        add({ handler: "provision" });
      }),
      announce: shop.create((_shop, { attempt }) => {
        if (attempt < 3) throw new TemporaryError("The mail server is down", { retry: "1s" });
        add({ handler: "announce" });
      }, { retries: 10 }),
      change: shop.update((_shop, { old, current }) => {
        add({ handler: "change", old: old.spec, current: current.spec });
      }),
      resize: shop.field(".spec.size", (_shop, { old, current }) => {
        if (journal.isDown) throw new TemporaryError("The scaler is down", { retry: "1s" });
        add({ handler: "resize", old, current });
      }, { retries: 100 }),
      price: shop.item(".spec.items", ({ name }) => name, (_shop, { cause, item, old }) => {
        add({
          handler: "price",
          item: item.name,
          old: old?.price,
          current: cause === "removed" ? undefined : item.price,
        });
      }),
      drop: shop.delete(() => add({ handler: "drop" })),
    },
  });
}

const ITEMS = [{ name: "pen", price: 1 }, { name: "ink", price: 2 }];
const LAST_SPEC = { size: 4, items: [{ name: "ink", price: 3 }, { name: "pad", price: 4 }] };

/** The changes of the object. The operator has five seconds after each. */
const CHANGES: readonly ((cluster: MemoryCluster, journal: Journal) => Promise<unknown>)[] = [
  (cluster) => cluster.create(Shop, "a", { spec: { size: 1, items: ITEMS } }),
  (cluster) => cluster.patch(Shop, "a", { spec: { size: 2 } }),
  (cluster, journal) => {
    journal.isDown = true;
    return cluster.patch(Shop, "a", { spec: { size: 3 } });
  },
  (cluster) => cluster.patch(Shop, "a", { spec: LAST_SPEC }),
  (_cluster, journal) => {
    journal.isDown = false;
    return Promise.resolve();
  },
];

interface Scenario {
  readonly name: string;
  readonly storage: "status" | "annotation";
  /** Happens after each change, as another client. */
  readonly disturb?: (cluster: MemoryCluster) => Promise<void>;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "with the state in the status", storage: "status" },
  { name: "with the state in an annotation", storage: "annotation" },
  {
    name: "while all watches expire",
    storage: "status",
    disturb: (cluster) => Promise.resolve(cluster.restartServer({ compact: true })),
  },
];

/**
 * Makes the changes while an operator runs that is killed at a write. Returns its number of writes.
 */
async function runKilledAt(write: number, { storage, disturb }: Scenario): Promise<number> {
  await using cluster = await memoryCluster({ kinds: [Shop] });
  const journal = new Journal();
  const op = operatorWith(journal, storage);
  const first = startProcess(cluster, op, { killedAtWrite: write });
  const processes: Process[] = [first];
  const startNext = () => void processes.push(startProcess(cluster, op));
  try {
    for (const change of CHANGES) {
      await change(cluster, journal);
      await cluster.advance("5s");
      await disturb?.(cluster);
      if (processes.at(-1)!.isKilled) startNext();
      await cluster.advance("5s");
    }
    await cluster.advance("5m");
    checkLastState(journal);
    if (first.isKilled) {
      const before = journal.successes.length;
      if (first !== processes.at(-1)) await processes.at(-1)!.stop();
      startNext();
      await cluster.advance("5m");
      assert.deepEqual(journal.successes.slice(before), [], "calls after a restart at rest");
    }
    await cluster.delete(Shop, "a");
    await cluster.advance("5s");
    if (processes.at(-1)!.isKilled) startNext();
    await cluster.advance("5m");
    assert(!await cluster.exists(Shop, "a"), "the object is still there");
    assert(journal.successes.some(({ handler }) => handler === "drop"), "the delete handler was not called");
    checkRepetitions(journal, first.isKilled ? 1 : 0);
    assert.equal(first.isKilled, write !== Infinity);
    return first.writes.length;
  } finally {
    for (const process of processes) await process[Symbol.asyncDispose]();
  }
}

/** Checks that each handler succeeded with the last state. */
function checkLastState({ successes }: Journal): void {
  const last = (handler: string, item?: string) =>
    successes.findLast((success) => success.handler === handler && success.item === item)?.current;
  assert.deepEqual(last("change"), LAST_SPEC);
  assert.equal(last("resize"), LAST_SPEC.size);
  assert.deepEqual(["pen", "ink", "pad"].map((item) => last("price", item)), [undefined, 3, 4]);
  for (const handler of ["provision", "announce"]) {
    assert(successes.some((success) => success.handler === handler), `${handler} did not succeed`);
  }
}

/**
 * Checks that `old` of each successful call is `current` of the one before, or that the call
 * repeats it because its success was not stored. A kill causes one repetition of each call at most.
 */
function checkRepetitions({ successes }: Journal, kills: number): void {
  const calls = Map.groupBy(successes, ({ handler, item }) => `${handler} ${item ?? ""}`);
  for (const [call, all] of calls) {
    let repetitions = 0;
    all.forEach(({ old, current }, index) => {
      const previous = all[index - 1];
      if (previous === undefined) return;
      if (isEqual(old, previous.current) && !isEqual(old, current)) return;
      assert.deepEqual(old, previous.old, `${call}: old of call ${index + 1}`);
      repetitions++;
    });
    assert(repetitions <= kills, `${call}: ${repetitions} repetitions`);
  }
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

for (const scenario of SCENARIOS) {
  Deno.test(`handlers of an operator that is killed at any of its writes miss no change ${scenario.name}`, async (t) => {
    const writes = await runKilledAt(Infinity, scenario);
    assert(writes > 8, `${writes} writes`);
    for (let write = 1; write <= writes; write++) {
      await t.step(`killed at write ${write} of ${writes}`, async () => void await runKilledAt(write, scenario));
    }
  });
}
