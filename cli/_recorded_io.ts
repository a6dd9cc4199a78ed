/** An {@linkcode Io} for tests that records the output. */
import type { Io } from "./io.ts";

/** What a command wrote, and how it may see the world. */
export class RecordedIo implements Io {
  stdout = "";
  stderr = "";

  /**
   * @param cwd The folder that relative paths start from.
   * @param variables The environment: there is nothing else in it.
   */
  constructor(readonly cwd: string = "/", readonly variables: Readonly<Record<string, string>> = {}) {}

  out = (text: string): void => void (this.stdout += text);
  err = (text: string): void => void (this.stderr += text);
  env(name: string): string | undefined {
    return this.variables[name];
  }
}
