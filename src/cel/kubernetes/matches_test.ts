import assert from "node:assert/strict";
import fc from "fast-check";
import { regularExpression } from "../regular_expression.ts";
import { matchesOf } from "./_matches.ts";

Deno.test("matchesOf agrees with RegExp on patterns that mean the same in both", () => {
  // Without lookaround, both engines prefer the leftmost match and then the first alternative. None
  // of these patterns matches the empty string.
  const atom = fc.constantFrom("a", "b", "[ab]", "[^a]", ".", "\\b.", "(?:a|ab)", "(?:b+|a)", "(a)");
  const piece = fc.tuple(atom, fc.constantFrom("", "", "+", "+?", "{2}", "{1,2}", "{1,2}?")).map((parts) =>
    parts.join("")
  );
  const optional = fc.tuple(piece, fc.constantFrom("", "?", "*", "*?")).map(([text, sign]) => `(?:${text})${sign}`);
  const branch = fc.tuple(fc.array(optional, { maxLength: 2 }), piece, fc.array(optional, { maxLength: 2 }))
    .map((parts) => parts.flat().join(""));
  const pattern = fc.array(branch, { minLength: 1, maxLength: 3 }).map((branches) => branches.join("|"));
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c", " ", "\n"), maxLength: 12 });
  fc.assert(fc.property(pattern, text, (source, given) => {
    const expected = given.match(new RegExp(source, "g")) ?? [];
    assert.deepEqual(
      matchesOf(regularExpression(source), given, Infinity),
      [...expected],
      `${source} in ${JSON.stringify(given)}`,
    );
  }));
});

Deno.test("matchesOf takes linear time on long strings", () => {
  const text = "a".repeat(20_000);
  assert.deepEqual(matchesOf(regularExpression("(a+)+b"), text, Infinity), []);
  assert.equal(matchesOf(regularExpression("(?:a*)*$"), text, 1)[0]?.length, 20_000);
});

Deno.test("matchesOf stops at the requested number of matches", () => {
  const expression = regularExpression("[0-9]+");
  assert.deepEqual(matchesOf(expression, "1 2 3", 2), ["1", "2"]);
  assert.deepEqual(matchesOf(expression, "1 2 3", 0), []);
});
