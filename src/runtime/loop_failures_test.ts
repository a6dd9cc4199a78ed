import assert from "node:assert/strict";
import { VirtualClock } from "../base/virtual_clock.ts";
import { ConfigMap } from "../kinds/mod.ts";
import { PermanentError, TemporaryError } from "../parts/outcome.ts";
import type { KubeObject } from "../resource/kind.ts";
import type { CurrentReconcile } from "./current_reconcile.ts";
import { StaleObjectError } from "./failure.ts";
import type { Logger } from "./logger.ts";
import { LoopFailures } from "./loop_failures.ts";
import { ReconcileEffects } from "./loop_trace.ts";
import { ObjectDraft } from "./object_draft.ts";
import { ReportedFailures } from "./reported_failures.ts";
import type { LoopScope } from "./scope.ts";

const KEY = "default/a";

/** Creates the failures of a loop, and lists of what they reported. */
function newFailures() {
  const lines: string[] = [];
  const events: string[] = [];
  const observed: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const log: Logger = {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: () => log,
    isDebug: true,
  };
  const object: KubeObject = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "default", uid: "u", resourceVersion: "1", creationTimestamp: "" },
  };
  const cached: { object: KubeObject | undefined } = { object };
  const reported = new ReportedFailures();
  const clock = new VirtualClock();
  const scope = {
    loop: "maps",
    clock,
    manager: "test.maps",
    unit: { kind: ConfigMap, writesStatus: false },
    caches: [{ get: () => cached.object }],
    failures: reported,
    random: () => 0,
    events: {
      record: (_manager: string, _object: KubeObject, { reason, note }: { reason: string; note: string }) =>
        events.push(`${reason}: ${note}`),
    },
  } as unknown as LoopScope;
  const failures = new LoopFailures(scope);
  const fail = (error: unknown) => {
    const run = {
      object,
      ...failures.nextAttempt(KEY),
      log,
      draft: new ObjectDraft(),
      effects: new ReconcileEffects(),
    } as unknown as CurrentReconcile;
    return failures.failed(KEY, run, error, ({ operation, attempt }) => observed.push(`${operation} ${attempt}`));
  };
  return { clock, failures, fail, lines, events, observed, cached, reported };
}

Deno.test("LoopFailures counts attempts until a reconcile succeeds", async () => {
  const { clock, failures, fail, observed } = newFailures();
  const { attempt, firstAttempt } = failures.nextAttempt(KEY);
  assert.equal(attempt, 1);
  const { after = 0 } = await fail(new Error("boom"));
  clock.step(clock.now() + 1000);
  assert.deepEqual(failures.nextAttempt(KEY).firstAttempt, firstAttempt);
  assert.equal(failures.nextAttempt(KEY).attempt, 2);
  assert((await fail(new Error("boom"))).after! > after);
  assert.deepEqual([failures.retried, observed], [[KEY], ["reconcile 1", "reconcile 2"]]);

  failures.ended(KEY, undefined);
  assert.deepEqual([failures.nextAttempt(KEY).attempt, failures.retried], [1, []]);
  assert.equal(failures.nextAttempt(KEY).firstAttempt.elapsed, firstAttempt.elapsed + 1000);
});

Deno.test("LoopFailures reports a failure in the log, as an Event and to other controllers of the object", async () => {
  const { fail, lines, events, reported } = newFailures();
  await fail(new TemporaryError("not yet"));
  assert.deepEqual([lines, events], [["error: Reconcile failed"], ["TemporaryError: not yet"]]);
  assert.equal(reported.ofOthers(ConfigMap, KEY, "other")?.reason, "TemporaryError");
});

Deno.test("LoopFailures does not report a write conflict", async () => {
  const { failures, fail, lines, events, observed, reported } = newFailures();
  await fail(new StaleObjectError("changed"));
  assert.deepEqual([lines, events, observed], [["debug: Reconcile met a write conflict"], [], []]);
  assert.equal(reported.ofOthers(ConfigMap, KEY, "other"), undefined);
  assert.equal(failures.nextAttempt(KEY).attempt, 2);
});

Deno.test("LoopFailures does not retry an object that only a change can help, until its next reconcile", async () => {
  const { failures, fail } = newFailures();
  assert.equal((await fail(new PermanentError("never"))).after, undefined);
  assert.deepEqual([failures.isStalled(KEY), failures.retried], [true, []]);
  failures.started(KEY);
  assert.deepEqual([failures.isStalled(KEY), failures.retried], [false, [KEY]]);
});

Deno.test("LoopFailures forgets deleted objects, and does not count a failure that ends after the deletion", async () => {
  const { failures, fail, cached, reported } = newFailures();
  await fail(new PermanentError("never"));
  failures.forget(KEY);
  cached.object = undefined;
  await fail(new Error("boom"));
  assert.deepEqual([failures.nextAttempt(KEY).attempt, failures.isStalled(KEY)], [1, false]);
  assert.equal(reported.ofOthers(ConfigMap, KEY, "other"), undefined);
});
