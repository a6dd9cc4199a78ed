import assert from "node:assert/strict";
import type { Watch } from "../parts/watch.ts";
import { Pod } from "../kinds/mod.ts";
import type { KubeObject } from "../resource/kind.ts";
import type { ChangeListener } from "../watch/informer.ts";
import type { Writer } from "../watch/own_writes.ts";
import { Intake } from "./intake.ts";
import type { LoopScope } from "./scope.ts";

const FINALIZER = "example.com/test.pods";
const PAUSED = "test.op/paused";
const DELETED = { deletionTimestamp: "2030-01-01T00:00:00Z" };
const OWN_WRITE: Writer = { part: "pods", key: "pod" };

/** Creates an intake that records what its target is called with. */
function newIntake(options: Watch["options"] = {}, stalled = false) {
  const calls: string[] = [];
  const objects: KubeObject[] = [];
  let listener!: ChangeListener;
  const cache = {
    kind: Pod,
    listen: (given: ChangeListener) => void (listener = given),
    values: () => objects.values(),
  };
  const scope = {
    loop: "pods",
    caches: [cache],
    named: [],
    counts: { ownEvents: 0 },
    paused: PAUSED,
    unit: {
      kind: Pod,
      owns: [],
      watches: [{ kind: Pod, options }],
      finalizer: FINALIZER,
      orphanedFinalizers: { in: () => [] },
    },
  } as unknown as LoopScope;
  const flags = (options: object = {}) =>
    Object.entries(options).map(([name, value]) =>
      value === true ? ` ${name}` : typeof value === "string" ? ` ${value}` : ""
    )
      .join("");
  const intake = new Intake(scope, {
    add: (key, reason, options) => void calls.push(`add ${key}: ${reason}${flags(options)}`),
    addInitial: (key, options) => void calls.push(`initial ${key}${flags(options)}`),
    forget: (key) => void calls.push(`forget ${key}`),
    deletionBegan: (key) => void calls.push(`deleting ${key}`),
    isStalled: () => stalled,
    resetDelay: () => true,
  });
  return {
    intake,
    calls,
    objects,
    scope,
    change: (before: KubeObject | undefined, after: KubeObject | undefined, by?: Writer, isInitial = false) =>
      listener({ before, after } as Parameters<ChangeListener>[0], by, isInitial),
  };
}

function pod(metadata: Partial<KubeObject["metadata"]> = {}, more: object = {}): KubeObject {
  const required = { name: "pod", uid: "u", resourceVersion: "1", creationTimestamp: "2030-01-01T00:00:00Z" };
  return { apiVersion: "v1", kind: "Pod", metadata: { ...required, generation: 1, ...metadata }, ...more };
}

type Change = readonly [
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  by?: Writer | undefined,
  isInitial?: boolean,
];
const ALL = "endsBackoff endsPause";

const CASES: readonly {
  name: string;
  change: Change;
  options?: Watch["options"];
  isStalled?: true;
  calls: string[];
}[] = [
  { name: "adds a new object", change: [undefined, pod()], calls: [`add pod: changed fresh ${ALL}`] },
  { name: "adds an object found at start", change: [undefined, pod(), undefined, true], calls: [`initial pod ${ALL}`] },
  {
    name: "ends backoff and delay if the spec changes",
    change: [pod(), pod({ generation: 2 })],
    calls: [`add pod: changed fresh ${ALL}`],
  },
  {
    name: "does not end a delay if the controller itself changes the spec",
    change: [pod(), pod({ generation: 2 }), OWN_WRITE],
    calls: ["add pod: changed fresh endsBackoff"],
  },
  {
    name: "adds an object whose labels change",
    change: [pod(), pod({ labels: { a: "b" } })],
    calls: ["add pod: changed fresh"],
  },
  {
    name: "ignores the controller's own status write",
    change: [pod(), pod({}, { status: { phase: "x" } }), OWN_WRITE],
    calls: [],
  },
  {
    name: "adds an object whose status another writer changes",
    change: [pod(), pod({}, { status: { phase: "x" } })],
    calls: ["add pod: changed fresh"],
  },
  {
    name: "ignores status changes of a stalled object",
    change: [pod(), pod({}, { status: { phase: "x" } })],
    isStalled: true,
    calls: [],
  },
  { name: "forgets a deleted object", change: [pod(), undefined], calls: ["forget pod"] },
  {
    name: "forgets an object that another one replaced",
    change: [pod(), pod({ uid: "other" })],
    calls: ["forget pod", `add pod: changed fresh ${ALL}`],
  },
  {
    name: "reports the begin of a deletion",
    change: [pod(), pod(DELETED)],
    calls: ["deleting pod", `add pod: changed fresh ${ALL}`],
  },
  {
    name: "ignores an object that the predicate rejects",
    change: [undefined, pod()],
    options: { predicate: () => false },
    calls: [],
  },
  {
    name: "adds a rejected object that must be cleaned up",
    change: [undefined, pod({ ...DELETED, finalizers: [FINALIZER] })],
    options: { predicate: () => false },
    calls: ["deleting pod", `add pod: changed fresh ${ALL}`],
  },
  {
    name: "adds a rejected object that is paused",
    change: [pod(), pod({ annotations: { [PAUSED]: "true" } })],
    options: { predicate: () => false },
    calls: ["add pod: changed fresh"],
  },
  {
    name: "adds objects with low priority if their watch has it",
    change: [pod(), pod({ labels: { a: "b" } })],
    options: { priority: "low" },
    calls: ["add pod: changed resync"],
  },
];

for (const { name, change, options, isStalled, calls } of CASES) {
  Deno.test(`Intake ${name}`, () => {
    const intake = newIntake(options, isStalled);
    intake.change(...change);
    assert.deepEqual(intake.calls, calls);
  });
}

Deno.test("Intake counts the controller's own status writes", () => {
  const { change, scope } = newIntake();
  change(pod(), pod({}, { status: { phase: "x" } }), OWN_WRITE);
  assert.equal(scope.counts.ownEvents, 1);
});

Deno.test("Intake adds all objects that the predicate accepts", () => {
  const { intake, calls, objects } = newIntake({ predicate: ({ metadata }) => metadata.name !== "b" });
  objects.push(pod({ name: "a" }), pod({ name: "b" }), pod({ name: "c" }));
  intake.addAll();
  assert.deepEqual(calls, ["initial a", "initial c"]);
});
