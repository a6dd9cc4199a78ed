import assert from "node:assert/strict";
import { type RunStep, runStep } from "./finalizer.ts";

const STEPS: readonly { cleans: boolean; held: boolean; deleting: boolean; step: RunStep }[] = [
  { cleans: false, held: false, deleting: false, step: "reconcile" },
  { cleans: false, held: false, deleting: true, step: "none" },
  { cleans: false, held: true, deleting: false, step: "remove finalizer, then reconcile" },
  { cleans: false, held: true, deleting: true, step: "remove finalizer" },
  { cleans: true, held: false, deleting: false, step: "add finalizer, then reconcile" },
  { cleans: true, held: false, deleting: true, step: "none" },
  { cleans: true, held: true, deleting: false, step: "reconcile" },
  { cleans: true, held: true, deleting: true, step: "cleanup, then remove finalizer" },
];

Deno.test("runStep returns the action of each of the eight cases", async (t) => {
  for (const { cleans, held, deleting, step } of STEPS) {
    await t.step(`cleans: ${cleans}, held: ${held}, deleting: ${deleting}: ${step}`, () => {
      assert.equal(runStep(cleans, held, deleting), step);
    });
  }
});
