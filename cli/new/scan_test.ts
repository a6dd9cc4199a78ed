import assert from "node:assert/strict";
import { scan } from "./scan.ts";

const CASES = [
  {
    name: "strings with brackets and quotes",
    code: `f("a\\"{", '}')`,
    tokens: ["f", "(", `"a\\"{"`, ",", `'}'`, ")"],
  },
  { name: "comments", code: "a /* } */ b // {\nc", tokens: ["a", "/* } */", "b", "// {", "c"] },
  { name: "templates in templates", code: "x`a${ { b: `}` }.b }c`;", tokens: ["x", "`a${ { b: `}` }.b }c`", ";"] },
  { name: "regular expressions", code: 'a = /[/}"]\\/{/gi;', tokens: ["a", "=", '/[/}"]\\/{/gi', ";"] },
  {
    name: "divisions",
    code: "(a) / b / c[0] / 2",
    tokens: ["(", "a", ")", "/", "b", "/", "c", "[", "0", "]", "/", "2"],
  },
  { name: "a regular expression after return", code: 'return /"/', tokens: ["return", '/"/'] },
  {
    name: "private names, spreads and arrows",
    code: "this.#a = (...b) => 1.5",
    tokens: ["this", ".", "#a", "=", "(", "...", "b", ")", "=>", "1.5"],
  },
  { name: "a shebang line", code: "#!/usr/bin/env deno\na", tokens: ["#!/usr/bin/env deno", "a"] },
];

for (const { name, code, tokens } of CASES) {
  Deno.test(`scan splits ${name} into tokens`, () => {
    assert.deepEqual(scan(code).map(({ text }) => text), tokens);
    for (const { text, start, end } of scan(code)) assert.equal(code.slice(start, end), text);
  });
}

Deno.test("scan rejects unclosed strings, templates, comments and regular expressions", () => {
  for (const code of ['"a', "'a\n'", "`a", "`${`", "/* a", "a = /b\n/"]) {
    assert.throws(() => scan(code), SyntaxError, code);
  }
});

Deno.test("scan preserves the SDK's own modules except for white space", async () => {
  for (
    const file of [
      "scan.ts",
      "add_part.ts",
      "../cli.ts",
      "../../mod.ts",
      "../../src/apiserver/http.ts",
      "../../src/cel/mod.ts",
    ]
  ) {
    const code = await Deno.readTextFile(new URL(file, import.meta.url));
    const tokens = scan(code);
    let at = 0;
    for (const { start, end } of tokens) {
      assert.equal(code.slice(at, start).trim(), "", file);
      at = end;
    }
    assert.equal(code.slice(at).trim(), "", file);
    for (const [open, close] of ["()", "[]", "{}"] as const) {
      const count = (sign: string) => tokens.filter(({ type, text }) => type === "sign" && text === sign).length;
      assert.equal(count(open!), count(close!), `${file}: ${open}${close}`);
    }
  }
});
