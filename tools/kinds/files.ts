/** Generated files on disk. */

/**
 * Formats and writes generated files, and removes the `.gen.ts` files of earlier runs. Files that
 * {@linkcode reachedFiles} does not return are not written.
 *
 * @param files Content by file name.
 * @param folder The folder to write to. It is created if it does not exist.
 * @throws {Error} If `deno fmt` fails.
 */
export async function writeGenerated(files: ReadonlyMap<string, string>, folder: string): Promise<void> {
  const reached = reachedFiles(files);
  await Deno.mkdir(folder, { recursive: true });
  for (const { name } of Deno.readDirSync(folder)) if (name.endsWith(".gen.ts")) await Deno.remove(`${folder}/${name}`);
  for (const [name, text] of reached) await Deno.writeTextFile(`${folder}/${name}`, text);
  const paths = [...reached.keys()].map((name) => `${folder}/${name}`);
  const args = ["fmt", "--no-config", "--line-width", "120", "--quiet", ...paths];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  if (!success) throw new Error(`Cannot format the files: ${new TextDecoder().decode(stderr)}`);
}

/** Returns the files that `latest.gen.ts` imports, directly or indirectly, and that file itself. */
export function reachedFiles(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const reached = new Set(["latest.gen.ts"]);
  for (const name of reached) {
    for (const [, other = ""] of (files.get(name) ?? "").matchAll(/"\.\/(\w+\.gen\.ts)"/g)) reached.add(other);
  }
  return new Map([...files].filter(([name]) => reached.has(name)));
}
