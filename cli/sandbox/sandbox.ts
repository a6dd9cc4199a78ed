/** `op sandbox`: prints the sandbox permissions of an operator's executable. */
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import type { Form } from "../global_options.ts";
import type { Io } from "../io.ts";
import type { ProjectOptions } from "../project_file.ts";
import { printed } from "../yaml.ts";

/** Options for {@linkcode sandbox}. */
export interface SandboxOptions extends ProjectOptions {
  readonly output: Form;
}

/**
 * Prints the sandbox permissions of an operator with their reasons, one per line.
 *
 * @param file The file whose default export is the operator.
 * @param options The settings file and the output format.
 * @param io The terminal and the shell.
 */
export async function sandbox(file: string, options: SandboxOptions, io: Io): Promise<void> {
  const { sandbox: permissions } = await factsOf(file, { config: options.config, image: NO_IMAGE }, io);
  if (options.output !== "text") return io.out(printed(permissions, options.output));
  const width = Math.max(...permissions.map(({ permission, target }) => permission.length + 1 + target.length));
  for (const { permission, target, reason } of permissions) {
    io.out(`${`${permission} ${target}`.padEnd(width)}  ${reason}\n`);
  }
}
