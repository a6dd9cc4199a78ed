import assert from "node:assert/strict";
import { Secret } from "../kinds/mod.ts";
import type { AccessCheck } from "../runtime/access_check.ts";
import type { Informer } from "../watch/informer.ts";
import { rbacLines, watchLine } from "./readiness.ts";

const LINES: readonly { name: string; given: Partial<Informer>; told: string; isReady: boolean }[] = [
  { name: "that lists", given: { isSynced: false }, told: "listing", isReady: false },
  { name: "that was just heard of", given: { staleness: 12_400 }, told: "up to date, heard 12 s ago", isReady: true },
  {
    name: "of which nothing was heard for three minutes",
    given: { staleness: 180_000 },
    told: "up to date, heard 180 s ago",
    isReady: true,
  },
  {
    name: "of which nothing was heard for longer",
    given: { staleness: 200_400 },
    told: "nothing heard for 200 s",
    isReady: true,
  },
  { name: "that is refused", given: { problem: new Error("403") }, told: "403", isReady: false },
];

for (const { name, given, told, isReady } of LINES) {
  Deno.test(`watchLine of a watch ${name} says "${told}"`, () => {
    const informer = { kind: Secret, isSynced: true, problem: undefined, staleness: 0, selected: " in shop", ...given };
    assert.deepEqual(watchLine(informer as Informer), { name: "watch Secret in shop", isReady, told });
  });
}

Deno.test("rbacLines reports each permission once, as missing if any part lacks it", () => {
  const check = (...answers: readonly [text: string, isGranted: boolean][]) =>
    ({
      answers: answers.map(([text, isGranted]) => ({ text, isGranted, isRequired: true })),
    }) as unknown as AccessCheck;
  const lines = rbacLines([
    check(["list pods", true], ["get secrets", true]),
    check(["get secrets", false], ["list pods", true]),
    check(),
  ]);
  assert.deepEqual(lines, [
    { name: "RBAC permission to list pods", isReady: true, told: "granted" },
    { name: "RBAC permission to get secrets", isReady: false, told: "missing" },
  ]);
});
