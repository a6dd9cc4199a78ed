import assert from "node:assert/strict";
import { byNearness, nearest } from "./nearest.ts";

Deno.test("nearest returns the most similar word, or undefined if none is similar", () => {
  const known = ["replicas", "host", "ports", "log_level"];
  const cases: readonly [word: string, expected: string | undefined][] = [
    ["replica", "replicas"],
    ["hots", "host"],
    ["Host", "host"],
    ["prots", "ports"],
    ["log_levle", "log_level"],
    ["volume", undefined],
    ["", undefined],
  ];
  for (const [word, expected] of cases) assert.equal(nearest(word, known), expected, word);
  assert.equal(nearest("host", []), undefined);
});

Deno.test("byNearness sorts by similarity, and keeps the order of equally similar words", () => {
  assert.deepEqual(byNearness("isuer", ["Certificate", "Issuer", "ClusterIssuer"]), [
    "Issuer",
    "ClusterIssuer",
    "Certificate",
  ]);
  assert.deepEqual(byNearness("x", ["a", "b", "c"]), ["a", "b", "c"]);
});
