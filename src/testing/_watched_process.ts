/**
 * Starts programs that end when this process ends, even by SIGKILL.
 *
 * A small shell script starts the program and reads from a pipe. Only this process has the writing
 * end of the pipe. When this process ends, the pipe is closed, and the script kills the program.
 */

/** A program that ends with this process. */
export interface WatchedProcess {
  /** Process id of the program, not of the shell. */
  readonly pid: number;
  /**
   * Resolves with the exit code: 128 plus the number of the signal if a signal ended the program.
   */
  readonly ended: Promise<number>;
  /** Whether the program is running. */
  readonly running: boolean;
  /** Sends a signal and waits until the program has ended. Does nothing if it has ended already. */
  stop(signal: Deno.Signal): Promise<void>;
}

// A shell gives /dev/null as standard input to background processes, so the pipe is descriptor 3,
// which the program does not inherit. The watching subshell ignores signals to the process group,
// such as that of Ctrl-C.
const WATCH = `
log=$1; shift
exec 3<&0
"$@" </dev/null 3<&- >>"$log" 2>&1 &
program=$!
( trap "" HUP INT TERM; exec >/dev/null; while read -r line; do :; done <&3; kill -KILL $program ) 2>/dev/null &
watch=$!
exec 3<&-
echo $program
exec >/dev/null
wait $program
code=$?
kill -KILL $watch 2>/dev/null
exit $code
`;

// Programs may write to the folder until they end, which makes rm fail.
const CLEAR = `
trap "" HUP INT TERM
while read -r line; do :; done
tries=0
until rm -rf "$1" || [ $tries -ge 100 ]; do tries=$((tries + 1)); sleep 0.05; done
`;

/** Options for {@linkcode startWatched}. */
export interface WatchedProcessOptions {
  /** Arguments of the program. */
  readonly args: readonly string[];
  /** File to which standard output and standard error are appended. */
  readonly log: string;
  /** Environment variables to add. */
  readonly env?: Record<string, string>;
}

/**
 * Starts a program that ends when this process does.
 *
 * @param path The program.
 * @param options Arguments, log and environment.
 */
export async function startWatched(path: string, options: WatchedProcessOptions): Promise<WatchedProcess> {
  const shell = new Deno.Command("/bin/sh", {
    args: ["-c", WATCH, "sh", options.log, path, ...options.args],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
    ...(options.env === undefined ? {} : { env: options.env }),
  }).spawn();
  // The shell closes its standard output after one line.
  const pid = Number((await new Response(shell.stdout).text()).trim());
  if (!Number.isInteger(pid) || pid <= 0) {
    throw new Error(`Cannot start "${path}": the shell printed no process id`);
  }
  let running = true;
  const ended = shell.status.then(async ({ code }) => {
    running = false;
    await shell.stdin.close().catch(() => {});
    return code;
  });
  return {
    pid,
    ended,
    get running() {
      return running;
    },
    async stop(signal) {
      if (running) {
        try {
          Deno.kill(pid, signal);
        } catch (error) {
          if (!(error instanceof Deno.errors.NotFound)) throw error;
        }
      }
      await ended;
    },
  };
}

/** Creates a temporary folder. It is removed when it is disposed of, or when this process ends. */
export async function watchedFolder(prefix: string): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.makeTempDir({ prefix });
  const shell = new Deno.Command("/bin/sh", {
    args: ["-c", CLEAR, "sh", path],
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    path,
    async [Symbol.asyncDispose]() {
      await shell.stdin.close().catch(() => {});
      await shell.status;
    },
  };
}
