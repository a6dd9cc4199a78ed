/** What a package would publish, held against what its users can reach. */
import { fileURLToPath } from "node:url";

/** Files that belong to a package though nothing imports them. */
const BESIDE = /^(deno\.json|LICENSE|README\.md|CHANGELOG\.md)$/;

/**
 * What is wrong with the files of a package.
 *
 * @param files What would be published, from the folder of the package.
 * @param modules What its exports reach, likewise.
 * @returns A line for each file that nobody can reach, and for each that is reached and left out.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(wrongFiles(["deno.json", "mod.ts", "notes.txt"], ["mod.ts", "gone.ts"]), [
 *   "notes.txt is published and not needed",
 *   "gone.ts is needed and not published",
 * ]);
 * ```
 */
export function wrongFiles(files: readonly string[], modules: readonly string[]): string[] {
  return [
    ...files.filter((file) => !BESIDE.test(file) && !modules.includes(file)).map((file) =>
      `${file} is published and not needed`
    ),
    ...modules.filter((module) => !files.includes(module)).map((module) => `${module} is needed and not published`),
  ];
}

/**
 * The files that a package would publish.
 *
 * @param folder The package's folder, with a slash at its end.
 * @throws {Error} If it could not be published; the message has why.
 */
export async function publishedFiles(folder: URL): Promise<string[]> {
  const { success, stdout, stderr } = await deno(["publish", "--dry-run", "--allow-dirty"], folder);
  const told = `${stdout}${stderr}`;
  if (!success) throw new Error(told);
  return [...told.matchAll(/^ +(file:\S+) \(/gm)].map(([, url = ""]) => below(url, folder) ?? url);
}

/**
 * The files of a package that its exports reach. Other packages of the repository are not among them.
 *
 * @param folder The package's folder, with a slash at its end.
 * @param others Folders in it that are packages of their own.
 */
export async function reachedFiles(folder: URL, others: readonly URL[] = []): Promise<string[]> {
  const { exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", folder)));
  const found = new Set<string>();
  for (const file of Object.values<string>(exports)) {
    const { stdout } = await deno(["info", "--json", fileURLToPath(new URL(file, folder))], folder);
    for (const { specifier } of (JSON.parse(stdout) as { modules: { specifier: string }[] }).modules) {
      const path = below(specifier, folder);
      if (path !== undefined && !others.some((other) => below(specifier, other) !== undefined)) found.add(path);
    }
  }
  return [...found];
}

function below(url: string, folder: URL): string | undefined {
  return url.startsWith(folder.href) ? url.slice(folder.href.length) : undefined;
}

async function deno(args: readonly string[], cwd: URL) {
  const command = new Deno.Command(Deno.execPath(), { args: [...args], cwd, stdin: "null", env: { NO_COLOR: "1" } });
  const { success, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
