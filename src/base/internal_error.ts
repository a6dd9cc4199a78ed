/**
 * A bug of the SDK itself that leaves it in an unknown state. The process exits with an exit code
 * of its own, so that Kubernetes restarts it; retrying could hang.
 */
export class InternalError extends Error {
  override name = "InternalError";
}
