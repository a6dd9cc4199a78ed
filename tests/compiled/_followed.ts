/** A process that logs to standard error, a JSON object a line, and what a test wants of it. */
import { systemClock } from "../../src/base/clock.ts";
import { HANG_LIMIT } from "../eventually.ts";

/** A running operator. */
export interface OperatorProcess extends AsyncDisposable {
  readonly pid: number;
  /** The lines of its log so far. */
  readonly log: Record<string, unknown>[];
  /** Whether it has ended, and {@linkcode log} is whole. */
  readonly hasEnded: boolean;
  /** Settles when a line of the log passes. Fails with the log when the process ends first. */
  logged(passes: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Sends a signal and answers the exit code. */
  stop(signal: Deno.Signal): Promise<number>;
}

/** What belongs to a process. */
export interface FollowOptions {
  /** The process that is meant: the one that was started, or one that it started. */
  pid(): Promise<number>;
  /** Gives back what it used, after its end. */
  dispose(): Promise<void>;
}

/**
 * Follows a process.
 *
 * @param process It, with its standard error piped.
 * @param options What belongs to it.
 */
export async function followed(process: Deno.ChildProcess, options: FollowOptions): Promise<OperatorProcess> {
  const log: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;
  const reading = (async () => {
    let rest = "";
    for await (const text of process.stderr.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) log.push(parse(line));
      for (const look of waiting) look();
    }
    isOver = true;
    for (const look of waiting) look();
  })();
  const told = () => log.map((line) => JSON.stringify(line)).join("\n");
  const pid = await options.pid();
  return {
    pid,
    log,
    get hasEnded(): boolean {
      return isOver;
    },
    logged(passes) {
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
      const look = (): void => {
        const found = log.find(passes);
        if (found !== undefined) resolve(found);
        else if (isOver) reject(new Error(`The operator ended before it logged that:\n${told()}`));
        else return;
        waiting.delete(look);
      };
      waiting.add(look);
      look();
      const late = systemClock.after(HANG_LIMIT, () => {
        waiting.delete(look);
        reject(new Error(`The operator did not log that:\n${told()}`));
      });
      return promise.finally(() => late[Symbol.dispose]());
    },
    async stop(signal) {
      Deno.kill(pid, signal);
      const { code } = await process.status;
      await reading;
      return code;
    },
    async [Symbol.asyncDispose]() {
      // Both: a process that changed its user is not taken along by the end of the one that started it.
      for (const kill of [() => Deno.kill(pid, "SIGKILL"), () => process.kill("SIGKILL")]) {
        try {
          if (!isOver) kill();
        } catch { /* it has ended */ }
      }
      await process.status;
      await reading;
      await options.dispose();
    },
  };
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line };
  }
}
