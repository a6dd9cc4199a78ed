/**
 * Exit codes of `op`. Scripts and CI depend on the numbers.
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
  /** The command succeeded. */
  done: 0,
  /** The command failed. The last line of standard error has the reason and what to do. */
  failed: 1,
  /** The command line is wrong. The command did not run. */
  usage: 2,
  /** Ctrl-C: 128 plus the number of SIGINT, as in shells. */
  interrupted: 130,
  /** SIGTERM: 128 plus its number. */
  terminated: 143,
  /** The reader of standard output has exited, as `head` does: 128 plus the number of SIGPIPE. */
  unread: 141,
} as const;

/** Failures that code recognizes. */
export type FailureCode = "ProgramNotFound" | "BundleFailed";

/** Options of {@linkcode Failure}. */
export interface FailureOptions extends ErrorOptions {
  /** Identifies the failure for callers that handle it. */
  readonly code?: FailureCode;
}

/** Thrown if a command fails. The message is for the user, who sees it without a stack trace. */
export class Failure extends Error {
  override name = "Failure";
  /** Identifies failures that callers handle. */
  readonly code: FailureCode | undefined;

  /**
   * @param message The message for the user.
   * @param options The code and the cause.
   */
  constructor(message: string, { code, ...options }: FailureOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** Thrown if a value on the command line is wrong. The command did not run. */
export class UsageError extends Error {
  override name = "UsageError";
}

/**
 * Thrown if a child process was stopped by Ctrl-C or SIGTERM, which `op` receives too. `op` then
 * prints no message.
 */
export class Interrupted extends Error {
  override name = "Interrupted";

  /** @param code The exit code of `op`. */
  constructor(readonly code: number) {
    super("Interrupted");
  }
}

/**
 * Throws if a child process was stopped by Ctrl-C or SIGTERM.
 *
 * @param status How the process ended: by the signal, or with the exit code that shells use for it.
 * @throws {Interrupted} If it was stopped.
 */
export function throwIfInterrupted({ signal, code }: Pick<Deno.CommandStatus, "signal" | "code">): void {
  if (signal === "SIGINT" || code === EXIT.interrupted) throw new Interrupted(EXIT.interrupted);
  if (signal === "SIGTERM" || code === EXIT.terminated) throw new Interrupted(EXIT.terminated);
}

/** Thrown if the reader of standard output has exited. It ends the command without a message. */
export class OutputClosed extends Error {
  override name = "OutputClosed";
}

/**
 * Thrown if the operator that `op` started has exited with an error. The operator has logged the
 * error, so `op` prints no message.
 */
export class OperatorEnded extends Error {
  override name = "OperatorEnded";

  /** @param code The operator's exit code. */
  constructor(readonly code: number) {
    super(`The operator exited with code ${code}`);
  }
}

/**
 * Returns the exit code for an error that needs no message, because a child process has reported it
 * or the reader of the output has exited.
 *
 * @param error The error. Its causes are examined too.
 * @returns The exit code, or `undefined` if the error must be printed.
 */
export function silentExitCode(error: unknown): number | undefined {
  if (error instanceof Interrupted || error instanceof OperatorEnded) return error.code;
  if (error instanceof OutputClosed) return EXIT.unread;
  return error instanceof Error ? silentExitCode(error.cause) : undefined;
}
