/** What the client asks of the machine it runs on. It is handed in, so that this room reads no environment. */
export interface Machine {
  /** An environment variable, or nothing. */
  env(name: string): string | undefined;
  /** A file's text. @throws {Deno.errors.NotFound} If there is none. */
  readText(path: string): Promise<string>;
  /** Whether there are traces in the process, which `fetch` tells the server of. @default {there are none} */
  isTraced?(): boolean;
}
