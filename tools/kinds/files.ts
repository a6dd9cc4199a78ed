/** Generated files on disk. */

/**
 * Writes generated files, formatted, and takes away those that are generated no longer.
 *
 * @param files Text by name.
 * @param folder Where they go; it is made where it is not there.
 */
export async function writeGenerated(files: ReadonlyMap<string, string>, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const { name } of Deno.readDirSync(folder)) if (name.endsWith(".gen.ts")) await Deno.remove(`${folder}/${name}`);
  for (const [name, text] of files) await Deno.writeTextFile(`${folder}/${name}`, text);
  const paths = [...files.keys()].map((name) => `${folder}/${name}`);
  const args = ["fmt", "--no-config", "--line-width", "120", "--quiet", ...paths];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  if (!success) throw new Error(`Cannot format the files: ${new TextDecoder().decode(stderr)}`);
}
