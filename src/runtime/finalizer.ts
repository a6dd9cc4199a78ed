/** Decides what a reconcile does about the finalizer. */

/** An action of a reconcile. */
export type RunStep =
  | "reconcile"
  | "add finalizer, then reconcile"
  | "remove finalizer, then reconcile"
  | "cleanup, then remove finalizer"
  | "remove finalizer"
  | "none";

/**
 * Returns what a reconcile does. If the controller no longer has a `cleanup`, a finalizer of an
 * earlier version of the operator is removed.
 *
 * @param cleans Whether the controller has a `cleanup`.
 * @param held Whether the object has the controller's finalizer.
 * @param deleting Whether the object is being deleted.
 */
export function runStep(cleans: boolean, held: boolean, deleting: boolean): RunStep {
  if (deleting && !held) return "none";
  if (deleting) return cleans ? "cleanup, then remove finalizer" : "remove finalizer";
  if (cleans === held) return "reconcile";
  return cleans ? "add finalizer, then reconcile" : "remove finalizer, then reconcile";
}
