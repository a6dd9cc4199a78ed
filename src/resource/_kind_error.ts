/** The error for an invalid kind. */

/**
 * Throws the error for an invalid kind.
 *
 * @param kind The kind.
 * @param why What is wrong with it.
 * @param cause The underlying error.
 */
export function rejectKind(kind: string, why: string, cause?: unknown): never {
  throw new TypeError(`Cannot define kind "${kind}": ${why}`, cause === undefined ? {} : { cause });
}
