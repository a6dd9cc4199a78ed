/** What a run does, by whether the controller cleans up, whether its finalizer is on the object, and whether the object is being deleted. */

/** What a run does. */
export type RunStep =
  | "reconcile"
  | "add finalizer, then reconcile"
  | "remove finalizer, then reconcile"
  | "cleanup, then remove finalizer"
  | "remove finalizer"
  | "nothing";

/**
 * The step of a run. A finalizer that an earlier version of the operator left, whose `cleanup` is gone, is taken off rather than stranded.
 *
 * @param cleans Whether the controller has a `cleanup`.
 * @param held Whether its finalizer is on the object.
 * @param deleting Whether the object is being deleted.
 */
export function runStep(cleans: boolean, held: boolean, deleting: boolean): RunStep {
  if (deleting && !held) return "nothing";
  if (deleting) return cleans ? "cleanup, then remove finalizer" : "remove finalizer";
  if (cleans === held) return "reconcile";
  return cleans ? "add finalizer, then reconcile" : "remove finalizer, then reconcile";
}
