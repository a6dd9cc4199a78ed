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
  /** How many minutes it may take: what is longer is ended, and has failed. @default {20} */
  readonly minutes?: number;
  /** Settles when it has taken too long, for tests. @default {after `minutes`} */
  readonly tooLong?: Promise<unknown>;
}

/** The root of the repository, with a slash at its end. */
export const ROOT: URL = new URL("../../", import.meta.url);

// Some times what the slowest takes on two cores: a lane that hangs must end while there is still time to say which one it was.
const MINUTES = 20;
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
  const { deno = Deno.execPath(), cwd = ROOT, env = {}, minutes = MINUTES } = options;
  const process = new Deno.Command(deno, { args: [...args], cwd, env, stdin: "null" }).spawn();
  const timers: ReturnType<typeof setTimeout>[] = [];
  let isOver = false;
  const tooLong = options.tooLong ?? new Promise((resolve) => timers.push(setTimeout(resolve, minutes * 60_000)));
  let late: string | undefined;
  tooLong.then(() => {
    if (isOver) return;
    late = `it had not ended after ${minutes} minutes, and was ended`;
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
