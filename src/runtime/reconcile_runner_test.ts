import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { VirtualClock } from "../base/virtual_clock.ts";
import { ReconcileEffects } from "./loop_trace.ts";
import { ReconcileRunner } from "./reconcile_runner.ts";

/** Creates a runner that records which reconciles have ended, with their results. */
function newRunner(concurrency = 2) {
  const clock = new VirtualClock();
  const ended: string[] = [];
  const runner = new ReconcileRunner<string>(clock, concurrency, (key, result) => ended.push(`${key} ${result}`));
  return { clock, ended, runner };
}

/** Returns a reconcile without effects. */
function reconcile(call: (signal: AbortSignal) => Promise<string>, isDeleting = false) {
  return { isDeleting, effects: new ReconcileEffects(), call };
}

/** Resolves with `aborted: <reason>` when the signal is aborted. */
function untilAborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(`aborted: ${signal.reason?.message ?? signal.reason}`));
  });
}

const never = (): Promise<never> => new Promise(() => {});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

Deno.test("ReconcileRunner has capacity for as many reconciles as may run at once", async () => {
  const { runner, ended, clock } = newRunner(2);
  const gate = Promise.withResolvers<string>();
  runner.start("a", reconcile(() => gate.promise));
  assert.equal(runner.hasCapacity, true);
  runner.start("b", reconcile(never));
  assert.equal(runner.hasCapacity, false);
  clock.step(clock.now() + 3000);
  assert.deepEqual([runner.keys, runner.seconds], [["a", "b"], [3, 3]]);

  gate.resolve("done");
  await turn();
  assert.deepEqual([runner.keys, ended, runner.hasCapacity], [["b"], ["a done"], true]);
  assert.equal(runner.activity, 3);
});

Deno.test("ReconcileRunner starts the user's code after the reconcile is registered", async () => {
  const { runner } = newRunner();
  let running: readonly string[] = [];
  runner.start(
    "a",
    reconcile(() => {
      running = runner.keys;
      return Promise.resolve("done");
    }),
  );
  assert.deepEqual(running, [], "not synchronously");
  await turn();
  assert.deepEqual(running, ["a"]);
});

Deno.test("ReconcileRunner aborts the reconcile of an object whose deletion begins, but not its cleanup", async () => {
  const { runner, ended } = newRunner();
  runner.start("reconciled", reconcile(untilAborted));
  runner.start("cleaned", reconcile(untilAborted, true));
  await turn();
  for (const key of ["reconciled", "cleaned", "other"]) runner.abortBeforeDeletion(key);
  await turn();
  assert.deepEqual(ended, ["reconciled aborted: The object is being deleted"]);

  runner.abort("cleaned", "deleted");
  await turn();
  assert.deepEqual(ended.slice(1), ["cleaned aborted: deleted"]);
});

Deno.test("ReconcileRunner waits for running reconciles until the deadline, and then aborts them", async () => {
  const { runner, ended } = newRunner();
  const deadline = new AbortController();
  const gate = Promise.withResolvers<string>();
  runner.start("a", reconcile(() => gate.promise));
  runner.start("b", reconcile(untilAborted));
  await turn();
  let hasEnded = false;
  const ending = runner.end(deadline.signal).then(() => hasEnded = true);
  gate.resolve("done");
  await turn();
  assert.deepEqual([ended, hasEnded], [["a done"], false]);

  deadline.abort("deadline");
  await ending;
  assert.deepEqual(ended, ["a done", "b aborted: deadline"]);
});

Deno.test("ReconcileRunner abandons reconciles that ignore their signal", async () => {
  const { runner, clock } = newRunner();
  runner.start("a", reconcile(never));
  await turn();
  let hasEnded = false;
  const ending = runner.end(AbortSignal.abort()).then(() => hasEnded = true);
  await turn();
  assert.equal(hasEnded, false, "they have a moment to respond");
  clock.step(clock.now() + 100);
  await ending;
});

Deno.test("ReconcileRunner counts reconciles that sleep", () => {
  const { runner } = newRunner();
  const [waiting, working] = [reconcile(never), reconcile(never)];
  runner.start("a", waiting);
  runner.start("b", working);
  waiting.effects.sleeps.add({ [Symbol.dispose]() {} });
  assert.equal(runner.sleeping, 1);
});
