import assert from "node:assert/strict";
import { yamlDocuments } from "./yaml.ts";

Deno.test("yamlDocuments rejects an alias inside the value that it refers to", () => {
  for (const text of ["a: &a [*a]", "metadata: &m\n  annotations: *m", "items: &i\n- items: *i"]) {
    assert.throws(() => yamlDocuments(text, '"a.yaml"'), {
      name: "Failure",
      message: 'Cannot read "a.yaml": an alias refers to a value that contains the alias. Remove one of them.',
    });
  }
});

Deno.test("yamlDocuments resolves aliases of one value", () => {
  const [value] = yamlDocuments("a: &a {x: [1]}\nb: *a\nc: [*a, *a]", '"a.yaml"');
  assert.deepEqual(value, { a: { x: [1] }, b: { x: [1] }, c: [{ x: [1] }, { x: [1] }] });
});
