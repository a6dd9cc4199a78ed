/** Finds files with examples in their documentation, and creates the configuration to run them. */
import { join } from "node:path";
import { ROOT } from "./run.ts";

/** Folders whose documentation has examples. */
const DOCUMENTED = ["entry_points", "src", "cli", "tools"];

/**
 * Returns the paths of files that have an example, relative to the root of the repository. Test
 * files are omitted, because Deno would run their tests again.
 */
export function documentedFiles(root: URL = ROOT): string[] {
  const files = DOCUMENTED.flatMap((folder) => [...typescriptFiles(new URL(`${folder}/`, root), folder)]);
  return ["mod.ts", ...files]
    .filter((file) => !/_test\.ts$|\.gen\.ts$/.test(file))
    .filter((file) => /^ *\* *```ts/m.test(Deno.readTextFileSync(new URL(file, root))))
    .sort();
}

function* typescriptFiles(folder: URL, path: string): Generator<string> {
  for (const entry of Deno.readDirSync(folder)) {
    if (entry.isDirectory) yield* typescriptFiles(new URL(`${entry.name}/`, folder), `${path}/${entry.name}`);
    else if (entry.name.endsWith(".ts")) yield `${path}/${entry.name}`;
  }
}

/**
 * Creates a configuration for `deno test --doc`: that of the repository, but unused names are
 * allowed, because Deno adds all exports of a file to the scope of its examples.
 */
export async function withDocConfig<T>(use: (config: string) => Promise<T>): Promise<T> {
  const { imports, exports, compilerOptions } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const entryPoints = Object.entries(exports as Record<string, string>).map(([name, file]) => [
    name.replace(".", "@op/sdk"),
    new URL(file, ROOT).href,
  ]);
  const folder = await Deno.makeTempDir();
  try {
    const config = join(folder, "deno.json");
    const content = {
      imports: { ...imports, ...Object.fromEntries(entryPoints) },
      compilerOptions: { ...compilerOptions, noUnusedLocals: false, noUnusedParameters: false },
    };
    await Deno.writeTextFile(config, JSON.stringify(content));
    return await use(config);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
