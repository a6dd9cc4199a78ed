/**
 * What must not happen: a mistake of the SDK itself, after which it cannot go on. A process that met one ends, with an exit code of its own, and is started
 * anew; to try again would be to freeze.
 */
export class InternalError extends Error {
  override name = "InternalError";
}
