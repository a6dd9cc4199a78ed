/** The CustomResourceDefinitions of an operator. */
import { equal } from "../base/json.ts";
import type { Part } from "../parts/controller.ts";
import { compile, type Parts, partTypeOf } from "../parts/part_types.ts";
import type { AnyKind, CustomResourceDefinitionManifest } from "../resource/kind.ts";
import { isOwnKind } from "../resource/ownership.ts";

/**
 * Returns the definitions of the operator's own kinds, each once, in the order of the parts.
 * External kinds are not included.
 *
 * @param parts The operator's parts.
 * @throws {TypeError} If two different kinds have one name, or a kind is declared both with and
 *   without `external`.
 */
export function crdsOf(parts: readonly Part[]): CustomResourceDefinitionManifest[] {
  const kinds = parts.flatMap(kindsOf);
  const own = uniqueCrds(kinds.flatMap((kind) => isOwnKind(kind) ? kind.crd! : []));
  const external = new Set(kinds.flatMap(({ crd, external }) => external ? crd!.metadata.name : []));
  for (const { metadata: { name } } of own) {
    if (!external.has(name)) continue;
    throw new TypeError(
      `CustomResourceDefinition "${name}": the kind is declared both with and without "external: true". Set "external" to the same value in all declarations.`,
    );
  }
  return own;
}

/**
 * Returns the definitions of external kinds, each once, in the order of the parts, including kinds
 * that are only watched or used by direct calls. The cluster must have them; the operator never
 * installs them.
 *
 * @param parts The operator's parts.
 * @throws {TypeError} If two different kinds have one name.
 */
export function externalCrdsOf(parts: readonly Part[]): CustomResourceDefinitionManifest[] {
  const kinds = parts.flatMap((part) => {
    const { watched, used } = partTypeOf(part).kinds(part);
    return [...kindsOf(part), ...watched, ...used];
  });
  return uniqueCrds(kinds.flatMap(({ crd, external }) => external ? crd! : []));
}

/**
 * Returns the names of the definitions of the kinds that controllers reconcile, external kinds
 * included.
 *
 * @param parts The operator's parts.
 */
export function reconciledDefinitions(parts: Parts): string[] {
  return [...compile(parts).controllers.values()].flatMap(({ kind }) => kind.crd?.metadata.name ?? []);
}

/** Returns the kinds that a part declares, except those that it only watches or uses. */
function kindsOf(part: Part): readonly AnyKind[] {
  const { own, owned, read } = partTypeOf(part).kinds(part);
  return [...own, ...owned, ...read];
}

/**
 * Returns each definition once. Of definitions with the same name, it returns the one that contains
 * all versions of the others.
 *
 * @param crds The definitions.
 * @throws {TypeError} If no definition of a name contains all versions of the others.
 */
function uniqueCrds(crds: readonly CustomResourceDefinitionManifest[]): CustomResourceDefinitionManifest[] {
  return [...Map.groupBy(crds, ({ metadata }) => metadata.name)].map(([name, candidates]) => {
    const complete = candidates.find((one) => candidates.every((other) => contains(one, other)));
    if (complete !== undefined) return complete;
    throw new TypeError(
      `CustomResourceDefinition "${name}": two different kinds have this name. ` +
        'Create the kind once and use it twice, or list its other versions in "versions".',
    );
  });
}

/**
 * Returns whether a definition has all versions of another. The storage version and the description
 * may differ.
 */
function contains(one: CustomResourceDefinitionManifest, other: CustomResourceDefinitionManifest): boolean {
  if (equal(one, other)) return true;
  const { names, scope, group, versions } = one.spec;
  const isSameKind = names.kind === other.spec.names.kind && scope === other.spec.scope && group === other.spec.group;
  if (!isSameKind || versions.length <= other.spec.versions.length) return false;
  return other.spec.versions.every((version) => versions.some((each) => equal(comparable(each), comparable(version))));
}

function comparable(
  { storage: _, selectableFields = [], ...version }: CustomResourceDefinitionManifest["spec"]["versions"][number],
): unknown {
  // Selectable fields are compared in any order, because kinds reorder them where the API server
  // requires it.
  return { ...version, selectableFields: selectableFields.map(({ jsonPath }) => jsonPath).sort() };
}
