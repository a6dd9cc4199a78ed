/**
 * Errors of the compiler for mistakes in users' programs, compared with the documents in
 * tests/types/wrong.
 */
import assert from "node:assert/strict";
import { errorsOf } from "./_compiler.ts";
import { compilers, documents } from "./_snapshots.ts";

// The compiler truncates types at about 330 characters, and shows at most two of them in a line.
const LONGEST_LINE = 700;
const MOST_LINES = 3;
/** The most frequent mistakes: their errors have one line with one type. */
const COMMON = /column|default|field|property|path|option|enum/i;
const LONGEST_COMMON_LINE = 460;

for (const { version, deno } of await compilers()) {
  Deno.test(`Deno ${version} reports each mistake with the errors in tests/types/wrong`, async () => {
    const errors = await errorsOf(deno, documents());
    for (const [name, { mistakes }] of documents()) {
      const actual = mistakes.map(({ title }, i) => ({ title, errors: errors.get(name)![i]!.join("\n") }));
      const expected = mistakes.map(({ title, errors }) => ({ title, errors: errors.get(version) ?? errors.get("") }));
      assert.deepEqual(actual, expected, `${name}: to accept these errors, run tests/types/_snapshots.ts`);
    }
  });
}

Deno.test("each mistake in tests/types/wrong has one short error", () => {
  for (const [name, { mistakes }] of documents()) {
    for (const { title, errors } of mistakes) {
      const [most, longest] = COMMON.test(title) ? [1, LONGEST_COMMON_LINE] : [MOST_LINES, LONGEST_LINE];
      for (const text of errors.values()) {
        const lines = text.split("\n");
        assert(text !== "", `${name}: "${title}" compiles`);
        assert.equal(lines.filter((line) => !line.startsWith(" ")).length, 1, `${name}: "${title}" has several errors`);
        assert(lines.length <= most, `${name}: "${title}" has ${lines.length} lines`);
        assert(
          lines.every(({ length }) => length <= longest),
          `${name}: "${title}" has a line of more than ${longest} characters`,
        );
      }
    }
  }
});
