/** Runs the commands of the lanes. Their output goes straight through; what comes back is only what is counted. */
import { join } from "node:path";
import { check, NOTHING, readJunit, type Result, total } from "./report.ts";

/** Options for {@linkcode runCheck} and {@linkcode runTests}. */
export interface RunOptions {
  /** Which Deno. @default {the one that runs this} */
  readonly deno?: string;
  /** Where it runs. @default {the root of the repository} */
  readonly cwd?: string | URL;
  /** Variables to add to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Settles when the run exceeds its limit: it is stopped and counts as failed. @default {after 60 minutes} */
  readonly tooLong?: Promise<unknown>;
}

/** The root of the repository, with a slash at its end. */
export const ROOT: URL = new URL("../../", import.meta.url);

// Guards against hangs only. The slowest lane takes about ten minutes on two quiet cores, and a busy machine must not reach the limit.
const MINUTES = 60;
/** How long a run may take to tell what it was at, in milliseconds. */
const LAST_WORDS = 10_000;

/**
 * Runs Deno as a check that counts as one.
 *
 * @param name What is checked, in a word or two.
 * @param args Arguments of `deno`.
 * @param options Additional options.
 */
export async function runCheck(name: string, args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const { code, text, late } = await spawn(args, options);
  return check(name, code === 0 && late === undefined, late ?? `"${text}" ended with exit code ${code}`);
}

/**
 * Runs `deno test` and counts its tests. Those that go on when it has taken too long have failed, by their names and files.
 *
 * @param name What is tested, in a word or two.
 * @param args Arguments of `deno test`.
 * @param options Additional options.
 */
export async function runTests(name: string, args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const folder = await Deno.makeTempDir();
  const report = join(folder, "report.xml");
  try {
    const { code, late } = await spawn(["test", "--allow-all", `--junit-path=${report}`, ...args], options);
    const result = readJunit(await textOf(report), code === 0 && late === undefined, name);
    return late === undefined ? result : total([result, check(name, false, late)]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A lane that could not run: loud, counted, and a failure where nobody looks, which is CI. */
export function skip(name: string, why: string): Result {
  console.log(`\n!!! SKIPPED ${name}: ${why}\n`);
  if (Deno.env.get("CI") === "true") return check(name, false, `${why}; in CI nothing may be left out`);
  return { ...NOTHING, skipped: 1 };
}

/** Whether there is a command, and it runs. */
export async function runs(command: string, args: readonly string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(command, { args: [...args], stdout: "null", stderr: "null" }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Whether a file or folder is there. */
export function exists(url: URL): boolean {
  try {
    Deno.statSync(url);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function spawn(
  args: readonly string[],
  options: RunOptions,
): Promise<{ readonly code: number; readonly text: string; readonly late: string | undefined }> {
  const { deno = Deno.execPath(), cwd = ROOT, env = {} } = options;
  const process = new Deno.Command(deno, { args: [...args], cwd, env, stdin: "null" }).spawn();
  const timers: ReturnType<typeof setTimeout>[] = [];
  let isOver = false;
  const tooLong = options.tooLong ?? new Promise((resolve) => timers.push(setTimeout(resolve, MINUTES * 60_000)));
  let late: string | undefined;
  tooLong.then(() => {
    if (isOver) return;
    late = `the run was stopped after ${MINUTES} minutes`;
    // At this one a run of tests names those that go on; what they started ends with them.
    process.kill("SIGINT");
    timers.push(setTimeout(() => process.kill("SIGKILL"), LAST_WORDS));
  });
  try {
    const { code } = await process.status;
    return { code, text: `deno ${args.join(" ")}`, late };
  } finally {
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
