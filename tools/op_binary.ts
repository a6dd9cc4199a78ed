/**
 * Builds `op` as one executable: `deno run -A tools/op_binary.ts [--output FILE] [--target
 * TARGET]`. Its software bill of materials is written to the same folder.
 *
 * The executable has all sandbox permissions, because `op` writes projects and starts Deno, image
 * builders and git. It searches for Deno in PATH.
 */
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { requireFor } from "../cli/build/bundle.ts";
import { versionOf } from "../cli/build/compile.ts";
import { sbom } from "../cli/build/sbom.ts";
import { namedSource } from "../cli/build/source_name.ts";
import { VERSION } from "../cli/version.ts";

/** Options for {@linkcode opBinary}. */
export interface OpBinaryOptions {
  /** The executable to write. @default {"dist/op"} */
  readonly output?: string | undefined;
  /** The target platform, as for `deno compile --target`. @default {this machine} */
  readonly target?: string | undefined;
  /** The Deno that compiles. @default {the Deno that runs this process} */
  readonly compiler?: string | undefined;
  /** Variables to add to the compiler's environment, such as DENORT_BIN. */
  readonly env?: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/**
 * Builds the executable.
 *
 * @param options Additional options.
 * @throws {Error} If bundling or compiling fails.
 */
export async function opBinary(options: OpBinaryOptions = {}): Promise<void> {
  const { output = "dist/op", target, compiler = Deno.execPath(), env = {} } = options;
  const folder = await Deno.makeTempDir();
  try {
    const bundled = join(folder, "op.js");
    await run(Deno.execPath(), [
      ...["bundle", "--quiet", "--minify", "--platform=deno", "--sourcemap=external", `--output=${bundled}`],
      join(ROOT, "cli/main.ts"),
    ]);
    const code = await Deno.readTextFile(bundled);
    await Deno.writeTextFile(bundled, [...requireFor(code), code].join("\n"));
    // The executable contains the file's modification time. A fixed one makes builds reproducible.
    await Deno.utime(bundled, 0, 0);
    await run(compiler, [
      ...["compile", "--quiet", "--allow-all", "--no-config", "--no-lock", "--no-check"],
      ...(target === undefined ? [] : [`--target=${target}`]),
      `--output=${resolve(output)}`,
      bundled,
    ], env);
    const bill = await billOf(resolve(output), bundled, folder, compiler);
    await Deno.writeTextFile(`${resolve(output)}.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function billOf(executable: string, bundled: string, folder: string, compiler: string) {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache } = JSON.parse(new TextDecoder().decode(stdout));
  const named = namedSource({ folder, project: ROOT, npmCache });
  const { sources } = JSON.parse(await Deno.readTextFile(`${bundled}.map`)) as { sources: string[] };
  return sbom({
    operator: { name: "op", version: VERSION },
    sha256: createHash("sha256").update(await Deno.readFile(executable)).digest("hex"),
    lock: await Deno.readTextFile(join(ROOT, "deno.lock")),
    sources: await Promise.all(sources.map(named)),
    runtime: await versionOf(compiler),
    tool: VERSION,
  });
}

/** Runs a program in the repository, so that its import map applies. */
async function run(program: string, args: string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  const { success } = await new Deno.Command(program, { args, env: { ...env }, cwd: ROOT, stdin: "null" }).spawn()
    .status;
  if (!success) throw new Error(`Cannot build the executable of op: "${program} ${args[0]}" failed`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { output: { type: "string" }, target: { type: "string" } } });
  await opBinary({ ...values, compiler: Deno.env.get("DENO_COMPILER") });
}
