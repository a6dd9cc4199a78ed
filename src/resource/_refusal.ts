/** How a kind that cannot be is refused. */

/**
 * Refuses a kind.
 *
 * @param kind The kind.
 * @param why What is wrong with it.
 * @param cause The error behind it.
 */
export function refuse(kind: string, why: string, cause?: unknown): never {
  throw new TypeError(`Cannot make kind "${kind}": ${why}`, cause === undefined ? {} : { cause });
}
