/**
 * `op` itself as one executable: `deno run -A tools/op_binary.ts [--output FILE] [--target TARGET]`.
 *
 * It may do whatever its user may: it writes projects and starts Deno, builders of images and git. Deno is looked for on the path.
 */
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** Options for {@linkcode opBinary}. */
export interface OpBinaryOptions {
  /** The executable to write. @default {"dist/op"} */
  readonly output?: string | undefined;
  /** The machine it is for, as `deno compile --target` names it. @default {this machine} */
  readonly target?: string | undefined;
  /** The Deno that compiles. @default {DENO_COMPILER, else the one that runs this} */
  readonly compiler?: string | undefined;
  /** Variables to add to the compiler's environment, such as DENORT_BIN. */
  readonly env?: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/**
 * Makes the executable.
 *
 * @param options Additional options.
 * @throws {Error} If it cannot be bundled or compiled.
 */
export async function opBinary(options: OpBinaryOptions = {}): Promise<void> {
  const { output = "dist/op", target, compiler = Deno.execPath(), env = {} } = options;
  const folder = await Deno.makeTempDir();
  try {
    const bundled = join(folder, "op.js");
    await run(Deno.execPath(), [
      ...["bundle", "--quiet", "--minify", "--platform=deno", `--output=${bundled}`],
      join(ROOT, "cli/main.ts"),
    ]);
    // The file's time is written into the executable: a fixed one makes equal bytes of equal code.
    await Deno.utime(bundled, 0, 0);
    await run(compiler, [
      ...["compile", "--quiet", "--allow-all", "--no-config", "--no-lock", "--no-check"],
      ...(target === undefined ? [] : [`--target=${target}`]),
      `--output=${resolve(output)}`,
      bundled,
    ], env);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Inside the repository, whose import map counts. */
async function run(program: string, args: string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  const { success } = await new Deno.Command(program, { args, env: { ...env }, cwd: ROOT, stdin: "null" }).spawn()
    .status;
  if (!success) throw new Error(`Cannot make the executable of op: "${program} ${args[0]}" failed`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { output: { type: "string" }, target: { type: "string" } } });
  await opBinary({ ...values, compiler: Deno.env.get("DENO_COMPILER") });
}
