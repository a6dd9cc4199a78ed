/** Builds an example operator as `op build` does, with the compiler of the floor: Deno 2.4.2, whose executable is what the tests run. */
import { cli } from "../../cli/cli.ts";
import { toolchain } from "../../tools/toolchain.ts";

/** An executable in a folder of its own. */
export interface Built extends AsyncDisposable {
  readonly path: string;
}

const ROOT = new URL("../../", import.meta.url);

/**
 * Builds an operator.
 *
 * @param main The text of its main module. It may import the repository's modules by `repository/…`.
 * @param config Its `operator.toml`.
 */
export async function buildOperator(main: string, config?: string): Promise<Built> {
  const { deno, denort } = await toolchain();
  // Inside the repository, so that its import map counts; in a folder that git ignores.
  await Deno.mkdir(new URL(".cache/builds/", ROOT), { recursive: true });
  const folder = await Deno.makeTempDir({ dir: new URL(".cache/builds/", ROOT).pathname });
  await Deno.writeTextFile(`${folder}/main.ts`, main.replaceAll('"repository/', `"${ROOT.href}`));
  if (config !== undefined) await Deno.writeTextFile(`${folder}/operator.toml`, config);
  let told = "";
  const io = {
    out: (text: string) => void (told += text),
    err: (text: string) => void (told += text),
    cwd: folder,
    env: (name: string) => name === "DENO_COMPILER" ? deno : name === "DENORT_BIN" ? denort : Deno.env.get(name),
  };
  const code = await cli(["build", "main.ts", "--output", "operator"], io);
  if (code !== 0) {
    await Deno.remove(folder, { recursive: true });
    throw new Error(`Cannot build the operator: op build ended with ${code}:\n${told}`);
  }
  return {
    path: `${folder}/operator`,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** A port of the loopback that was free just now, for a program that has to know its port when it is built. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
