/**
 * Prometheus from the Debian package. It is installed on the machine, or unpacked into `.cache`, so
 * that Debian starts no service.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { freePort } from "../fixtures/build_operator.ts";
import { eventually } from "../eventually.ts";

const CACHE = fileURLToPath(new URL("../../.cache/debian/prometheus/", import.meta.url));

/** Returns the folder of `prometheus` and `promtool`, or `undefined` if they are not available. */
async function findPrograms(): Promise<string | undefined> {
  if (await isAvailable("promtool") && await isAvailable("prometheus")) return "";
  const unpacked = `${CACHE}usr/bin/`;
  if (await isAvailable(`${unpacked}promtool`)) return unpacked;
  if (!await isAvailable("apt-get") || !await isAvailable("dpkg-deb")) return undefined;
  // Unpacks in a temporary folder and moves the result, so that the cache is never incomplete.
  await Deno.mkdir(fileURLToPath(new URL("../", `file://${CACHE}`)), { recursive: true });
  const temporary = await Deno.makeTempDir({ dir: fileURLToPath(new URL("../", `file://${CACHE}`)) });
  try {
    const download = () =>
      output("apt-get", ["download", "-o", "APT::Sandbox::User=root", "prometheus"], { cwd: temporary });
    if (!(await download()).success) {
      await output("apt-get", ["update"]);
      if (!(await download()).success) return undefined;
    }
    const [file] = [...Deno.readDirSync(temporary)].filter(({ name }) => name.endsWith(".deb"));
    const extracted = await output("dpkg-deb", ["--extract", `${temporary}/${file?.name}`, `${temporary}/all`]);
    assert(extracted.success, extracted.text);
    await Deno.rename(`${temporary}/all`, CACHE);
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
  return unpacked;
}

const PROGRAM_FOLDER = await findPrograms();
if (PROGRAM_FOLDER === undefined && Deno.env.get("CI") !== "true") {
  console.log("\n!!! SKIPPED tests with Prometheus: it is not installed. Run: apt-get install prometheus\n");
}

/** Options of tests that need Prometheus: they are skipped without it, except in CI. */
export const NEEDS_PROMETHEUS: { readonly ignore: boolean } = {
  ignore: PROGRAM_FOLDER === undefined && Deno.env.get("CI") !== "true",
};

/**
 * Runs promtool.
 *
 * @param args Its arguments.
 * @param stdin Its standard input.
 */
export async function promtool(
  args: readonly string[],
  stdin = "",
): Promise<{ readonly success: boolean; readonly text: string }> {
  return await output(`${PROGRAM_FOLDER}promtool`, args, { stdin });
}

/** A running Prometheus. */
export interface RunningPrometheus extends AsyncDisposable {
  /** Returns the data at a path below `/api/v1/` of its API. */
  get<T>(path: string, query?: Readonly<Record<string, string>>): Promise<T>;
}

/**
 * Starts a Prometheus.
 *
 * @param config Its configuration, as YAML.
 */
export async function startPrometheus(config: string): Promise<RunningPrometheus> {
  const folder = await Deno.makeTempDir({ prefix: "prometheus-" });
  await Deno.writeTextFile(`${folder}/prometheus.yml`, config);
  const address = `127.0.0.1:${freePort()}`;
  const process = new Deno.Command(`${PROGRAM_FOLDER}prometheus`, {
    args: [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const get = async <T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> => {
    const response = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(query)}`);
    const { status, data, error } = await response.json();
    assert.equal(status, "success", `${path} ${JSON.stringify(query)}: ${error}`);
    return data;
  };
  await eventually(() => get("status/buildinfo"));
  return {
    get,
    async [Symbol.asyncDispose]() {
      process.kill("SIGKILL");
      await process.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function isAvailable(program: string): Promise<boolean> {
  return (await output(program, ["--version"])).success;
}

async function output(
  program: string,
  args: readonly string[],
  { cwd, stdin = "" }: { readonly cwd?: string; readonly stdin?: string } = {},
): Promise<{ readonly success: boolean; readonly text: string }> {
  try {
    const process = new Deno.Command(program, {
      args: [...args],
      ...(cwd === undefined ? {} : { cwd }),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writing = new Blob([stdin]).stream().pipeTo(process.stdin).catch(() => {});
    const [{ success, stdout, stderr }] = await Promise.all([process.output(), writing]);
    const decoder = new TextDecoder();
    return { success, text: decoder.decode(stdout) + decoder.decode(stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { success: false, text: `"${program}" is not installed` };
    throw error;
  }
}
