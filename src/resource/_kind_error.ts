/** The error for an invalid kind. */

/**
 * Throws the error for an invalid kind.
 *
 * @param kind The kind.
 * @param reason The reason, as a clause that follows a colon.
 * @param cause The underlying error.
 */
export function rejectKind(kind: string, reason: string, cause?: unknown): never {
  throw new TypeError(`Cannot define kind "${kind}": ${reason}`, cause === undefined ? {} : { cause });
}
