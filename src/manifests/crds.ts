/** The CustomResourceDefinitions of an operator. */
import { equal } from "../base/json.ts";
import type { Part } from "../parts/controller.ts";
import type { CustomResourceDefinitionManifest } from "../resource/kind.ts";

/**
 * The definitions of the kinds that parts declare and that are not built in, each once, in the order of the parts.
 *
 * @param parts The operator's parts.
 * @throws {TypeError} If two kinds that differ have one name.
 */
export function crdsOf(parts: readonly Part[]): CustomResourceDefinitionManifest[] {
  const crds = new Map<string, CustomResourceDefinitionManifest>();
  for (const { kind, owns, reads } of parts) {
    for (const { crd } of [kind, ...owns, ...reads]) {
      if (crd === undefined) continue;
      const other = crds.get(crd.metadata.name);
      if (other !== undefined && !equal(other, crd)) {
        throw new TypeError(
          `Cannot put together the CustomResourceDefinitions: two different kinds are both "${crd.metadata.name}": make the kind once and use it twice`,
        );
      }
      crds.set(crd.metadata.name, crd);
    }
  }
  return [...crds.values()];
}
