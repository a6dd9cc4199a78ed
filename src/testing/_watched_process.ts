/**
 * A program that does not outlive the process that started it, however that one ends. Between the two stands a small shell: it holds the reading
 * end of a pipe whose writing end only our process has. When our process is gone (SIGKILL included) the pipe ends, and the shell kills the program.
 */

/** A program under watch. */
export interface WatchedProcess {
  /** Of the program itself, not of the shell that watches it. */
  readonly pid: number;
  /** Settles with the exit code once the program has ended; a signal counts as 128 and its number. */
  readonly ended: Promise<number>;
  readonly running: boolean;
  /** Asks the program to end, and waits until it has. Does nothing when it has ended already. */
  stop(signal: Deno.Signal): Promise<void>;
}

// Standard input of what a shell starts in the background is /dev/null, so the pipe is kept as descriptor 3. The program does not get it.
// What watches must outlive a signal that goes to the whole process group, as Ctrl-C does.
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

// The folder may be written to until the last program is gone, which makes rm fail.
const CLEAR = `
trap "" HUP INT TERM
while read -r line; do :; done
tries=0
until rm -rf "$1" || [ $tries -ge 100 ]; do tries=$((tries + 1)); sleep 0.05; done
`;

/** Options for {@linkcode startWatched}. */
export interface WatchedProcessOptions {
  readonly args: readonly string[];
  /** File to which standard output and error are added. */
  readonly log: string;
  readonly env?: Record<string, string>;
}

/**
 * Starts a program that ends when this process does.
 *
 * @param path The program.
 * @param options Its arguments and its log.
 */
export async function startWatched(path: string, options: WatchedProcessOptions): Promise<WatchedProcess> {
  const shell = new Deno.Command("/bin/sh", {
    args: ["-c", WATCH, "sh", options.log, path, ...options.args],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
    ...(options.env === undefined ? {} : { env: options.env }),
  }).spawn();
  // Read to its end: the shell closes it after the one line.
  const pid = Number((await new Response(shell.stdout).text()).trim());
  if (!Number.isInteger(pid) || pid <= 0) {
    throw new Error(`Cannot start "${path}": the shell did not tell its process id`);
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

/** A folder for temporary files that is removed when it is disposed of, or when this process ends, however it does. */
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
