import assert from "node:assert/strict";
import { nextStep, type ReconcileStep } from "./finalizer.ts";

const STEPS: readonly { hasCleanup: boolean; hasFinalizer: boolean; isDeleting: boolean; step: ReconcileStep }[] = [
  { hasCleanup: false, hasFinalizer: false, isDeleting: false, step: "reconcile" },
  { hasCleanup: false, hasFinalizer: false, isDeleting: true, step: "none" },
  { hasCleanup: false, hasFinalizer: true, isDeleting: false, step: "remove finalizer, then reconcile" },
  { hasCleanup: false, hasFinalizer: true, isDeleting: true, step: "remove finalizer" },
  { hasCleanup: true, hasFinalizer: false, isDeleting: false, step: "add finalizer, then reconcile" },
  { hasCleanup: true, hasFinalizer: false, isDeleting: true, step: "none" },
  { hasCleanup: true, hasFinalizer: true, isDeleting: false, step: "reconcile" },
  { hasCleanup: true, hasFinalizer: true, isDeleting: true, step: "cleanup, then remove finalizer" },
];

Deno.test("nextStep returns the action of each of the eight cases", async (t) => {
  for (const { hasCleanup, hasFinalizer, isDeleting, step } of STEPS) {
    await t.step(`hasCleanup: ${hasCleanup}, hasFinalizer: ${hasFinalizer}, isDeleting: ${isDeleting}: ${step}`, () => {
      assert.equal(nextStep(hasCleanup, hasFinalizer, isDeleting), step);
    });
  }
});
