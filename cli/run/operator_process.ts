/**
 * Runs an operator from source in a child process, because its file has its own import map, and may
 * run any code.
 */
import { runningDeno, type SourceFile } from "../deno.ts";
import type { Io } from "../io.ts";
import { loading } from "../loading.ts";
import { projectOf } from "../project.ts";

/** A running operator. */
export interface OperatorProcess extends AsyncDisposable {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  /** Sends a signal. */
  signal(signal: Deno.Signal): void;
}

/** Options for {@linkcode startOperatorProcess}. */
export interface OperatorProcessOptions {
  /** Arguments of the operator's `main()`. */
  readonly args: readonly string[];
  readonly isColored: boolean;
  /** A folder for a temporary project, which must exist until the operator has ended. */
  readonly folder: string;
}

/**
 * Starts an operator.
 *
 * @param source The file whose default export is the operator.
 * @param options Arguments and output.
 * @param io The terminal and the shell.
 */
export async function startOperatorProcess(
  source: SourceFile,
  { args, isColored, folder }: OperatorProcessOptions,
  io: Io,
): Promise<OperatorProcess> {
  const output = io.isProcess === true ? "inherit" : "piped";
  const { flags } = await projectOf(source, folder);
  const process = new Deno.Command(runningDeno(), {
    args: ["run", "--quiet", "--allow-all", ...flags, "--ext=ts", "-"],
    cwd: source.folder,
    env: isColored ? {} : { NO_COLOR: "1" },
    stdin: "piped",
    stdout: output,
    stderr: output,
  }).spawn();
  const writer = process.stdin.getWriter();
  // If the process exits before it has read the script, its output has the reason.
  writer.write(new TextEncoder().encode(script(source, args))).then(() => writer.close()).catch(() => {});
  const outputs = output === "inherit"
    ? []
    : [copy(process.stdout, io.out.bind(io)), copy(process.stderr, io.err.bind(io))];
  const ended = process.status.then(async ({ code }) => {
    await Promise.all(outputs);
    return code;
  });
  const signal = (name: Deno.Signal): void => {
    try {
      process.kill(name);
    } catch { /* The process has ended. */ }
  };
  return {
    ended,
    signal,
    async [Symbol.asyncDispose]() {
      signal("SIGKILL");
      await ended;
    },
  };
}

async function copy(stream: ReadableStream<Uint8Array>, write: (text: string) => void): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) write(text);
}

function script(source: SourceFile, args: readonly string[]): string {
  return `
// If op is killed, it cannot stop this process, so this process checks its parent.
const parent = Deno.ppid;
Deno.unrefTimer(setInterval(() => Deno.ppid === parent || Deno.exit(1), 500));
${loading(source, source.shown)}
const failure = loadError?.message ?? absent;
if (failure !== undefined) {
  console.error(failure);
  Deno.exit(1);
}
await op.main(${JSON.stringify(args)});
`;
}
