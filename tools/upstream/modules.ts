/** Fetches modules of Go, as the Go command does: from the proxy that it is set to, into its own cache. */
import type { Module } from "./origins.ts";

/** Why modules cannot be had on this machine. */
export class NoModules extends Error {
  override name = "NoModules";
}

/** Options of {@linkcode fetchModules}. */
export interface FetchOptions {
  /** The Go command. @default {"go"} */
  readonly go?: string;
}

/** What `go mod download -json` says of a module. */
interface Downloaded {
  readonly Path: string;
  readonly Dir?: string;
  readonly Sum?: string;
  readonly Error?: string;
}

/**
 * Fetches modules.
 *
 * @param modules The modules.
 * @param options Additional options.
 * @returns The folder of each, which nobody may write into.
 * @throws {NoModules} If there is no Go, or a module cannot be fetched.
 * @throws {Error} If the content of one is not what it must be.
 */
export async function fetchModules(
  modules: readonly Module[],
  { go = "go" }: FetchOptions = {},
): Promise<Map<Module, string>> {
  const answers = await download(modules, go);
  const folders = modules.map((module): [Module, string] => {
    const { Dir, Sum, Error: reason } = answers.find(({ Path }) => Path === module.path) ?? {};
    const name = `${module.path}@${module.version}`;
    if (Dir === undefined) throw new NoModules(`Cannot fetch "${name}": ${reason ?? "go said nothing of it"}`);
    if (Sum !== module.sum) {
      throw new Error(`Cannot use "${name}": its content has the sum "${Sum}", expected "${module.sum}"`);
    }
    return [module, Dir];
  });
  return new Map(folders);
}

async function download(modules: readonly Module[], go: string): Promise<Downloaded[]> {
  // Away from any go.mod, whose requirements would have their say.
  const cwd = await Deno.makeTempDir();
  try {
    const { stdout, stderr } = await new Deno.Command(go, {
      args: ["mod", "download", "-json", ...modules.map(({ path, version }) => `${path}@${version}`)],
      cwd,
      // The sums are known here: nobody else has to be asked for them.
      env: { GOFLAGS: "-mod=mod", GOSUMDB: "off", GOWORK: "off" },
      stdin: "null",
    }).output();
    const [text, said] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)) as [string, string];
    // One object after the other, each over several lines.
    const answers = text.split(/^(?=\{$)/m).filter((each) => each.trim() !== "");
    if (answers.length === 0) throw new NoModules(`Cannot fetch modules: go says: ${said.trim()}`);
    return answers.map((each) => JSON.parse(each));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new NoModules(`Cannot fetch modules: "${go}" is not installed; install Go 1.26`);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}
