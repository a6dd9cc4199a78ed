/**
 * A bug in the SDK that leaves it in an unknown state. The process exits with code 70, so that
 * Kubernetes restarts it; a retry could hang.
 */
export class InternalError extends Error {
  override name = "InternalError";
}
