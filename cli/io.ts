/** What a command sees of the world outside, so that tests can stand in for it. */

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
}

/** The process's own terminal and shell. */
export const systemIo: Io = {
  out: (text) => write(Deno.stdout, text),
  err: (text) => write(Deno.stderr, text),
  get cwd(): string {
    return Deno.cwd();
  },
  env: (name) => Deno.env.get(name),
};

// A pipe may take only part of what is written at once.
function write(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}
