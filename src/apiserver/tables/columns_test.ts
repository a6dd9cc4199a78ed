import assert from "node:assert/strict";
import { customColumns, humanDuration } from "./columns.ts";

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
const cases: readonly (readonly [given: number, expected: string])[] = [
  [-5 * second, "<invalid>"],
  [-1 * second, "0s"],
  [0, "0s"],
  [119 * second, "119s"],
  [2 * minute, "2m"],
  [2 * minute + 5 * second, "2m5s"],
  [10 * minute, "10m"],
  [179 * minute, "179m"],
  [3 * hour, "3h"],
  [3 * hour + 5 * minute, "3h5m"],
  [8 * hour, "8h"],
  [47 * hour, "47h"],
  [2 * day, "2d"],
  [2 * day + 3 * hour, "2d3h"],
  [8 * day, "8d"],
  [729 * day, "729d"],
  [730 * day, "2y"],
  [800 * day, "2y70d"],
  [3000 * day, "8y"],
  [NaN, "<unknown>"],
];

for (const [given, expected] of cases) {
  Deno.test(`humanDuration formats ${given} ms as ${expected}`, () => {
    assert.equal(humanDuration(given), expected);
  });
}

const OBJECT = {
  apiVersion: "v1",
  kind: "A",
  metadata: { name: "a", uid: "1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: {
    text: "x",
    part: 1.75,
    none: null,
    map: { b: "<", a: 1 },
    ports: [{ name: "web", number: 80 }, { name: "b", number: 9000 }],
    at: "2025-12-31T00:00:00Z",
    small: 1e-7,
  },
};

const cells: readonly { name: string; type: string; path: string; expected: unknown }[] = [
  { name: "a string", type: "string", path: ".spec.text", expected: "x" },
  { name: "a map as JSON", type: "string", path: ".spec.map", expected: '{"a":1,"b":"\\u003c"}' },
  { name: "a number as Go formats it", type: "string", path: ".spec.small", expected: "1e-07" },
  { name: "a truncated integer", type: "integer", path: ".spec.part", expected: 1 },
  { name: "null for a value of another type", type: "integer", path: ".spec.text", expected: null },
  { name: "null for a missing field", type: "string", path: ".spec.nowhere.deeper", expected: null },
  { name: "a placeholder for a null value", type: "string", path: ".spec.none", expected: "<no value>" },
  { name: "the first of several values", type: "string", path: ".spec.ports[*].name", expected: "web" },
  { name: "the result of a filter", type: "string", path: ".spec.ports[?(@.number>=1000)].name", expected: "b" },
  {
    name: "null for a filter that compares different types",
    type: "string",
    path: '.spec.ports[?(@.number=="80")].name',
    expected: null,
  },
  { name: "the time since a date", type: "date", path: ".spec.at", expected: "2d" },
  { name: "a placeholder for an invalid date", type: "date", path: ".spec.text", expected: "<invalid>" },
];

for (const { name, type, path, expected } of cells) {
  Deno.test(`customColumns shows ${name}`, () => {
    const [, column] = customColumns([{ name: "A", type, jsonPath: path }]);

    assert.equal(column?.cell(OBJECT, Date.parse("2026-01-02T00:00:00Z")), expected);
  });
}

Deno.test("customColumns omits the first column with an invalid path and all later ones", () => {
  const declared = [".spec.text", ".spec[", ".spec.part"].map((jsonPath) => ({
    name: jsonPath,
    type: "string",
    jsonPath,
  }));

  assert.deepEqual(customColumns(declared).map(({ name }) => name), ["Name", ".spec.text"]);
});
