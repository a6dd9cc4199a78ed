/** An operator's program as a person starts it on a laptop, or as it runs in a pod: a process with an empty environment and a home folder of its own. */
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import type { Place } from "./_as_pod.ts";
import { HANG_LIMIT } from "../eventually.ts";

const ROOT = new URL("../../", import.meta.url);
const POD_MACHINE = fileURLToPath(new URL("_pod_machine.ts", import.meta.url));
const EXAMPLE = fileURLToPath(new URL("examples/01_website/main.ts", ROOT));

/** Options of {@linkcode runOperator} and {@linkcode startOperator}. */
export interface CommandOptions {
  /** Its home folder, and the folder in which it is started. */
  readonly home: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The main module. @default {the website example's} */
  readonly main?: string;
  /** Where it is in a pod. @default {it is in none} */
  readonly pod?: Place;
  /** Deno's permissions. @default {all} */
  readonly permissions?: readonly string[];
}

/** What a program left. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an operator's program to its end. */
export async function runOperator(options: CommandOptions): Promise<Ended> {
  const { code, stdout, stderr } = await (await command(options)).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** A line of the log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** An operator that runs. Disposing of it kills it. */
export interface OperatorCommand extends AsyncDisposable {
  /** All that it wrote so far. */
  readonly text: string;
  /**
   * Settles with the first line that passes and that no earlier call returned. Lines of different sources have no order, so
   * calls may wait for them in any order. Fails with the log when the process ends first.
   */
  logged(passes: (line: LogLine) => boolean): Promise<LogLine>;
  /** Sends it a signal. */
  signal(signal: Deno.Signal): void;
  /** Settles with the exit code. */
  readonly ended: Promise<number>;
  /** Ends it by SIGTERM and answers the exit code. */
  stop(): Promise<number>;
}

/** Starts an operator's program. */
export async function startOperator(options: CommandOptions): Promise<OperatorCommand> {
  const process = (await command(options)).spawn();
  const lines = process.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let parsedTo = 0;
  const unreturned: LogLine[] = [];
  let next = Promise.withResolvers<void>();
  let isOver = false;
  const reading = (async () => {
    for (let chunk = await lines.read(); !chunk.done; chunk = await lines.read()) {
      text += chunk.value;
      for (let end = text.indexOf("\n", parsedTo); end !== -1; end = text.indexOf("\n", parsedTo)) {
        unreturned.push(parsed(text.slice(parsedTo, end)));
        parsedTo = end + 1;
      }
      next.resolve();
      next = Promise.withResolvers();
    }
    isOver = true;
    next.resolve();
  })();
  return {
    get text() {
      return text;
    },
    async logged(passes) {
      const late = Promise.withResolvers<never>();
      using _limit = systemClock.after(
        HANG_LIMIT,
        () => late.reject(new Error(`The operator did not log that:\n${text}`)),
      );
      while (true) {
        const found = unreturned.findIndex(passes);
        if (found !== -1) return unreturned.splice(found, 1)[0]!;
        if (isOver) throw new Error(`The operator ended before it logged that:\n${text}`);
        await Promise.race([next.promise, late.promise]);
      }
    },
    signal: (signal) => process.kill(signal),
    ended: process.status.then(({ code }) => code),
    async stop() {
      process.kill("SIGTERM");
      return (await process.status).code;
    },
    async [Symbol.asyncDispose]() {
      try {
        process.kill("SIGKILL");
      } catch { /* it has ended */ }
      await process.status;
      await process.stdout.cancel();
      await reading;
    },
  };
}

async function command({ home, args = [], env = {}, main = EXAMPLE, pod, permissions = ["-A"] }: CommandOptions) {
  const config = fileURLToPath(new URL("deno.json", ROOT));
  const first = pod === undefined ? [] : [`--preload=${POD_MACHINE}`];
  const inPod = pod === undefined
    ? {}
    : { TEST_POD: JSON.stringify(pod), KUBERNETES_SERVICE_PORT: new URL(pod.url).port };
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--cached-only", "--no-lock", `--config=${config}`, ...first, ...permissions, main, ...args],
    cwd: home,
    clearEnv: true,
    env: { HOME: home, DENO_DIR: await denoFolder(), NO_COLOR: "1", ...inPod, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Where Deno keeps packages: with another home it would fetch them anew. */
async function denoFolder(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stderr: "null" }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

function parsed(line: string): LogLine {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line };
  }
}
