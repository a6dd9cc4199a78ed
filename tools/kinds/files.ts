/** Generated files on disk. */

/**
 * Writes generated files, formatted, and takes away those that are generated no longer. What nobody can come to is not written.
 *
 * @param files Text by name.
 * @param folder Where they go; it is made where it is not there.
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

/** The files that somebody can come to: from the one with the latest version of each name, over what each takes from others. */
export function reachedFiles(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const reached = new Set(["latest.gen.ts"]);
  for (const name of reached) {
    for (const [, other = ""] of (files.get(name) ?? "").matchAll(/"\.\/(\w+\.gen\.ts)"/g)) reached.add(other);
  }
  return new Map([...files].filter(([name]) => reached.has(name)));
}
