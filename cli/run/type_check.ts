/** Checks types in the background under `op dev`. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { denoErrors, runningDeno, type SourceFile } from "../deno.ts";
import type { Io } from "../io.ts";
import { projectOf } from "../project.ts";

/** Checks the types of an operator after each change. */
export class TypeChecks implements AsyncDisposable {
  readonly #source: SourceFile;
  readonly #folder: string;
  readonly #io: Io;
  /** The process of the current check. */
  #running: Deno.ChildProcess | undefined;
  /** Resolves when the last check has ended. */
  #ended: Promise<void> = Promise.resolve();
  /** The number of the last check. Results of older checks are ignored. */
  #latest = 0;
  /** Whether the last check found errors. */
  #hasErrors = false;

  /**
   * @param source The operator's file.
   * @param folder A temporary folder for as long as the checks run.
   * @param io Receives the errors, and a line when the types are correct again.
   */
  constructor(source: SourceFile, folder: string, io: Io) {
    this.#source = source;
    this.#folder = folder;
    this.#io = io;
  }

  /** Starts a check in the background, and cancels a running one, whose files have changed. */
  start(): void {
    this.cancel();
    const check = this.#latest;
    // If the check itself fails, the operator runs without it.
    this.#ended = this.#ended.then(() => this.#check(check)).catch(() => {});
  }

  /** Cancels the current check without reporting its result. */
  cancel(): void {
    this.#latest++;
    kill(this.#running);
  }

  /** Cancels the current check and waits until its process has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
    await this.#ended;
  }

  async #check(check: number): Promise<void> {
    if (check !== this.#latest) return;
    const { flags } = await projectOf(this.#source, this.#folder);
    // Deno skips a file that its project excludes, unless another file imports it.
    const entry = join(this.#folder, "check.ts");
    await Deno.writeTextFile(entry, `import ${JSON.stringify(this.#source.url.href)};\n`);
    if (check !== this.#latest) return;
    const process = new Deno.Command(runningDeno(), {
      args: ["check", "--quiet", ...flags, entry],
      cwd: this.#source.folder,
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#running = process;
    const { success, stderr } = await process.output();
    this.#running = undefined;
    if (check === this.#latest) this.#report(success, new TextDecoder().decode(stderr));
  }

  #report(isCorrect: boolean, stderr: string): void {
    if (isCorrect && this.#hasErrors) this.#io.out("Types are correct again\n");
    this.#hasErrors = !isCorrect;
    if (isCorrect) return;
    const folderUrl = `${pathToFileURL(this.#source.folder).href}/`;
    const errors = denoErrors(stderr).replace(/\n+error: Type checking failed\.$/, "").replaceAll(folderUrl, "");
    this.#io.err(`${errors}\nType check failed; the operator keeps running\n`);
  }
}

function kill(process: Deno.ChildProcess | undefined): void {
  try {
    process?.kill("SIGKILL");
  } catch { /* The process has ended. */ }
}
