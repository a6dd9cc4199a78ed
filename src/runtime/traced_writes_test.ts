import assert from "node:assert/strict";
import { Pod } from "../kinds/mod.ts";
import { LoopTrace, ReconcileEffects } from "./loop_trace.ts";
import type { LoopScope } from "./scope.ts";
import { traceWrite, type Write } from "./traced_writes.ts";

const time = (seconds: number) => `2030-01-01T00:00:0${seconds}Z`;
const ready = (seconds: number) => ({ type: "Ready", status: "True", reason: "Up", lastTransitionTime: time(seconds) });

const STATUS_WRITES: readonly { name: string; write: (seconds: number) => Write }[] = [
  {
    name: "a merge patch",
    write: (seconds) => ({
      verb: "patch",
      patch: { status: { observedGeneration: seconds, conditions: [ready(seconds)] } },
      options: { subresource: "status" },
    }),
  },
  {
    name: "a JSON patch",
    write: (seconds) => ({
      verb: "patch",
      patch: [
        { op: "test", path: "/metadata/uid", value: "u" },
        { op: "add", path: "/status/observedGeneration", value: seconds },
        { op: "add", path: "/status/conditions", value: [ready(seconds)] },
      ],
      options: { type: "json", subresource: "status" },
    }),
  },
  {
    name: "a JSON patch that creates the status",
    write: (seconds) => ({
      verb: "patch",
      patch: [{ op: "add", path: "/status", value: { observedGeneration: seconds, conditions: [ready(seconds)] } }],
      options: { type: "json", subresource: "status" },
    }),
  },
];

for (const { name, write } of STATUS_WRITES) {
  Deno.test(`traceWrite finds the condition that ${name} sets to the same value again`, async () => {
    const trace = new LoopTrace();
    const run = { effects: new ReconcileEffects(trace), signal: new AbortController().signal };
    const scope = { caches: [], named: [] } as unknown as LoopScope;
    for (let i = 0; i < 7; i++) await traceWrite(scope, run, { kind: Pod, name: "a", namespace: "b" }, write(i));
    assert.equal(run.effects.repeated, true);
    assert.deepEqual(trace.busiest?.path, ["f:status", "f:conditions", 'k:{"type":"Ready"}']);
  });
}
