/**
 * Names that clusters store. They are derived from the names of the operator and the part, and must
 * not change between releases.
 */
import { shortName } from "../base/short_name.ts";
import type { Controller } from "../parts/controller.ts";
import { storedDomain } from "../resource/finalizer_prefix.ts";
import type { AnyKind } from "../resource/kind.ts";

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
 * Returns the finalizer of a controller. It is a qualified name; API servers accept 63 characters
 * after the slash. The domain is the kind's group, or `<operator>.op` for kinds of Kubernetes.
 *
 * @param operator The operator's name.
 * @param part The part's key.
 * @param controller The controller.
 */
export function finalizerName(operator: string, part: string, controller: Controller): string {
  if (controller.finalizer !== undefined) return controller.finalizer;
  return `${storedDomain(operator, controller.kind)}/${shortName(`${operator}.${part}`, 63)}`;
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
