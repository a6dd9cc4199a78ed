import assert from "node:assert/strict";
import { VirtualClock } from "../base/virtual_clock.ts";
import { BURST } from "../queue/loop_limit.ts";
import type { KubeObject } from "../resource/kind.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { HotLoopDetector } from "./hot_loop_detector.ts";
import { HotLoops } from "./hot_loops.ts";
import type { Logger } from "./logger.ts";
import { ReconcileEffects } from "./loop_trace.ts";
import type { LoopScope } from "./scope.ts";

const Note = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({}),
  status: s.object({}),
});

/** Creates a detector, and lists of what it reported. */
function newDetector() {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const events: string[] = [];
  const ended: string[] = [];
  const write = (message: string) => void lines.push(message);
  const log: Logger = { debug: write, info: write, warn: write, error: write, with: () => log, isDebug: true };
  const object = { apiVersion: "demo.example.com/v1", kind: "Note", metadata: { name: "a", uid: "u" } };
  const hotLoops = new HotLoops();
  const scope = {
    loop: "notes",
    manager: "test.notes",
    clock,
    log,
    hotLoops,
    unit: { kind: Note, writesStatus: true },
    caches: [{ get: () => object as KubeObject }],
    counts: { delayedReconciles: 0 },
    events: { record: (_manager: string, _object: KubeObject, { reason }: { reason: string }) => events.push(reason) },
  } as unknown as LoopScope;
  const detector = new HotLoopDetector(scope, (key) => ended.push(key));
  const requeueAtOnce = (times: number) => {
    for (let i = 0; i < times; i++) {
      detector.reconciled("a", new ReconcileEffects(detector.traceOf("a")), {
        after: 0,
        reason: "requeued",
        isBackoff: false,
      });
    }
  };
  return { clock, lines, events, ended, hotLoops, scope, detector, requeueAtOnce };
}

Deno.test("HotLoopDetector delays and reports an object after a burst of reconciles, once", () => {
  const { detector, requeueAtOnce, lines, events, hotLoops, scope } = newDetector();
  requeueAtOnce(BURST - 1);
  assert.equal(detector.pauseFor("a"), 0);
  requeueAtOnce(1);
  for (let i = 0; i < 2; i++) assert(detector.pauseFor("a") > 0);
  assert.deepEqual([lines, events], [["Hot loop detected"], ["HotLoop"]]);
  assert.equal(hotLoops.of("notes").length, 1);
  assert.equal(scope.counts.delayedReconciles, 2);
  assert.match(detector.describe("a"), /^controller "notes" does not converge on Note "a"\. .*requeue\("0s"\)/);
  detector.close();
});

Deno.test("HotLoopDetector reports the end of a loop, and requests a reconcile that removes the condition", () => {
  const { clock, detector, requeueAtOnce, lines, ended, hotLoops } = newDetector();
  requeueAtOnce(BURST);
  detector.pauseFor("a");
  clock.step(clock.now() + 59_000);
  assert.deepEqual(ended, []);
  clock.step(clock.now() + 1000);
  assert.deepEqual([lines.at(-1), ended, hotLoops.of("notes")], ["Hot loop ended", ["a"], []]);
});

Deno.test("HotLoopDetector records what enqueues an object in a loop", () => {
  const { detector, requeueAtOnce } = newDetector();
  detector.triggered("a", "changed", undefined);
  assert.equal(detector.traceOf("a"), undefined);
  requeueAtOnce(BURST);
  detector.triggered("a", "owned changed", undefined);
  assert.match(detector.describe("a"), /Last trigger: owned changed\.$/);
});

Deno.test("HotLoopDetector forgets deleted objects, and delays that a change of the spec ends", () => {
  const { clock, detector, requeueAtOnce, lines, ended } = newDetector();
  requeueAtOnce(BURST);
  assert.equal(detector.reset("a"), true);
  assert.equal(detector.pauseFor("a"), 0);
  requeueAtOnce(BURST);
  assert(detector.pauseFor("a") > 0);
  detector.forget("a");
  assert.equal(detector.pauseFor("a"), 0);
  clock.step(clock.now() + 60_000);
  assert.deepEqual([lines, ended], [["Hot loop detected"], []]);
});
