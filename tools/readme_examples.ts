/**
 * The code of README.md as a project: each `ts` block becomes a file, named by the comment in its first line (`// website/v1.ts`), or
 * `example_N.ts`. Blocks of one name are one file. Files that are no tests get a test that loads them, so that every block is compiled and run.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectConfig } from "../cli/new/project_config.ts";

/**
 * The `ts` blocks of a Markdown text, by the file they are.
 *
 * @param markdown The text.
 * @returns Path to code.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const fence = "`".repeat(3);
 * const markdown = `${fence}ts\n// main.ts\nlet a = 1;\n${fence}`;
 * assert.deepEqual([...codeBlocks(markdown)], [["main.ts", "// main.ts\nlet a = 1;\n"]]);
 * ```
 */
export function codeBlocks(markdown: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const [, code = ""] of markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
    const name = /^\/\/ ([\w./-]+\.ts)$/m.exec(code.split("\n", 1)[0] ?? "")?.[1] ?? `example_${files.size + 1}.ts`;
    files.set(name, (files.get(name) ?? "") + code);
  }
  return files;
}

/** Writes README.md's code as a project into a folder of its own, which is gone when `use` has ended. */
export async function withReadmeProject<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const root = new URL("../", import.meta.url);
  const files = codeBlocks(await Deno.readTextFile(new URL("README.md", root)));
  if (files.size === 0) throw new Error('Cannot test the code of README.md: it has no block that begins with "```ts"');
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "deno.json"), projectConfig("readme", { sdk: fileURLToPath(root) }));
    await Deno.writeTextFile(join(folder, "readme_test.ts"), loadingTests([...files.keys()]));
    for (const [name, code] of files) {
      await Deno.mkdir(dirname(join(folder, name)), { recursive: true });
      await Deno.writeTextFile(join(folder, name), code);
    }
    return await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function loadingTests(names: readonly string[]): string {
  return names.filter((name) => !name.endsWith("_test.ts"))
    .map((name) => `Deno.test("README.md: ${name} loads", async () => void await import("./${name}"));\n`).join("");
}
