import assert from "node:assert/strict";
import { showSteps } from "./demo.ts";

Deno.test("the demo shows every step and exits with 0 without a terminal", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("demo.ts", import.meta.url).pathname],
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.equal(code, 0, text + new TextDecoder().decode(stderr));
  assert.deepEqual(text.match(/^\d\. /gm), ["1. ", "2. ", "3. ", "4. ", "5. ", "6. ", "7. "]);
  assert.match(text, /spec\.theme: Unsupported value: "pink": supported values: "light", "dark"/);
  assert.match(text, /Remaining websites: shop$/m);
  assert.equal(new TextDecoder().decode(stderr), "");
});

Deno.test("README.md shows lines that the demo prints", async () => {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const [, block = ""] = /^```text\n\$ npx [^\n]* task demo\n([^`]*)^```$/m.exec(readme) ?? [];
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("demo.ts", import.meta.url).pathname],
    stdin: "null",
  }).output();
  const printed = new TextDecoder().decode(stdout).split("\n");
  const shown = block.trimEnd().split("\n");
  assert(shown.length > 5);
  assert.deepEqual(shown.filter((line) => !printed.includes(line)), []);
});

Deno.test("the demo stops at a step that fails and reports the error", async () => {
  const shown: string[] = [];
  const { log, error } = console;
  console.log = console.error = (line: string) => void shown.push(line);
  try {
    const isDone = await showSteps([
      ["first", () => Promise.resolve(["read back"])],
      ["second", () => Promise.reject(new Error("no answer"))],
      ["third", () => Promise.resolve([])],
    ]);
    assert.equal(isDone, false);
  } finally {
    Object.assign(console, { log, error });
  }
  assert.deepEqual(shown, ["\n1. first", "   read back", "\n2. second", "   This step failed: no answer"]);
});
