/** An operator as a program of its own, from source: a user's file has its own import map, and may do anything. */
import { runningDeno, type SourceFile } from "../deno.ts";
import type { Io } from "../io.ts";
import { loading } from "../loading.ts";
import { projectOf } from "../project.ts";

/** A running operator. */
export interface OperatorProcess extends AsyncDisposable {
  /** Settles with its exit code. */
  readonly ended: Promise<number>;
  /** Passes a signal on. */
  signal(signal: Deno.Signal): void;
}

/** Options for {@linkcode startOperatorProcess}. */
export interface OperatorProcessOptions {
  /** What `main()` of the operator is told. */
  readonly args: readonly string[];
  readonly isColored: boolean;
  /** Where a project may be made for a file that has none; it must be there until the operator has ended. */
  readonly folder: string;
}

/**
 * Starts an operator.
 *
 * @param source The file whose default export is the operator.
 * @param options How.
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
  // One that ends before it has read the script says why in its output.
  writer.write(new TextEncoder().encode(script(source, args))).then(() => writer.close()).catch(() => {});
  const told = output === "inherit"
    ? []
    : [pumped(process.stdout, io.out.bind(io)), pumped(process.stderr, io.err.bind(io))];
  const ended = process.status.then(async ({ code }) => {
    await Promise.all(told);
    return code;
  });
  const signal = (name: Deno.Signal): void => {
    try {
      process.kill(name);
    } catch { /* it has ended */ }
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

async function pumped(stream: ReadableStream<Uint8Array>, tell: (text: string) => void): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) tell(text);
}

function script(source: SourceFile, args: readonly string[]): string {
  return `
// Whoever started it may be killed, and has not told it to end then.
const parent = Deno.ppid;
Deno.unrefTimer(setInterval(() => Deno.ppid === parent || Deno.exit(1), 500));
${loading(source, source.shown)}
const refused = fault?.told ?? absent;
if (refused !== undefined) {
  console.error(refused);
  Deno.exit(1);
}
await op.main(${JSON.stringify(args)});
`;
}
