/**
 * How `op` ends. The numbers are a contract: scripts and CI read them.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { cli } from "./cli.ts";
 *
 * const io = { out: () => {}, err: () => {}, cwd: "/", env: () => undefined };
 * assert.equal(await cli(["crd", "--no-such-option"], io), EXIT.usage);
 * ```
 */
export const EXIT = {
  /** All was done. */
  done: 0,
  /** Something could not be done; the last line of standard error says what and what to do. */
  failed: 1,
  /** The command line was wrong; nothing was done. */
  usage: 2,
  /** Ctrl-C, as shells have it: 128 and the number of SIGINT. */
  interrupted: 130,
  /** SIGTERM, likewise. */
  terminated: 143,
  /** Nobody reads the output any more, as behind `head`: 128 and the number of SIGPIPE. */
  unread: 141,
} as const;

/** Says why a command could not be carried out, in words for whoever typed it. It is told without a stack trace. */
export class Failure extends Error {
  override name = "Failure";
}

/** A value on the command line is wrong: nothing was done. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** A program that was started was stopped by Ctrl-C, or by SIGTERM, which `op` is about to hear of itself: nothing is left to say. */
export class Interrupted extends Error {
  override name = "Interrupted";

  /** @param code How `op` ends, as shells have it. */
  constructor(readonly code: number) {
    super("Interrupted");
  }
}

/**
 * Ends like a program that was stopped, if it was.
 *
 * @param status How it ended: by the signal, or by the code that shells have for it.
 * @throws {Interrupted} If it was.
 */
export function throwIfInterrupted({ signal, code }: Pick<Deno.CommandStatus, "signal" | "code">): void {
  if (signal === "SIGINT" || code === EXIT.interrupted) throw new Interrupted(EXIT.interrupted);
  if (signal === "SIGTERM" || code === EXIT.terminated) throw new Interrupted(EXIT.terminated);
}

/** Whoever read the output has ended, and that is the end of the command: nothing is left to say. */
export class ReaderGone extends Error {
  override name = "ReaderGone";
}

/** The operator that was started ended otherwise than well, and has told why: nothing is left to say. */
export class OperatorEnded extends Error {
  override name = "OperatorEnded";

  /** @param code Its exit code. */
  constructor(readonly code: number) {
    super(`The operator ended with ${code}`);
  }
}

/**
 * How `op` ends where nothing is left to say: what was started or read has ended, and has said why, or need not.
 *
 * @param error What was thrown, or what a command made of it in its own words.
 * @returns The exit code; nothing where there is something to say.
 */
export function silentEnd(error: unknown): number | undefined {
  if (error instanceof Interrupted || error instanceof OperatorEnded) return error.code;
  if (error instanceof ReaderGone) return EXIT.unread;
  return error instanceof Error ? silentEnd(error.cause) : undefined;
}
