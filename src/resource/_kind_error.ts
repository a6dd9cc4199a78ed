/** The error for an invalid kind. */

/**
 * Throws the error for an invalid kind.
 *
 * @param kind The kind.
 * @param why The reason, as a clause that follows a colon.
 * @param cause The underlying error.
 */
export function rejectKind(kind: string, why: string, cause?: unknown): never {
  throw new TypeError(`Cannot define kind "${kind}": ${why}`, cause === undefined ? {} : { cause });
}
