/**
 * Errors of the compiler for mistakes in users' programs, compared with the documents in
 * tests/types/wrong.
 */
import assert from "node:assert/strict";
import { errorsOf } from "./_compiler.ts";
import { compilers, documents } from "./_snapshots.ts";

/** Limits of the errors of a mistake. */
interface Limits {
  readonly lines: number;
  /** The length of a line. */
  readonly length: number;
}

/**
 * Most errors have one line with one type. The compiler truncates types at about 330 characters.
 */
const SHORT: Limits = { lines: 1, length: 460 };
const LONG: Limits = { lines: 3, length: 700 };

/** The mistakes whose errors may be {@linkcode LONG}, by document. */
const LONG_ERRORS: Readonly<Record<string, readonly string[]>> = {
  "controllers.md": [
    "A condition without a reason",
    "A controller without reconcile",
    "A kind instead of a controller as a part",
    "A list of parts instead of an object",
    "An operator without a name",
    "An operator without the services of its controllers",
  ],
  "handlers.md": ["The result of one of several steps is not JSON", "The selected value is not JSON"],
  "kinds.md": ["Missing headings", "An empty kind", "A version of another kind"],
  "objects.md": ["Reading a part of the status without a check for undefined"],
  "schemas.md": ["Two of the properties of `s.exactlyOneOf`", "None of the properties of `s.exactlyOneOf`"],
  "types.md": ["The read type of `s.exactlyOneOf`", "The written type of `s.exactlyOneOf`"],
};

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
      const limits = LONG_ERRORS[name]?.includes(title) ? LONG : SHORT;
      for (const text of errors.values()) {
        const lines = text.split("\n");
        assert(text !== "", `${name}: "${title}" compiles`);
        assert.equal(lines.filter((line) => !line.startsWith(" ")).length, 1, `${name}: "${title}" has several errors`);
        assert(lines.length <= limits.lines, `${name}: "${title}" has ${lines.length} lines`);
        assert(
          lines.every(({ length }) => length <= limits.length),
          `${name}: "${title}" has a line of more than ${limits.length} characters`,
        );
      }
    }
  }
});

Deno.test("each mistake with long errors exists in its document", () => {
  const all = documents();
  for (const [name, titles] of Object.entries(LONG_ERRORS)) {
    const known = all.get(name)?.mistakes.map(({ title }) => title);
    assert.deepEqual(titles.filter((title) => !known?.includes(title)), [], name);
  }
});
