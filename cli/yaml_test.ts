import assert from "node:assert/strict";
import { yamlDocuments } from "./yaml.ts";

Deno.test("yamlDocuments rejects an alias inside the value that it refers to", () => {
  for (
    const [text, path] of [
      ["a: &a [*a]", "a.0"],
      ["metadata: &m\n  annotations: *m", "metadata.annotations"],
      ["items: &i\n- items: *i", "items.0.items"],
    ] as const
  ) {
    assert.throws(() => yamlDocuments(text, '"a.yaml"'), {
      name: "Failure",
      message: `Cannot read "a.yaml": "${path}" must not contain itself. Remove the alias.`,
    });
  }
});

Deno.test("yamlDocuments resolves several aliases of one value", () => {
  const [value] = yamlDocuments("a: &a {x: [1]}\nb: *a\nc: [*a, *a]", '"a.yaml"');
  assert.deepEqual(value, { a: { x: [1] }, b: { x: [1] }, c: [{ x: [1] }, { x: [1] }] });
});
