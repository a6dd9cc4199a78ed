/** What a command sees of the world outside, so that tests can stand in for it. */
import { EXIT, ReaderGone } from "./exit_code.ts";

/** The terminal and the shell around a command. */
export interface Io {
  /** Writes to standard output, as it is: no line end is added. */
  out(text: string): void;
  /** Writes to standard error, as it is. */
  err(text: string): void;
  /** The folder that relative paths start from, absolute. */
  readonly cwd: string;
  /** An environment variable; nothing when it is not set. */
  env(name: string): string | undefined;
  /** Aborted when a command that goes on by itself is to end. @default {SIGINT and SIGTERM end it} */
  readonly stop?: AbortSignal;
  /** Whether it is the process's own, so that programs that are started may have it as theirs. @default {false} */
  readonly isProcess?: boolean;
  /** Whether a person reads what is written there, or types. @default {nobody does} */
  isTerminal?(stream: "in" | "out" | "err"): boolean;
  /** Asks the person who types. Nothing is answered where he has no more to say. @default {nobody is there to be asked} */
  ask?(question: string, preset: string): string | undefined;
  /** Has something done when the command is interrupted, before it ends by that. Disposing of the answer takes it back. */
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
 * The same, for work within a command that hears interruptions itself: nothing is undone by them there but by its end.
 *
 * @param io The terminal and the shell.
 */
export function hearing(io: Io): Io {
  return Object.create(io, { onInterrupt: { value: undefined } });
}

/** The preset is shown, not typed ahead, as some versions of `prompt` do: an answer is typed without deleting it first. */
function ask(question: string, preset: string): string | undefined {
  const said = prompt(`${question} [${preset}]`);
  return said === "" ? preset : said ?? undefined;
}

/** What is undone before the end, the last first. */
const undoing: (() => void)[] = [];

/** Ends at once: what goes on while a signal is on its way would make again what was undone, or fail because of it. */
function interruptedBy(code: number): () => void {
  return () => {
    try {
      for (const undo of undoing.toReversed()) undo();
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
  if (undoing.push(undo) === 1) INTERRUPTS.forEach(([signal, end]) => Deno.addSignalListener(signal, end));
  return {
    [Symbol.dispose]() {
      const place = undoing.indexOf(undo);
      if (place === -1) return;
      undoing.splice(place, 1);
      if (undoing.length === 0) INTERRUPTS.forEach(([signal, end]) => Deno.removeSignalListener(signal, end));
    },
  };
}

function writeOut(text: string): void {
  try {
    write(Deno.stdout, text);
  } catch (error) {
    throw error instanceof Deno.errors.BrokenPipe ? new ReaderGone("Nobody reads the output any more") : error;
  }
}

/** Where nobody reads what went wrong, there is nobody to be told that either. */
function writeErr(text: string): void {
  try {
    write(Deno.stderr, text);
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

// A pipe may take only part of what is written at once.
function write(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}
