import assert from "node:assert/strict";
import plugin, { EXEMPT } from "./messages.ts";

const ROOT = new URL("../../", import.meta.url);

/** Returns the number of violations in a file. */
function violations(file: string, source: string): number {
  return Deno.lint.runPlugin(plugin, new URL(file, ROOT).pathname, source).length;
}

const DECISIONS: readonly { name: string; source: string }[] = [
  { name: "includes", source: 'if (error.message.includes("not found")) retry();' },
  { name: "startsWith", source: 'const isGone = cause?.message.startsWith("gone");' },
  { name: "match", source: "const [, name] = error.message.match(/kind (.*)/) ?? [];" },
  { name: "a regular expression", source: "if (/not found/.test(error.message)) retry();" },
  { name: "exec", source: "const [, name] = PATTERN.exec((error as Error).message) ?? [];" },
  { name: "String()", source: 'if (String(error).includes("not found")) retry();' },
  { name: "toString()", source: "if (/not found/.test(error.toString())) retry();" },
  { name: "a part of the message", source: 'if (error.message.toLowerCase().includes("gone")) retry();' },
  { name: "equality", source: 'if (error.message === "not found") retry();' },
  { name: "switch", source: 'switch (error.message) { case "not found": retry(); }' },
  { name: "a variable", source: "const why = error.message; if (/gone/.test(why)) retry();" },
  {
    name: "a choice between message and string",
    source: "const why = error instanceof Error ? error.message : String(error); if (/gone/.test(why)) retry();",
  },
  { name: "destructuring", source: "const { message: text } = error; if (/gone/.test(text)) retry();" },
  { name: "the output of a program", source: 'if (output.stderr.includes("not found")) retry();' },
];

for (const { name, source } of DECISIONS) {
  Deno.test(`the message rule rejects a decision by ${name}`, () => {
    assert.equal(violations("src/runtime/planted.ts", source), 1);
    assert.equal(violations("cli/planted.ts", source), 1);
  });
}

const ALLOWED: readonly { name: string; source: string }[] = [
  { name: "a class and a status", source: "if (error instanceof ApiError && error.status === 404) retry();" },
  { name: "a code", source: 'if (error.code === "KindNotServed") retry();' },
  { name: "a missing message", source: 'const text = error.message === "" ? error.name : error.message;' },
  { name: "a change of the message", source: "if (error.message !== logged) report(error.message);" },
  { name: "other strings", source: 'if (text.includes("x") || /x/.test(String(value))) retry();' },
];

for (const { name, source } of ALLOWED) {
  Deno.test(`the message rule allows ${name}`, () => {
    assert.equal(violations("src/runtime/planted.ts", source), 0);
  });
}

Deno.test("the message rule does not apply to tests and tools", () => {
  const source = "if (/not found/.test(error.message)) retry();";
  for (const file of ["src/runtime/planted_test.ts", "tests/planted.ts", "tools/planted.ts"]) {
    assert.equal(violations(file, source), 0, file);
  }
});

Deno.test("the message rule rejects the exemption of a file that reads no messages", () => {
  for (const file of Object.keys(EXEMPT)) {
    assert.equal(violations(file, "if (/not found/.test(error.message)) retry();"), 0, file);
    assert.equal(violations(file, "retry();"), 1, file);
  }
});

Deno.test("the exempt files of the message rule exist", async () => {
  for (const file of Object.keys(EXEMPT)) assert((await Deno.stat(new URL(file, ROOT))).isFile, file);
});
