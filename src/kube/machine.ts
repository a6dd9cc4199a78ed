/**
 * Environment and files of the machine. They are passed in, so that this package does no such I/O.
 */
export interface Machine {
  /** Returns an environment variable. */
  env(name: string): string | undefined;
  /** Reads a text file. @throws {Deno.errors.NotFound} If it does not exist. */
  readText(path: string): Promise<string>;
  /**
   * Returns whether the process has traces, which `fetch` continues on the server. @default {false}
   */
  isTraced?(): boolean;
}
