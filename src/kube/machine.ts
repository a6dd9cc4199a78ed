/**
 * Environment variables and files of the machine. Callers pass it in, so this package does not read
 * them itself.
 */
export interface Machine {
  /** Returns an environment variable. */
  env(name: string): string | undefined;
  /** Reads a text file. @throws {Deno.errors.NotFound} If it does not exist. */
  readText(path: string): Promise<string>;
  /**
   * Returns whether tracing is enabled, so that `fetch` sends the trace context. @default {false}
   */
  isTraced?(): boolean;
}

/**
 * Returns the reason why a file cannot be read, as a verb phrase such as `does not exist`. Deno's
 * own messages suggest command line flags, which a compiled executable does not have.
 *
 * @param error The error of reading the file.
 * @param path Path of the file.
 */
export function unreadableReason(error: unknown, path: string): string {
  if (error instanceof Deno.errors.NotFound) return "does not exist";
  if (error instanceof Deno.errors.IsADirectory) return "is a directory";
  if (error instanceof Deno.errors.PermissionDenied) return "is not readable for this user";
  if (error instanceof Deno.errors.NotCapable) {
    return `needs a sandbox permission of this executable. Run the operator from source, or declare sandbox: { read: [${
      JSON.stringify(path)
    }] } and build it again`;
  }
  return `cannot be read (${error instanceof Error ? error.message : error})`;
}
