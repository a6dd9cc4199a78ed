/** Fetches Go modules with the Go command: from its configured proxy, into its own cache. */
import type { Module } from "./origins.ts";

/** The error when modules cannot be fetched on this machine. */
export class NoModules extends Error {
  override name = "NoModules";
}

/** Options for {@linkcode fetchModules}. */
export interface FetchOptions {
  /** The Go command. @default {"go"} */
  readonly go?: string;
}

/** The output of `go mod download -json` for a module. */
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
 * @returns The folder of each module, which must not be changed.
 * @throws {NoModules} If Go is not installed, or a module cannot be fetched.
 * @throws {Error} If the checksum of a module is not the expected one.
 */
export async function fetchModules(
  modules: readonly Module[],
  { go = "go" }: FetchOptions = {},
): Promise<Map<Module, string>> {
  const results = await download(modules, go);
  const folders = modules.map((module): [Module, string] => {
    const { Dir, Sum, Error: reason } = results.find(({ Path }) => Path === module.path) ?? {};
    const name = `${module.path}@${module.version}`;
    if (Dir === undefined) throw new NoModules(`Cannot fetch "${name}": ${reason ?? "go did not report it"}`);
    if (Sum !== module.sum) {
      throw new Error(`Cannot use "${name}": its content has the sum "${Sum}", expected "${module.sum}"`);
    }
    return [module, Dir];
  });
  return new Map(folders);
}

async function download(modules: readonly Module[], go: string): Promise<Downloaded[]> {
  // A go.mod in the working folder or above it would change the result.
  const cwd = await Deno.makeTempDir();
  try {
    const { stdout, stderr } = await new Deno.Command(go, {
      args: ["mod", "download", "-json", ...modules.map(({ path, version }) => `${path}@${version}`)],
      cwd,
      // The expected checksums are known, so Go need not query the checksum database.
      env: { GOFLAGS: "-mod=mod", GOSUMDB: "off", GOWORK: "off" },
      stdin: "null",
    }).output();
    const [text, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)) as [string, string];
    // The output is a sequence of JSON objects, each on several lines.
    const results = text.split(/^(?=\{$)/m).filter((each) => each.trim() !== "");
    if (results.length === 0) throw new NoModules(`Cannot fetch modules: ${errors.trim()}`);
    return results.map((each) => JSON.parse(each));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new NoModules(`Cannot fetch modules: "${go}" is not installed. Install Go 1.26`);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}
