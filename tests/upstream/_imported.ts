/** Kinds that `op crd import` created, in a project of a user. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { importKind } from "../../cli/import/import.ts";
import { RecordedIo } from "../../cli/_recorded_io.ts";
import { projectConfig } from "../../cli/new/project_config.ts";
import type { Json } from "./_mutants.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The group of the imported kinds. The originals have another one. */
export const IMPORTED_GROUP = "imported.example.com";

interface Defined {
  readonly kind: string;
  readonly definition: Json;
}

/** Imports each definition into its own file, and returns the messages. */
export async function importAll(kinds: readonly Defined[], folder: string): Promise<string[]> {
  const reports: string[] = [];
  for (const { kind, definition } of kinds) {
    const io = new RecordedIo(folder);
    await importKind("-", { output: `${kind}.ts` }, io, () => Promise.resolve(JSON.stringify(definition)));
    reports.push(io.stderr);
  }
  return reports;
}

/** Returns a definition with another group, so that one server can have both. */
export function regrouped(definition: Json, group: string): Json {
  const { metadata, spec } = definition as { metadata: Json; spec: Json & { names: { plural: string } } };
  return { ...definition, metadata: { ...metadata, name: `${spec.names.plural}.${group}` }, spec: { ...spec, group } };
}

/**
 * Checks and runs the modules as a project of a user, and returns the definitions of their kinds.
 */
export async function compiled(kinds: readonly string[], folder: string): Promise<Json[]> {
  const config = JSON.parse(projectConfig("upstream", { sdk: ROOT }));
  Object.assign(config.compilerOptions, { noUnusedLocals: true, noUnusedParameters: true });
  await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify(config, null, 2) + "\n");
  const main = kinds.map((kind) => `import { ${kind} } from "./${kind}.ts";\n`).join("") +
    `\nconsole.log(JSON.stringify([${kinds.map((kind) => `${kind}.crd`).join(", ")}]));\n`;
  await Deno.writeTextFile(join(folder, "main.ts"), main);
  return JSON.parse(await deno(["run", "--check", "--no-lock", "--quiet", "main.ts"], folder));
}

/** Runs Deno in a folder, and returns its output. */
export async function deno(args: readonly string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args], cwd }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}
