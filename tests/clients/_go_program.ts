/** Builds the program in `go/`, again only if its sources or the version of Go change. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("./go/", import.meta.url));
const CACHE = fileURLToPath(new URL("../../.cache/clients/", import.meta.url));

/**
 * Returns the path of the program.
 *
 * @throws {Error} If it cannot be built. The message has Go's output.
 */
export async function goProgram(): Promise<string> {
  const path = `${CACHE}go-${await fingerprint()}`;
  if (await isThere(path)) return path;
  await Deno.mkdir(CACHE, { recursive: true });
  // Built in another place and then renamed: an interrupted build leaves no incomplete program.
  const folder = await Deno.makeTempDir({ dir: CACHE, prefix: "building-" });
  try {
    // With the same flags as the control plane, so that common packages are built once.
    await go(["build", "-trimpath", "-ldflags", "-s -w", "-o", `${folder}/clients`, "."]);
    await Deno.rename(`${folder}/clients`, path);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  return path;
}

/** Returns a hash of the program's sources and of the version of Go. */
async function fingerprint(): Promise<string> {
  const hash = createHash("sha256").update(await go(["env", "GOVERSION", "GOOS", "GOARCH"]));
  const names = [...Deno.readDirSync(SOURCES)].map(({ name }) => name).sort();
  for (const name of names) hash.update(`\0${name}\0`).update(await Deno.readFile(`${SOURCES}${name}`));
  return hash.digest("hex").slice(0, 16);
}

async function go(args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("go", { args: [...args], cwd: SOURCES, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  throw new Error(`Cannot build the Go clients: "go ${args[0]}" failed: ${decoder.decode(stderr).trim()}`);
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
