/** Decides when a reconcile adds the finalizer, cleans up, and removes the finalizer. */

/** An action of a reconcile. */
export type ReconcileStep =
  | "reconcile"
  | "add finalizer, then reconcile"
  | "remove finalizer, then reconcile"
  | "cleanup, then remove finalizer"
  | "remove finalizer"
  | "none";

/**
 * Returns the action of a reconcile. If the controller no longer has a `cleanup`, it removes the
 * finalizer that an earlier version of the operator added.
 *
 * @param hasCleanup Whether the controller has a `cleanup`.
 * @param hasFinalizer Whether the object has the controller's finalizer.
 * @param isDeleting Whether the object is being deleted.
 */
export function nextStep(hasCleanup: boolean, hasFinalizer: boolean, isDeleting: boolean): ReconcileStep {
  if (isDeleting && !hasFinalizer) return "none";
  if (isDeleting) return hasCleanup ? "cleanup, then remove finalizer" : "remove finalizer";
  if (hasCleanup === hasFinalizer) return "reconcile";
  return hasCleanup ? "add finalizer, then reconcile" : "remove finalizer, then reconcile";
}
