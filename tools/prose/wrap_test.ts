import assert from "node:assert/strict";
import { wrapped } from "./wrap.ts";

const WORDS = Array(24).fill("words").join(" ");

Deno.test("wrapped wraps a block comment, its tags and list items, and keeps its code", () => {
  const source = `  /** ${WORDS} */
  a();
  /**
   * Short.
   *
   * @param a ${WORDS}
   * - ${WORDS}
   *
   * \`\`\`ts
   * code(${WORDS});
   * \`\`\`
   */
`;
  const result = wrapped(source);
  assert.equal(result, wrapped(result));
  assert(result.split("\n").filter((line) => !line.includes("code(")).every((line) => line.length <= 100), result);
  assert.match(result, /^ {2}\/\*\*\n {3}\* words[^]*\n {3}\*\/\n {2}a\(\);\n/);
  assert.match(result, /\n {3}\* @param a words[^]*\n {3}\* {3}words[^]*\n {3}\* - words[^]*\n {3}\* {3}words/);
  assert(result.includes(`   * code(${WORDS});\n   * \`\`\`\n   */\n`));
});

Deno.test("wrapped joins the indented lines of a tag", () => {
  const result = wrapped(`/**\n * @param a ${WORDS}\n *   and more\n * @returns b\n */\n`);
  assert.match(result, /words and more\n \* @returns b\n \*\/\n$/);
});

Deno.test("wrapped joins line comments, and keeps narrow comments, directives and strings", () => {
  assert.equal(
    wrapped(`// ${WORDS}\n// end\n`).split("\n").at(-2),
    "// words words words words words words words words end",
  );
  for (
    const source of ["// a\n// b\n", `// deno-lint-ignore ${WORDS}\n`, `const a = "${WORDS}";\n`, `a(); // ${WORDS}\n`]
  ) {
    assert.equal(wrapped(source), source);
  }
});

Deno.test("wrapped keeps an inline JSDoc tag on one line", () => {
  const result = wrapped(`/** ${"x".repeat(80)} as {@linkcode Example} and {@link Other | another one}. */\n`);
  assert.equal(result, `/**\n * ${"x".repeat(80)} as\n * {@linkcode Example} and {@link Other | another one}.\n */\n`);
});
