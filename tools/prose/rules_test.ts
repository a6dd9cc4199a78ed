import assert from "node:assert/strict";
import { subjectViolations, violations } from "./rules.ts";

for (
  const text of [
    "Told when the watch cannot go on.",
    "Who holds the Lease makes the certificates.",
    "The object goes on.",
    "What a run writes is not a trigger.",
    "Nobody reads it.",
    "Made anew beside the old one.",
  ]
) {
  Deno.test(`violations rejects: ${text}`, () => assert.notDeepEqual(violations(text), []));
}

for (
  const text of [
    "Returns what the check returns.",
    "What is a kind?",
    "Watches are long-lived, so they may use at most 60 % of the streams.",
    "Decides which fields to write.",
  ]
) {
  Deno.test(`violations accepts: ${text}`, () => assert.deepEqual(violations(text), []));
}

for (
  const [subject, isRight] of [
    ["Fix port merge in kustomize overlays", true],
    ["Wait for conditions in tests with one helper", true],
    ["Process lists page by page", true],
    ["Bring the changelog up to date", true],
    ["The changelog says what was measured", false],
    ["Fixes a bug", false],
    ["fix a bug", false],
    [`Add ${"x".repeat(80)}`, false],
    ["Say who is told", false],
  ] as const
) {
  Deno.test(`subjectViolations ${isRight ? "accepts" : "rejects"}: ${subject.slice(0, 50)}`, () => {
    assert.equal(subjectViolations(subject).length === 0, isRight, subjectViolations(subject).join("\n"));
  });
}
