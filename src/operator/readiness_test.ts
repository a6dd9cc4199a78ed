import assert from "node:assert/strict";
import { Secret } from "../kinds/mod.ts";
import type { AccessCheck } from "../runtime/access_check.ts";
import type { Informer } from "../watch/informer.ts";
import { rbacLines, watchLine } from "./readiness.ts";

const LINES: readonly { name: string; given: Partial<Informer>; message: string; isReady: boolean }[] = [
  { name: "that is listing", given: { isSynced: false }, message: "listing", isReady: false },
  {
    name: "with a recent event",
    given: { staleness: 12_400 },
    message: "up to date, last event 12 s ago",
    isReady: true,
  },
  {
    name: "without an event for three minutes",
    given: { staleness: 180_000 },
    message: "up to date, last event 180 s ago",
    isReady: true,
  },
  {
    name: "without an event for longer",
    given: { staleness: 200_400 },
    message: "no events for 200 s",
    isReady: true,
  },
  { name: "that the API server rejects", given: { problem: new Error("403") }, message: "403", isReady: false },
];

for (const { name, given, message, isReady } of LINES) {
  Deno.test(`watchLine of a watch ${name} is "${message}"`, () => {
    const informer = {
      kind: Secret,
      isSynced: true,
      problem: undefined,
      staleness: 0,
      selectionText: " in shop",
      ...given,
    };
    assert.deepEqual(watchLine(informer as Informer), { name: "watch Secret in shop", isReady, message });
  });
}

Deno.test("rbacLines reports each permission once, as missing if any part lacks it", () => {
  const check = (...results: readonly [text: string, isGranted: boolean][]) =>
    ({
      results: results.map(([text, isGranted]) => ({ text, isGranted, isRequired: true })),
    }) as unknown as AccessCheck;
  const lines = rbacLines([
    check(["list pods", true], ["get secrets", true]),
    check(["get secrets", false], ["list pods", true]),
    check(),
  ]);
  assert.deepEqual(lines, [
    { name: "RBAC permission to list pods", isReady: true, message: "granted" },
    { name: "RBAC permission to get secrets", isReady: false, message: "missing" },
  ]);
});
