import assert from "node:assert/strict";
import { applyMergePatch } from "../base/merge_patch.ts";
import type { Condition, KubeObject } from "../resource/kind.ts";
import { StatusDraft } from "./status.ts";

const NOW = Date.UTC(2030, 0, 1, 12, 0, 0, 123);
const BEFORE = "2029-12-31T00:00:00Z";
const READY = { type: "Ready", status: "True", reason: "Reconciled" } as const;

Deno.test("StatusDraft combines properties and a condition in one patch", () => {
  const draft = new StatusDraft();
  draft.add({ url: "https://a", ready: 1 });
  draft.add({ ready: 2 });
  draft.addCondition(READY);
  assert.deepEqual(draft.patch(object({}), 3, [], NOW), {
    url: "https://a",
    ready: 2,
    observedGeneration: 3,
    conditions: [condition({ lastTransitionTime: "2030-01-01T12:00:00Z", observedGeneration: 3 })],
  });
});

Deno.test("StatusDraft returns no patch if the status does not change", () => {
  const draft = new StatusDraft();
  draft.add({ url: "https://a", parts: { b: 1, a: [1, { c: 2 }] } });
  draft.addCondition(READY);
  const stored = {
    parts: { a: [1, { c: 2 }], b: 1 },
    url: "https://a",
    observedGeneration: 3,
    conditions: [condition()],
    other: "of another writer",
  };
  assert.equal(draft.patch(object(stored), 3, ["Reconciling", "Stalled"], NOW), undefined);
});

Deno.test("StatusDraft removes a property that is undefined, and does not change others", () => {
  const draft = new StatusDraft();
  draft.add({ url: undefined });
  const stored = { url: "https://a", ready: 1 };
  const patch = draft.patch(object(stored), undefined, [], NOW);
  assert.deepEqual(patch, { url: null, conditions: [] });
  assert.deepEqual(applyMergePatch(stored, patch), { ready: 1, conditions: [] });
});

Deno.test("StatusDraft compares values as the API server stores them", () => {
  const draft = new StatusDraft();
  draft.add({ at: new Date(NOW), inner: { left: undefined } });
  const stored = { at: "2030-01-01T12:00:00.123Z", inner: {}, conditions: [] };
  assert.equal(draft.patch(object(stored), undefined, [], NOW), undefined);
});

const CONDITIONS: readonly {
  name: string;
  stored: Condition[];
  added: Parameters<StatusDraft["addCondition"]>[0][];
  removed?: string[];
  expected: Condition[];
}[] = [
  {
    name: "keeps the transition time while the status of the condition is the same",
    stored: [condition({ reason: "Old", message: "old", observedGeneration: 2 })],
    added: [{ ...READY, message: "new" }],
    expected: [condition({ message: "new" })],
  },
  {
    name: "sets the transition time when the status of the condition changes",
    stored: [condition({ status: "False", reason: "Failed" })],
    added: [READY],
    expected: [condition({ lastTransitionTime: "2030-01-01T12:00:00Z" })],
  },
  {
    name: "keeps conditions of other writers and their order",
    stored: [condition({ type: "Probed", observedGeneration: 1 }), condition()],
    added: [{ type: "Extra", status: "Unknown", reason: "New" }, READY],
    expected: [
      condition({ type: "Probed", observedGeneration: 1 }),
      condition(),
      condition({ type: "Extra", status: "Unknown", reason: "New", lastTransitionTime: "2030-01-01T12:00:00Z" }),
    ],
  },
  {
    name: "removed conditions that no longer apply",
    stored: [condition({ type: "Stalled" }), condition(), condition({ type: "Reconciling" })],
    added: [READY],
    removed: ["Stalled", "Reconciling"],
    expected: [condition()],
  },
  {
    name: "does not drop conditions that the reconciler reported",
    stored: [condition({ type: "Stalled", reason: "Waiting" })],
    added: [{ type: "Stalled", status: "True", reason: "Waiting" }],
    removed: ["Stalled"],
    expected: [condition({ type: "Stalled", reason: "Waiting" })],
  },
];

for (const { name, stored, added, removed = [], expected } of CONDITIONS) {
  Deno.test(`StatusDraft ${name}`, () => {
    const draft = new StatusDraft();
    for (const condition of added) draft.addCondition(condition);
    const status = { observedGeneration: 3, conditions: stored };
    const patch = draft.patch(object(status), 3, removed, NOW);
    const patched = applyMergePatch(status, patch ?? {}) as { conditions: Condition[] };
    assert.deepEqual(patched.conditions, expected);
  });
}

Deno.test("offerCondition adds a condition only if the reconciler reported none of its type", () => {
  const draft = new StatusDraft();
  draft.addCondition({ type: "Ready", status: "False", reason: "Waiting" });
  draft.offerCondition(READY);
  const patch = draft.patch(object({}), 3, [], NOW) as { conditions: Condition[] };
  assert.deepEqual(patch.conditions.map(({ status, reason }) => [status, reason]), [["False", "Waiting"]]);
});

Deno.test("StatusDraft truncates a long message at a whole character", () => {
  const draft = new StatusDraft();
  draft.addCondition({ ...READY, message: `${"x".repeat(1023)}😀 and more` });
  const { conditions: [written] } = draft.patch(object({}), 3, [], NOW) as { conditions: [Condition] };
  assert(written.message.length <= 1024);
  assert(written.message.startsWith("x".repeat(1023)));
  assert.equal(
    written.message.isWellFormed(),
    true,
    "the message must not end in half a character, which the server would change",
  );
});

Deno.test("StatusDraft reports whether its patch repeats conditions of other writers", () => {
  const draft = new StatusDraft();
  draft.addCondition(READY);
  assert.equal(draft.keepsOthers(object({})), false);
  assert.equal(draft.keepsOthers(object({ conditions: [condition()] })), false);
  assert.equal(draft.keepsOthers(object({ conditions: [condition(), condition({ type: "Probed" })] })), true);
});

Deno.test("StatusDraft accepts a malformed status", () => {
  const draft = new StatusDraft();
  draft.addCondition(READY);
  for (const status of [null, "text", { conditions: "none" }, { conditions: null }]) {
    const patch = draft.patch(object(status), 3, [], NOW) as { conditions: Condition[] };
    assert.equal(patch.conditions.length, 1);
    assert.equal(draft.keepsOthers(object(status)), false);
  }
});

function condition(more: Partial<Condition> = {}): Condition {
  return {
    type: "Ready",
    status: "True",
    reason: "Reconciled",
    message: "",
    lastTransitionTime: BEFORE,
    observedGeneration: 3,
    ...more,
  };
}

function object(status: unknown): KubeObject & { status: unknown } {
  const metadata = { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: BEFORE, generation: 3 };
  return { apiVersion: "demo.example.com/v1", kind: "Website", metadata, status };
}
