import assert from "node:assert/strict";
import { applyJsonPatch } from "../base/json_patch.ts";
import { Diff, type DiffEntry } from "./diff.ts";

const keysOf = (path: readonly string[]) => path.join(".") === "spec.ports" ? ["name"] : undefined;

const cases: { name: string; old: unknown; current: unknown; expected: DiffEntry[] }[] = [
  { name: "equal values have no changes", old: { a: [1] }, current: { a: [1] }, expected: [] },
  {
    name: "fields are added, changed and removed",
    old: { spec: { a: 1, b: 2 } },
    current: { spec: { b: 3, c: { d: 4 } } },
    expected: [
      { op: "remove", path: ["spec", "a"], old: 1, current: undefined },
      { op: "change", path: ["spec", "b"], old: 2, current: 3 },
      { op: "add", path: ["spec", "c"], old: undefined, current: { d: 4 } },
    ],
  },
  {
    name: "a list without keys changes as a whole",
    old: { spec: { hosts: ["a", "b"] } },
    current: { spec: { hosts: ["b", "a"] } },
    expected: [{ op: "change", path: ["spec", "hosts"], old: ["a", "b"], current: ["b", "a"] }],
  },
  {
    name: "the order of a list with keys does not matter",
    old: { spec: { ports: [{ name: "a", port: 1 }, { name: "b", port: 2 }] } },
    current: { spec: { ports: [{ name: "b", port: 2 }, { name: "a", port: 1 }] } },
    expected: [],
  },
  {
    name: "items of a list with keys are compared by key",
    old: { spec: { ports: [{ name: "a", port: 1 }, { name: "b", port: 2 }] } },
    current: { spec: { ports: [{ name: "c", port: 3 }, { name: "a", port: 4 }] } },
    expected: [
      { op: "change", path: ["spec", "ports", 1, "port"], old: 1, current: 4 },
      { op: "remove", path: ["spec", "ports", 1], old: { name: "b", port: 2 }, current: undefined },
      { op: "add", path: ["spec", "ports", 0], old: undefined, current: { name: "c", port: 3 } },
    ],
  },
  {
    name: "a value of another type changes as a whole",
    old: { a: { b: 1 } },
    current: { a: [1] },
    expected: [{ op: "change", path: ["a"], old: { b: 1 }, current: [1] }],
  },
  {
    name: "a value that did not exist is added",
    old: undefined,
    current: 3,
    expected: [{ op: "add", path: [], old: undefined, current: 3 }],
  },
];

for (const { name, old, current, expected } of cases) {
  Deno.test(`Diff: ${name}`, () => {
    const diff = new Diff(old, current, keysOf);

    assert.deepEqual([...diff], expected);
    assert.equal(diff.size, expected.length);
    if (old !== undefined) assert.deepEqual(applyJsonPatch(old, diff.toPatch()), current);
  });
}

Deno.test("Diff returns the old and the current value of a changed field only", () => {
  const diff = new Diff({ spec: { size: 1, host: "a" } }, { spec: { size: 2, host: "a" } });

  assert.deepEqual(diff.at(".spec.size"), { old: 1, current: 2 });
  assert.equal(diff.at(".spec.host"), undefined);
  assert.deepEqual([diff.has(".spec"), diff.has(".spec.host"), diff.has(".metadata")], [true, false, false]);
});

Deno.test("changes under a field have paths relative to it, and its lists keep their keys", () => {
  const [one, other] = [{ name: "a", port: 1 }, { name: "b", port: 2 }];
  const diff = new Diff({ spec: { ports: [one, other], size: 1 } }, { spec: { ports: [other, one], size: 2 } }, keysOf);

  assert.deepEqual([...diff.under(".spec")].map(({ path }) => path), [["size"]]);
});
