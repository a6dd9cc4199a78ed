/**
 * Reasons why a file cannot be read. Deno's own messages name command line flags, which an
 * executable does not have.
 */

/**
 * Returns the reason as a verb phrase, such as `does not exist`.
 *
 * @param error The error of reading the file.
 * @param path Path of the file.
 */
export function whyUnreadable(error: unknown, path: string): string {
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
