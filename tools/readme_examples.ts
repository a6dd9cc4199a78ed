/**
 * Writes the code in README.md and the guides as a project, with one folder for each document. Each
 * `ts` block becomes a file with the name in the comment on its first line (`// website/v1.ts`), or
 * `example_N.ts`. Blocks with the same name are joined. For each file that is not a test, a test
 * that imports it is added, so that every block is compiled and run.
 */
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectConfig } from "../cli/new/project_config.ts";

/**
 * Returns the `ts` blocks of a Markdown document, by file.
 *
 * @param markdown The document.
 * @returns The code by path.
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

/**
 * Guides without TypeScript to test: `tests/compiled/tutorial_test.ts` tests commands, and
 * `tools/metrics_page.ts` generates the page of metrics.
 */
const WITHOUT_CODE: readonly string[] = [
  "README",
  "building",
  "command_line",
  "metrics",
  "moving",
  "troubleshooting",
].map((name) => `docs/guides/${name}.md`);

/**
 * Writes the documents' code as a project into a temporary folder, which is deleted when `use`
 * returns.
 */
export async function withReadmeProject<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const root = new URL("../", import.meta.url);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "deno.json"), projectConfig("readme", { sdk: fileURLToPath(root) }));
    for (const document of documents(root)) {
      const files = codeBlocks(await Deno.readTextFile(new URL(document, root)));
      if (files.size === 0) {
        throw new Error(`Cannot test the code of ${document}: it has no block that begins with "\`\`\`ts"`);
      }
      const place = join(folder, basename(document, ".md").toLowerCase());
      for (const [name, code] of files) {
        await Deno.mkdir(dirname(join(place, name)), { recursive: true });
        await Deno.writeTextFile(join(place, name), code);
      }
      await Deno.writeTextFile(join(place, "loads_test.ts"), loadingTests(document, [...files.keys()]));
    }
    return await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns the documents whose code is tested, as paths from the root of the repository. */
function documents(root: URL): string[] {
  const guides = [...Deno.readDirSync(new URL("docs/guides/", root))].map(({ name }) => `docs/guides/${name}`);
  return ["README.md", ...guides.filter((name) => name.endsWith(".md") && !WITHOUT_CODE.includes(name)).sort()];
}

function loadingTests(document: string, names: readonly string[]): string {
  return names.filter((name) => !name.endsWith("_test.ts"))
    .map((name) => `Deno.test("${document}: ${name} loads", async () => void await import("./${name}"));\n`).join("");
}
