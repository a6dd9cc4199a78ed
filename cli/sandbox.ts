/** `op sandbox`: what an operator's executable may reach, and why. */
import { runningDeno, sourceFile } from "./deno.ts";
import { inspect } from "./inspect.ts";
import type { Io } from "./io.ts";

/**
 * Prints the Deno permissions of an operator, a line each, with the reason.
 *
 * @param file The file whose default export is the operator.
 * @param options `output`: `text`, or `json` for programs.
 * @param io The terminal and the shell.
 */
export async function sandbox(file: string, options: { readonly output: "text" | "json" }, io: Io): Promise<void> {
  const source = await sourceFile(file, io);
  const { permissions } = await inspect(runningDeno(), source.url, source.folder, file);
  if (options.output === "json") return io.out(`${JSON.stringify(permissions, null, 2)}\n`);
  const width = Math.max(...permissions.map(({ access, target }) => access.length + 1 + target.length));
  for (const { access, target, reason } of permissions) io.out(`${`${access} ${target}`.padEnd(width)}  ${reason}\n`);
}
