/**
 * Names that clusters store. They are derived from the names of the operator and the part, and must
 * not change between releases.
 */
import { shortName } from "../base/short_name.ts";
import type { ControllerUnit } from "../parts/handlers/group.ts";
import { storedDomain } from "../resource/finalizer_prefix.ts";
import type { AnyKind } from "../resource/kind.ts";

/** The name of the handlers of a kind in what clusters store. A controller cannot have it too. */
export const HANDLERS = "handlers";

/**
 * Returns the field manager of a controller's writes. API servers accept 128 characters.
 *
 * @param operator The operator's name.
 * @param part The part's key.
 */
export function fieldManager(operator: string, part: string): string {
  return shortName(`${operator}.${part}`, 128);
}

/**
 * Returns the finalizer of a controller or of the handlers of a kind. It is a qualified name; API
 * servers accept 63 characters after the slash. The domain is the kind's group, or `<operator>.op`
 * for kinds of Kubernetes.
 *
 * @param operator The operator's name.
 * @param part The part's key. The handlers of a kind have a name of their own.
 * @param controller The controller, or the handlers.
 */
export function finalizerName(operator: string, part: string, controller: ControllerUnit): string {
  if (controller.finalizer !== undefined) return controller.finalizer;
  const name = controller.part === "handlers" ? HANDLERS : part;
  return `${storedDomain(operator, controller.kind)}/${shortName(`${operator}.${name}`, 63)}`;
}

/**
 * Returns the annotation that pauses the reconciling of an object, with any value except `false`.
 *
 * @param operator The operator's name.
 * @param kind The object's kind.
 */
export function pausedAnnotation(operator: string, kind: AnyKind): string {
  return `${storedDomain(operator, kind)}/paused`;
}
