/** The CustomResourceDefinitions of an operator. */
import type { Part } from "../parts/controller.ts";
import type { CustomResourceDefinitionManifest } from "../resource/kind.ts";

/**
 * The definitions of the kinds that parts declare and that are not built in, each once, in the order of the parts.
 *
 * @param parts The operator's parts.
 */
export function crdsOf(parts: readonly Part[]): CustomResourceDefinitionManifest[] {
  const crds = new Map<string, CustomResourceDefinitionManifest>();
  for (const { kind, owns, reads } of parts) {
    for (const { crd } of [kind, ...owns, ...reads]) {
      if (crd !== undefined && !crds.has(crd.metadata.name)) crds.set(crd.metadata.name, crd);
    }
  }
  return [...crds.values()];
}
