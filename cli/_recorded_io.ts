/** An {@linkcode Io} for tests that records the output. */
import type { Io } from "./io.ts";

/** Records the output of a command, with a given working directory and environment. */
export class RecordedIo implements Io {
  stdout = "";
  stderr = "";

  /**
   * @param cwd The working directory.
   * @param variables All environment variables.
   */
  constructor(readonly cwd: string = "/", readonly variables: Readonly<Record<string, string>> = {}) {}

  out = (text: string): void => void (this.stdout += text);
  err = (text: string): void => void (this.stderr += text);
  env(name: string): string | undefined {
    return this.variables[name];
  }
}
