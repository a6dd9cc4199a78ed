/**
 * Checks that the two commands in the README work in a fresh clone: `deno run -A
 * tools/fresh_clone.ts` clones the last commit into a temporary folder and runs both with an empty
 * HOME and empty caches of Deno, npm and Go. It prints the time of each; the exit code is 1 if one
 * fails.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The commands in the README. */
const COMMANDS = [["npx", "-y", "deno@2.9.6", "task", "demo"], ["npx", "-y", "deno@2.9.6", "task", "test"]] as const;

/**
 * Returns the environment of a new user: HOME and the caches are in a new folder, and settings that
 * the tested programs read are removed. Variables that configure access to registries, such as
 * proxies and certificate authorities, stay.
 *
 * @param environment The machine's variables.
 * @param folder The folder for homes and caches.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const variables = { HOME: "/home/me", PATH: "/bin", KUBECONFIG: "/home/me/.kube/config" };
 * const fresh = freshEnvironment(variables, "/tmp/new");
 * assert.equal(fresh.HOME, "/tmp/new/home");
 * assert.equal(fresh.PATH, "/bin");
 * assert.equal(fresh.KUBECONFIG, undefined);
 * ```
 */
export function freshEnvironment(
  environment: Readonly<Record<string, string>>,
  folder: string,
): Record<string, string> {
  const kept = Object.entries(environment).filter(([name]) =>
    !/^(DENORT_BIN|DENO_COMPILER|KUBE.*|XDG_.*|INIT_CWD)$/.test(name)
  );
  return {
    ...Object.fromEntries(kept.filter(([name]) => !name.toLowerCase().startsWith("npm_config_cache"))),
    HOME: join(folder, "home"),
    DENO_DIR: join(folder, "deno"),
    npm_config_cache: join(folder, "npm"),
    GOPATH: join(folder, "go"),
    GOCACHE: join(folder, "go-cache"),
    GOMODCACHE: join(folder, "go-modules"),
    // By default, Go makes its modules read-only, and they could not be removed afterwards.
    GOFLAGS: `${environment.GOFLAGS ?? ""} -modcacherw`.trim(),
  };
}

async function main(): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "fresh-clone-" });
  const clone = join(folder, "clone");
  const env = freshEnvironment(Deno.env.toObject(), folder);
  try {
    await Deno.mkdir(env.HOME!, { recursive: true });
    const repository = fileURLToPath(new URL("../", import.meta.url));
    const cloned = await status(["git", "clone", "--quiet", "--no-hardlinks", repository, clone], folder, env);
    if (cloned !== 0) return 1;
    const lines: string[] = [];
    let failed = 0;
    for (const command of COMMANDS) {
      const start = performance.now();
      const code = await status(command, clone, env);
      if (code !== 0) failed++;
      lines.push(`${((performance.now() - start) / 1000).toFixed(1)} s  exit code ${code}  ${command.join(" ")}`);
    }
    console.log(`\nFrom a fresh clone:\n${lines.join("\n")}`);
    return failed === 0 ? 0 : 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function status(command: readonly string[], cwd: string, env: Record<string, string>): Promise<number> {
  const [program = "", ...args] = command;
  return (await new Deno.Command(program, { args, cwd, env, clearEnv: true, stdin: "null" }).spawn().status).code;
}

if (import.meta.main) Deno.exit(await main());
