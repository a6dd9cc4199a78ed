/** Why a file cannot be read, in words that lead somewhere: Deno's own name flags, which an executable does not have. */

/**
 * The words behind "it": `does not exist`, `is a folder`.
 *
 * @param error What reading the file threw.
 * @param path The file.
 */
export function whyUnreadable(error: unknown, path: string): string {
  if (error instanceof Deno.errors.NotFound) return "does not exist";
  if (error instanceof Deno.errors.IsADirectory) return "is a folder";
  if (error instanceof Deno.errors.PermissionDenied) return "may not be read by this user";
  if (error instanceof Deno.errors.NotCapable) {
    return `may not be read by this executable: run the operator from source, or declare it with sandbox: { read: [${
      JSON.stringify(path)
    }] } and build again`;
  }
  return `cannot be read (${error instanceof Error ? error.message : error})`;
}
