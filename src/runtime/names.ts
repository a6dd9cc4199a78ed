/** Names that clusters store. They come from the operator's name and the part's key, and never change once released. */
import { shortName } from "../base/short_name.ts";
import type { Controller } from "../parts/controller.ts";
import { storedDomain } from "../resource/finalizer_prefix.ts";
import type { AnyKind } from "../resource/kind.ts";

/**
 * The name under which a controller's writes stand in `managedFields`. The server takes 128 characters.
 *
 * @param operator The operator's name.
 * @param part The part's key.
 */
export function fieldManager(operator: string, part: string): string {
  return shortName(`${operator}.${part}`, 128);
}

/**
 * The finalizer of a controller: a qualified name, of whose part behind the slash the server takes 63 characters. Its domain is the kind's group; for
 * kinds of Kubernetes it is `<operator>.op`.
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
 * The annotation by which an object says that it is to be left alone: any value but `false`.
 *
 * @param operator The operator's name.
 * @param kind The object's kind.
 */
export function pausedAnnotation(operator: string, kind: AnyKind): string {
  return `${storedDomain(operator, kind)}/paused`;
}
