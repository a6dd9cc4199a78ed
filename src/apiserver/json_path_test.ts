import assert from "node:assert/strict";
import { jsonPath } from "./json_path.ts";

const object = {
  spec: { "a.b": 1, ports: [{ name: "x", port: 1 }, { name: "y", port: 2 }] },
  status: { conditions: [{ type: "Ready", status: "True" }, { type: "Old", status: "False" }] },
};
const cases: readonly { path: string; expected: unknown[] }[] = [
  { path: ".spec.ports[0].name", expected: ["x"] },
  { path: ".spec.ports[-1].name", expected: ["y"] },
  { path: ".spec.ports[*].port", expected: [1, 2] },
  { path: ".spec.a\\.b", expected: [1] },
  { path: ".spec['a.b']", expected: [1] },
  { path: '.status.conditions[?(@.type=="Ready")].status', expected: ["True"] },
  { path: ".spec.ports[?(@.port > 1)].name", expected: ["y"] },
  { path: ".spec.none.deep", expected: [] },
  { path: ".constructor", expected: [] },
];
for (const { path, expected } of cases) {
  Deno.test(`jsonPath reads ${path}`, () => {
    assert.deepEqual(jsonPath(path)(object), expected);
  });
}

Deno.test("jsonPath refuses what it cannot read", () => {
  assert.throws(() => jsonPath(".spec["), SyntaxError);
});
