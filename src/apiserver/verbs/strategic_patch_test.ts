import assert from "node:assert/strict";
import { builtinSchema } from "../objects/server_schema.ts";
import { applyStrategicPatch } from "./strategic_patch.ts";

const schema = builtinSchema("io.k8s.api.core.v1.PodSpec");
const given = {
  containers: [{ name: "a", image: "1", env: [{ name: "X", value: "1" }] }, { name: "b", image: "2" }],
  nodeSelector: { x: "1" },
  volumes: [{ name: "v", emptyDir: {} }],
};

const cases: readonly { name: string; patch: unknown; expected: object }[] = [
  {
    name: "merges items by their key, recursively",
    patch: { containers: [{ name: "a", env: [{ name: "Y", value: "2" }] }] },
    expected: {
      containers: [{ name: "a", image: "1", env: [{ name: "Y", value: "2" }, { name: "X", value: "1" }] }, {
        name: "b",
        image: "2",
      }],
    },
  },
  {
    name: "deletes an item",
    patch: { containers: [{ name: "a", $patch: "delete" }] },
    expected: { containers: [{ name: "b", image: "2" }] },
  },
  {
    name: "replaces a list",
    patch: { containers: [{ $patch: "replace" }, { name: "c" }] },
    expected: { containers: [{ name: "c" }] },
  },
  {
    name: "merges a map, and removes keys that are null",
    patch: { nodeSelector: { x: null, y: "2" } },
    expected: { nodeSelector: { y: "2" } },
  },
  {
    name: "keeps only the retained keys of a union",
    patch: { volumes: [{ name: "v", hostPath: { path: "/" }, $retainKeys: ["name", "hostPath"] }] },
    expected: { volumes: [{ name: "v", hostPath: { path: "/" } }] },
  },
  {
    name: "sorts items in the requested order",
    patch: { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] },
    expected: { containers: [{ name: "b", image: "2" }, given.containers[0]] },
  },
];

for (const { name, patch, expected } of cases) {
  Deno.test(`applyStrategicPatch ${name}`, () => {
    const before = structuredClone(given);

    assert.deepEqual(applyStrategicPatch(schema, given, patch), { ...given, ...expected });
    assert.deepEqual(given, before);
  });
}

Deno.test("applyStrategicPatch rejects an item without its key", () => {
  assert.throws(
    () => applyStrategicPatch(schema, given, { containers: [{ image: "x" }] }),
    /does not contain declared merge key: name/,
  );
});
