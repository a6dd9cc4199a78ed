import assert from "node:assert/strict";
import { shortName } from "./short_name.ts";

Deno.test("shortName returns a short name unchanged", () => {
  assert.equal(shortName("a".repeat(63), 63), "a".repeat(63));
});

// Clusters store these names: a failure means that operators would lose their finalizers and field
// managers.
const STORED: readonly { name: string; given: string; expected: string }[] = [
  {
    name: "words",
    given: "the-operator-of-all-websites.the-controller-of-them-that-has-a-long-name",
    expected: "the-operator-of-all-websites.the-controller-of-them-th-cd15bcad",
  },
  {
    name: "dashes at the cut",
    given: `website-operator.${"a".repeat(36)}--${"b".repeat(20)}`,
    expected: `website-operator.${"a".repeat(36)}-32a377c7`,
  },
  { name: "one letter", given: "x".repeat(70), expected: `${"x".repeat(54)}-77f3c97d` },
];

for (const { name, given, expected } of STORED) {
  Deno.test(`shortName has stable results: ${name}`, () => {
    assert.equal(shortName(given, 63), expected);
    assert(expected.length <= 63);
  });
}

Deno.test("shortName keeps long names with a common prefix distinct", () => {
  const names = Array.from({ length: 500 }, (_, i) => shortName(`${"a".repeat(80)}${i}`, 63));
  assert.equal(new Set(names).size, names.length);
});
