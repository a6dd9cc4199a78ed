/** Several operators in one process: logs and metrics are separate, and each stops on its own. */
import assert from "node:assert/strict";
import { configure, type LogRecord, reset } from "@logtape/logtape";
import { type Operator, operator } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { startOperator } from "../../src/operator/running.ts";
import { applyText, Note, recording } from "../fixtures/notes.ts";

function start(cluster: MemoryCluster, op: Operator) {
  const connection = { url: "http://memory.cluster", fetch: cluster.fetch, close() {} };
  return startOperator(op, { connection, clock: cluster.clock, random: () => 0.5, checkAccess: false });
}

Deno.test("two operators in one process have separate logs and metrics, and stop independently", async () => {
  const records: LogRecord[] = [];
  await configure({
    sinks: { all: (record) => void records.push(record) },
    loggers: [
      { category: "op", lowestLevel: "debug", sinks: ["all"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["all"] },
    ],
  });
  try {
    await using one = await memoryCluster({ kinds: [Note] });
    await using other = await memoryCluster({ kinds: [Note] });
    const parts = (reconcile: Parameters<typeof recording>[0]) => ({ notes: recording(reconcile).notes });
    const fails = parts(() => {
      throw new Error("boom");
    });
    const alpha = start(one, operator({ name: "alpha", parts: fails, health: false }));
    const beta = start(other, operator({ name: "beta", parts: parts(applyText), health: false }));
    for (const cluster of [one, other]) {
      await cluster.create(Note, "a", { spec: { text: "one" } });
      await cluster.advance("10s");
    }

    const recordsOf = (name: string) => records.filter(({ category }) => category[1] === name);
    const failures = (name: string) =>
      recordsOf(name).filter(({ rawMessage }) => rawMessage === "Reconcile failed").length;
    assert(failures("alpha") > 5);
    assert.equal(failures("beta"), 0);
    assert(
      recordsOf("beta").some(({ rawMessage, properties }) =>
        rawMessage === "Reconcile started" && properties.name === "a" && properties.controller === "notes"
      ),
    );
    // Excludes the operators of the memory clusters themselves, which are named "test".
    const ours = records.filter(({ category }) => category[1] !== "test");
    const ids = new Set(ours.map(({ category, properties }) => `${category[1]} ${properties.operatorID}`));
    assert.deepEqual([...ids].map((id) => id.replace(/_[0-9a-f-]{36}$/, "")).sort(), ["alpha alpha", "beta beta"]);
    const counted = async (running: typeof alpha, result: string): Promise<number> => {
      const line = new RegExp(
        `^controller_runtime_reconcile_total\\{controller="notes",result="${result}"\\} (\\d+)$`,
        "m",
      );
      return Number(line.exec(await running.metrics.text())?.[1]);
    };
    assert.deepEqual([await counted(alpha, "success"), await counted(beta, "error")], [0, 0]);
    assert.equal(await counted(alpha, "error"), failures("alpha"));
    assert(await counted(beta, "success") >= 1);

    const stopped = alpha[Symbol.asyncDispose]();
    await one.advance("1m");
    await stopped;
    await other.patch(Note, "a", { spec: { text: "two" } });
    await other.advance("1s");
    assert.equal((await other.get(ConfigMap, "a")).data?.text, "two");
    const ended = beta[Symbol.asyncDispose]();
    await other.advance("1m");
    await ended;
  } finally {
    await reset();
  }
});
