/** Compares the files that a package publishes with the files that its users can import. */
import { fileURLToPath } from "node:url";

/** Files that belong to a package although no module imports them. */
const ALWAYS = /^(deno\.json|LICENSE|README\.md|CHANGELOG\.md)$/;

/**
 * Returns the errors in the list of published files of a package.
 *
 * @param files The published files, from the folder of the package.
 * @param modules The files that its exports import, from the folder of the package.
 * @returns A line for each file that is not needed, and for each that is missing.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(wrongFiles(["deno.json", "mod.ts", "notes.txt"], ["mod.ts", "missing.ts"]), [
 *   "notes.txt is published and not needed",
 *   "missing.ts is needed and not published",
 * ]);
 * ```
 */
export function wrongFiles(files: readonly string[], modules: readonly string[]): string[] {
  return [
    ...files.filter((file) => !ALWAYS.test(file) && !modules.includes(file)).map((file) =>
      `${file} is published and not needed`
    ),
    ...modules.filter((module) => !files.includes(module)).map((module) => `${module} is needed and not published`),
  ];
}

/**
 * Returns the files that a package would publish.
 *
 * @param folder The package's folder, with a trailing slash.
 * @throws {Error} If it cannot be published. The message has the reason.
 */
export async function publishedFiles(folder: URL): Promise<string[]> {
  const { success, stdout, stderr } = await deno(["publish", "--dry-run", "--allow-dirty"], folder);
  const output = `${stdout}${stderr}`;
  if (!success) throw new Error(output);
  return [...output.matchAll(/^ +(file:\S+) \(/gm)].map(([, url = ""]) => relativePath(url, folder) ?? url);
}

/**
 * Returns the files that the exports of a package import, without those of other packages.
 *
 * @param folder The package's folder, with a trailing slash.
 * @param others Folders in it that are other packages.
 */
export async function reachedFiles(folder: URL, others: readonly URL[] = []): Promise<string[]> {
  const { exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", folder)));
  const found = new Set<string>();
  for (const file of Object.values<string>(exports)) {
    const { stdout } = await deno(["info", "--json", fileURLToPath(new URL(file, folder))], folder);
    for (const { specifier } of (JSON.parse(stdout) as { modules: { specifier: string }[] }).modules) {
      const path = relativePath(specifier, folder);
      if (path !== undefined && !others.some((other) => relativePath(specifier, other) !== undefined)) found.add(path);
    }
  }
  return [...found];
}

function relativePath(url: string, folder: URL): string | undefined {
  return url.startsWith(folder.href) ? url.slice(folder.href.length) : undefined;
}

async function deno(args: readonly string[], cwd: URL) {
  const command = new Deno.Command(Deno.execPath(), { args: [...args], cwd, stdin: "null", env: { NO_COLOR: "1" } });
  const { success, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
