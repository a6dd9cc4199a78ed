/** Runs the commands of lanes. Their output is not captured; only the counts are returned. */
import { join } from "node:path";
import { check, EMPTY_RESULT, readJunit, type Result, total } from "./report.ts";

/** Options for {@linkcode runCheck} and {@linkcode runTests}. */
export interface RunOptions {
  /** Path of Deno. @default {the running one} */
  readonly deno?: string;
  /** Working directory. @default {the root of the repository} */
  readonly cwd?: string | URL;
  /** Variables to add to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Settles when the run exceeds its time limit. It is then stopped and counts as failed. @default
   * {after 60 minutes}
   */
  readonly timeLimit?: Promise<unknown>;
}

/** The root of the repository, with a trailing slash. */
export const ROOT: URL = new URL("../../", import.meta.url);

// Ends lanes that hang. The slowest lane takes about ten minutes on two idle cores, and must not
// reach the limit on a busy machine.
const MINUTES = 60;
/** Time for a stopped run to report its pending tests, in milliseconds. */
const REPORT_TIME = 10_000;

/**
 * Runs Deno as a check that counts as one.
 *
 * @param name Short name of the check.
 * @param args Arguments of `deno`.
 * @param options Additional options.
 */
export async function runCheck(name: string, args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const { code, text, timeoutMessage } = await spawn(args, options);
  return check(
    name,
    code === 0 && timeoutMessage === undefined,
    timeoutMessage ?? `"${text}" ended with exit code ${code}`,
  );
}

/**
 * Runs `deno test` and counts its tests. Tests that are pending when it exceeds its time limit have
 * failed, and are reported with their names and files.
 *
 * @param name Short name of the run.
 * @param args Arguments of `deno test`.
 * @param options Additional options.
 */
export async function runTests(name: string, args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const folder = await Deno.makeTempDir();
  const report = join(folder, "report.xml");
  try {
    const { code, timeoutMessage } = await spawn(["test", "--allow-all", `--junit-path=${report}`, ...args], options);
    const result = readJunit(await textOf(report), code === 0 && timeoutMessage === undefined, name);
    return timeoutMessage === undefined ? result : total([result, check(name, false, timeoutMessage)]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Returns the result of a lane that could not run. It is printed and counted, and in CI it is a
 * failure.
 */
export function skip(name: string, reason: string): Result {
  console.log(`\n!!! SKIPPED ${name}: ${reason}\n`);
  if (Deno.env.get("CI") === "true") return check(name, false, `${reason}. In CI, no lane may be skipped`);
  return { ...EMPTY_RESULT, skipped: 1 };
}

/** Returns whether a command exists and succeeds. */
export async function runs(command: string, args: readonly string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(command, { args: [...args], stdout: "null", stderr: "null" }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Returns whether a file or folder exists. */
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
): Promise<{ readonly code: number; readonly text: string; readonly timeoutMessage: string | undefined }> {
  const { deno = Deno.execPath(), cwd = ROOT, env = {} } = options;
  const process = new Deno.Command(deno, { args: [...args], cwd, env, stdin: "null" }).spawn();
  const timers: ReturnType<typeof setTimeout>[] = [];
  let hasEnded = false;
  const timeLimit = options.timeLimit ?? new Promise((resolve) => timers.push(setTimeout(resolve, MINUTES * 60_000)));
  let timeoutMessage: string | undefined;
  timeLimit.then(() => {
    if (hasEnded) return;
    timeoutMessage = `the run was stopped after ${MINUTES} minutes`;
    // On this signal, `deno test` reports its pending tests, and their child processes end.
    process.kill("SIGINT");
    timers.push(setTimeout(() => process.kill("SIGKILL"), REPORT_TIME));
  });
  try {
    const { code } = await process.status;
    return { code, text: `deno ${args.join(" ")}`, timeoutMessage };
  } finally {
    hasEnded = true;
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
