/** offload(): functions that run in threads. */
import assert from "node:assert/strict";
import { PermanentError, TemporaryError } from "../../src/parts/outcome.ts";
import { offload } from "../../src/runtime/offload.ts";
import { eventually } from "../eventually.ts";
import { gate, pair, release, started, work } from "./_offloaded.ts";

Deno.test("offload runs a function in a thread while the event loop continues", async () => {
  using _work = work;
  assert.equal(await work.double(21), 42);
  const open = gate();
  const computing = work.compute(open);
  await eventually(() => assert.equal(started(open), 1));
  // The task ends only if the event loop of this thread continues.
  setTimeout(() => release(open));
  await computing;
});

Deno.test("offload rejects with the task's error, which keeps its name and code, or its class if it is one of the SDK", async () => {
  using _work = work;
  await assert.rejects(work.fail("permanent"), (error) => error instanceof PermanentError && error.message === "never");
  await assert.rejects(work.fail("temporary"), (error) => error instanceof TemporaryError && error.after === 30_000);
  await assert.rejects(work.fail("quota"), (error) => {
    assert(error instanceof PermanentError);
    assert.deepEqual([error.name, error.code], ["QuotaError", "QuotaExceeded"]);
    return true;
  });
  await assert.rejects(work.fail("type"), { name: "TypeError", message: "wrong type" });
  await assert.rejects(work.fail("a string"), { name: "Error", message: "a string" });
  await assert.rejects(work.double((() => 1) as never), { name: "DataCloneError" });
  assert.equal(await work.double(1), 2, "the thread continues");
});

Deno.test("disposing of offload rejects all running and waiting calls", async () => {
  const all = [work.compute(gate()), work.compute(gate()), work.double(2)];
  work[Symbol.dispose]();
  for (const one of all) await assert.rejects(one, /its threads were disposed of$/);
});

Deno.test("aborting the signal of an offload call ends its task", async () => {
  using _work = work;
  const stop = new AbortController();
  await work.double(1);
  const computing = work.compute(gate(), { signal: stop.signal });
  const next = work.double(4);
  stop.abort(new Error("stopped"));
  await assert.rejects(computing, { message: "stopped" });
  assert.equal(await next, 8);
  await assert.rejects(work.double(1, { signal: AbortSignal.abort(new Error("never")) }), { message: "never" });
});

Deno.test("offload rejects the call whose thread crashes, and starts another thread for the next", async () => {
  using _work = work;
  await assert.rejects(work.crash(undefined), /^Error: The thread of the task ended: .*crashed/);
  assert.equal(await work.double(5), 10);
});

Deno.test("offload runs as many tasks at once as there are threads", async () => {
  using _pair = pair;
  const open = gate();
  const all = Promise.all([pair.compute(open), pair.compute(open), pair.compute(open)]);
  await eventually(() => assert.equal(started(open), 2, "two tasks run at once"));
  release(open);
  assert.equal(new Set(await all).size, 2, "three tasks ran in two threads");
});

Deno.test("offload rejects an invalid number of threads", () => {
  assert.throws(() => offload(import.meta.url, {}, { threads: 0 }), { name: "RangeError" });
});
