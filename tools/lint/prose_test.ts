// deno-lint-ignore-file prose/plain-english -- The tests quote phrases that the rule rejects.
import assert from "node:assert/strict";
import plugin from "./prose.ts";

function messages(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, new URL(`../../${file}`, import.meta.url).pathname, source).map((one) =>
    one.message
  );
}

Deno.test("the prose rule checks comments, strings and templates of covered files", () => {
  const source = `// Whoever reads it.
/**
 * Told
 * of it.
 */
const a = "the object goes on";
const b = \`nobody \${a} here\`;
const c = "told";
`;
  assert.deepEqual(messages("tools/prose/planted.ts", source).map((one) => one.split(" is not")[0]), [
    '"Whoever"',
    '"Told"',
    '"goes on"',
    '"nobody"',
  ]);
  assert.deepEqual(messages("src/kinds/planted.gen.ts", source), []);
});

Deno.test("the prose rule limits the width of comments", () => {
  const wide = "x".repeat(100);
  assert.deepEqual(messages("tools/prose/planted.ts", `// ${wide}\nconst a = 1; // ${wide}\n`), [
    "Comments wrap at 100 columns",
  ]);
});

Deno.test("the prose rule rejects an inline JSDoc tag on two lines", () => {
  assert.deepEqual(messages("tools/prose/planted.ts", "/**\n * See {@linkcode\n * Example}.\n */\nconst a = 1;\n"), [
    "Put an inline tag such as {@linkcode X} on one line",
  ]);
});
