/**
 * Installs the Python packages of `kopf/requirements.txt` once with pip, which checks their hashes.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";

const REQUIREMENTS = fileURLToPath(new URL("./kopf/requirements.txt", import.meta.url));
const CACHE = fileURLToPath(new URL("../../.cache/clients/", import.meta.url));

/**
 * Returns a folder with the packages, for PYTHONPATH.
 *
 * @throws {Error} If they cannot be installed. The message has the output of pip or Python.
 */
export async function pythonPackages(): Promise<string> {
  const version = await python(["-c", "import platform; print(platform.platform(), platform.python_version())"]);
  const text = await Deno.readTextFile(REQUIREMENTS);
  const key = createHash("sha256").update(version).update(text).digest("hex").slice(0, 16);
  const path = `${CACHE}python-${key}`;
  if (await isThere(path)) return path;
  await Deno.mkdir(CACHE, { recursive: true });
  const folder = await Deno.makeTempDir({ dir: CACHE, prefix: "fetching-" });
  try {
    const pip = await somePip(folder);
    const args = ["install", "--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes"];
    await run(pip[0], [...pip.slice(1), ...args, "--target", `${folder}/packages`, "-r", REQUIREMENTS]);
    await Deno.rename(`${folder}/packages`, path);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  return path;
}

/**
 * Returns the command of pip: Python's own, or that of a virtual environment if Python has none.
 */
async function somePip(folder: string): Promise<readonly [string, ...string[]]> {
  try {
    await python(["-m", "pip", "--version"]);
    return ["python3", "-m", "pip"];
  } catch {
    await python(["-m", "venv", `${folder}/venv`]);
    return [`${folder}/venv/bin/python`, "-m", "pip"];
  }
}

function python(args: readonly string[]): Promise<string> {
  return run("python3", args);
}

async function run(command: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], stdin: "null" }).output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  throw new Error(`Cannot fetch Python packages: "${command} ${args[0]} ${args[1]}" failed: ${decoder.decode(stderr)}`);
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
