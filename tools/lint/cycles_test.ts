import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { cyclesOf, importsOf } from "./cycles.ts";

const ROOT = new URL("../../", import.meta.url);

const IMPORTS: { name: string; code: string; expected: string[] }[] = [
  { name: "values", code: `import { a } from "./a.ts";`, expected: ["src/queue/a.ts"] },
  { name: "types", code: `import type { A } from "./a.ts";`, expected: ["src/queue/a.ts"] },
  {
    name: "values and types over several lines",
    code: `import {\n  a,\n  type B,\n} from "./a.ts";`,
    expected: ["src/queue/a.ts"],
  },
  { name: "side effects", code: `import "../other/a.ts";`, expected: ["src/other/a.ts"] },
  { name: "namespaces", code: `import * as a from "./a.ts";`, expected: ["src/queue/a.ts"] },
  {
    name: "re-exports",
    code: `export * from "./a.ts";\nexport { b } from "./b.ts";`,
    expected: ["src/queue/a.ts", "src/queue/b.ts"],
  },
  { name: "no packages and builtins", code: `import "node:os";\nimport { a } from "yaml";`, expected: [] },
  { name: "no dynamic imports", code: `const a = await import("./a.ts");`, expected: [] },
  {
    name: "no declarations before a string",
    code: `export const a = 1;\nexport const b = "./b.ts";`,
    expected: [],
  },
  { name: "no examples in comments", code: ` * import { a } from "./a.ts";`, expected: [] },
];

const CYCLES: { name: string; imports: Record<string, string[]>; expected: string[][] }[] = [
  { name: "none in a chain", imports: { a: ["b"], b: ["c"], c: [] }, expected: [] },
  { name: "none where two paths meet", imports: { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }, expected: [] },
  { name: "a file that imports itself", imports: { a: ["a"] }, expected: [["a"]] },
  { name: "two", imports: { a: ["b"], b: ["a"] }, expected: [["a", "b"]] },
  {
    name: "one that another file imports",
    imports: { x: ["b"], a: ["b"], b: ["c"], c: ["a"] },
    expected: [["b", "c", "a"]],
  },
  {
    name: "two with a common file as one",
    imports: { a: ["b", "c"], b: ["a"], c: ["a"] },
    expected: [["a", "b", "c"]],
  },
  {
    name: "two separate ones, the inner one first",
    imports: { a: ["b"], b: ["a", "c"], c: ["d"], d: ["c"] },
    expected: [["c", "d"], ["a", "b"]],
  },
];

Deno.test("importsOf finds the files that a file imports", async (t) => {
  for (const { name, code, expected } of IMPORTS) {
    await t.step(name, () => assert.deepEqual(importsOf("src/queue/file.ts", code), expected));
  }
});

Deno.test("cyclesOf finds import cycles", async (t) => {
  for (const { name, imports, expected } of CYCLES) {
    await t.step(name, () => assert.deepEqual(cyclesOf(new Map(Object.entries(imports))), expected));
  }
});

Deno.test("the SDK, the command line and the tools have no import cycles, not even of types", async () => {
  const imports = new Map<string, string[]>();
  for (const folder of ["src", "cli", "tools", "benches"]) {
    for (const path of await readdir(new URL(folder, ROOT), { recursive: true })) {
      const file = `${folder}/${path.replaceAll("\\", "/")}`;
      if (!file.endsWith(".ts")) continue;
      imports.set(file, importsOf(file, await readFile(new URL(file, ROOT), "utf8")));
    }
  }
  assert(imports.size > 800 && (imports.get("src/operator/operator.ts")?.length ?? 0) > 10, "too few files were read");
  assert.deepEqual(cyclesOf(imports), [], "move what both files need into another file");
});
