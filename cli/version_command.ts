/** `op version`: prints the versions of `op` and its runtime. */
import { Command } from "@commander-js/extra-typings";
import { formOption } from "./command_options.ts";
import type { Form } from "./global_options.ts";
import type { Io } from "./io.ts";
import { VERSION } from "./version.ts";

/** Returns the command `op version`. */
export function versionCommand(io: Io) {
  return new Command("version")
    .description("Print the versions of op, Deno, V8 and TypeScript")
    .addOption(formOption())
    .action(async ({ output }) => io.out(await versions(output)));
}

async function versions(form: Form): Promise<string> {
  const { deno, v8, typescript } = Deno.version;
  // The SDK has the same version as op.
  const versions = { op: VERSION, deno, v8, typescript, target: Deno.build.target };
  if (form !== "text") return (await import("./yaml.ts")).printed(versions, form);
  return Object.entries(versions).map(([name, value]) => `${name} ${value}\n`).join("");
}
