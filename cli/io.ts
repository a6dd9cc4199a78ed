/** The terminal and the shell that commands use. Tests pass their own. */
import { EXIT, OutputClosed } from "./exit_code.ts";

/** The terminal and the shell around a command. */
export interface Io {
  /** Writes to standard output as is, without adding a line end. */
  out(text: string): void;
  /** Writes to standard error as is. */
  err(text: string): void;
  /** The absolute path that relative paths are resolved against. */
  readonly cwd: string;
  /** Returns an environment variable, or `undefined` if it is not set. */
  env(name: string): string | undefined;
  /** Aborted when a long-running command should end. @default {SIGINT and SIGTERM end it} */
  readonly stop?: AbortSignal;
  /**
   * Whether this is the process's own terminal, which child processes may inherit. @default {false}
   */
  readonly isProcess?: boolean;
  /** Returns whether a stream is a terminal. @default {no stream is} */
  isTerminal?(stream: "in" | "out" | "err"): boolean;
  /**
   * Asks the user; returns `undefined` at the end of the input. @default {questions are not
   * possible}
   */
  ask?(question: string, preset: string): string | undefined;
  /**
   * Registers a function that runs if the command is interrupted, before it exits. Dispose of the
   * result to unregister it.
   */
  onInterrupt?(undo: () => void): Disposable;
}

/** The process's own terminal and shell. */
export const systemIo: Io = {
  out: writeOut,
  err: writeErr,
  get cwd(): string {
    return Deno.cwd();
  },
  env: (name) => Deno.env.get(name),
  isProcess: true,
  isTerminal: (stream) => ({ in: Deno.stdin, out: Deno.stdout, err: Deno.stderr })[stream].isTerminal(),
  ask,
  onInterrupt,
};

/**
 * Returns an {@linkcode Io} for work inside a command that handles interruptions itself, so that
 * the work registers no functions for them.
 *
 * @param io The terminal and the shell.
 */
export function withoutInterrupts(io: Io): Io {
  return Object.create(io, { onInterrupt: { value: undefined } });
}

/** Shows the default in the question. `prompt` of some Deno versions shows it as editable text. */
function ask(question: string, preset: string): string | undefined {
  const reply = prompt(`${question} [${preset}]`);
  return reply === "" ? preset : reply ?? undefined;
}

/**
 * Functions to call when the process is interrupted, in reverse order. The list is global, because
 * signals concern the whole process.
 */
const interruptHandlers: (() => void)[] = [];

/**
 * Exits immediately. Code that runs after the cleanup could create the files again, or fail because
 * they are missing.
 */
function interruptedBy(code: number): () => void {
  return () => {
    try {
      for (const undo of interruptHandlers.toReversed()) undo();
    } finally {
      Deno.exit(code);
    }
  };
}

const INTERRUPTS = [
  ["SIGINT", interruptedBy(EXIT.interrupted)],
  ["SIGTERM", interruptedBy(EXIT.terminated)],
] as const;

function onInterrupt(undo: () => void): Disposable {
  if (interruptHandlers.push(undo) === 1) INTERRUPTS.forEach(([signal, end]) => Deno.addSignalListener(signal, end));
  return {
    [Symbol.dispose]() {
      const index = interruptHandlers.indexOf(undo);
      if (index === -1) return;
      interruptHandlers.splice(index, 1);
      if (interruptHandlers.length === 0) INTERRUPTS.forEach(([signal, end]) => Deno.removeSignalListener(signal, end));
    },
  };
}

function writeOut(text: string): void {
  try {
    write(Deno.stdout, text);
  } catch (error) {
    throw error instanceof Deno.errors.BrokenPipe ? new OutputClosed("Standard output is closed") : error;
  }
}

/**
 * Writes to standard error. If it is closed, the error is ignored, because it cannot be reported.
 */
function writeErr(text: string): void {
  try {
    write(Deno.stderr, text);
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

// A pipe may accept only a part of the bytes at once.
function write(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}
