/** `op version`: what runs here. */
import type { Form } from "./global_options.ts";
import type { Io } from "./io.ts";
import { VERSION } from "./version.ts";
import { toYaml } from "./yaml.ts";

/**
 * Prints the versions of `op`, which is the SDK's too, and of what it runs on.
 *
 * @param options How to print them.
 * @param io The terminal and the shell.
 */
export function version({ output }: { readonly output: Form }, io: Io): void {
  const { deno, v8, typescript } = Deno.version;
  const versions = { op: VERSION, deno, v8, typescript, target: Deno.build.target };
  if (output === "json") io.out(`${JSON.stringify(versions, null, 2)}\n`);
  else if (output === "yaml") io.out(toYaml(versions));
  else for (const [name, value] of Object.entries(versions)) io.out(`${name} ${value}\n`);
}
