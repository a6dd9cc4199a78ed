/** Combines several versions of a kind in one CustomResourceDefinition. */
import { equal } from "../base/json.ts";
import { rejectKind } from "./_kind_error.ts";
import type { CustomResourceDefinitionManifest, DefinitionVersion } from "./kind.ts";

/** Options of {@linkcode withVersions}. */
export interface VersionsOptions {
  readonly versions: readonly {
    readonly version: string;
    readonly crd: CustomResourceDefinitionManifest;
    readonly external?: true;
  }[];
  readonly storage: string;
  /** Whether another project defines the kind. */
  readonly external: boolean;
}

/**
 * Adds other versions of the kind to a definition.
 *
 * @param crd The definition of one version.
 * @param options The other versions and the stored version.
 * @throws {TypeError} If the versions belong to different kinds, or an API server would reject the
 *   combination.
 */
export function withVersions(
  crd: CustomResourceDefinitionManifest,
  { versions, storage, external }: VersionsOptions,
): CustomResourceDefinitionManifest {
  const { kind } = crd.spec.names;
  for (const [i, other] of versions.entries()) {
    if (other?.crd === undefined) {
      rejectKind(kind, `versions[${i}] is not a kind from resource(). Declare it with the same group, kind and scope`);
    }
    checkSameNames(crd, other.version, other.crd);
    if ((other.external ?? false) !== external) {
      rejectKind(
        kind,
        `version "${other.version}" is ${external ? "not external, this one is" : "external, this one is not"}. ` +
          `Set "external" to the same value in both`,
      );
    }
  }
  const all: DefinitionVersion[] = [...crd.spec.versions];
  for (const version of versions.flatMap((other) => other.crd.spec.versions)) {
    const known = all.find(({ name }) => name === version.name);
    if (known === undefined) all.push(version);
    else if (!equal({ ...known, storage: true }, { ...version, storage: true })) {
      rejectKind(
        kind,
        `version "${version.name}" is listed twice with different definitions. List each version once in "versions"`,
      );
    }
  }
  if (!all.some(({ name }) => name === storage)) {
    const names = all.map(({ name }) => `"${name}"`).join(", ");
    rejectKind(kind, `"storage" must be one of its versions, ${names}, got "${storage}"`);
  }
  const stored = all.map((version) => ({ ...version, storage: version.name === storage }));
  if (stored.length === 1) return { ...crd, spec: { ...crd.spec, versions: stored } };
  return {
    ...crd,
    // `None` is the default. It is explicit for readers of the definition.
    spec: { ...crd.spec, versions: reorderSelectableFields(kind, stored), conversion: { strategy: "None" } },
  };
}

function checkSameNames(
  { spec }: CustomResourceDefinitionManifest,
  version: string,
  other: CustomResourceDefinitionManifest,
): void {
  const { kind } = spec.names;
  const checkEqual = (property: string, theirs: unknown, ours: unknown) => {
    if (equal(theirs, ours)) return;
    rejectKind(
      kind,
      `version "${version}" has the ${property} ${JSON.stringify(theirs)}, this one ${
        JSON.stringify(ours)
      }. Use the same value in both`,
    );
  };
  checkEqual("group", other.spec.group, spec.group);
  checkEqual("scope", other.spec.scope, spec.scope);
  for (const key of ["kind", "plural", "singular", "listKind"] as const) {
    checkEqual(key, other.spec.names[key], spec.names[key]);
  }
  // An older version may omit what this one declares.
  for (const key of ["shortNames", "categories"] as const) {
    if (other.spec.names[key] !== undefined) checkEqual(key, other.spec.names[key], spec.names[key]);
  }
}

/**
 * Reorders selectable fields if an API server would reject them otherwise. If either the schemas or
 * the selectable fields are equal in all versions, but not both, the server moves the equal ones to
 * the top level and reports the others as missing. Another order makes the selectable fields of one
 * version different. The order has no meaning.
 */
function reorderSelectableFields(kind: string, versions: readonly DefinitionVersion[]): readonly DefinitionVersion[] {
  const [first] = versions;
  const isSame = (key: "schema" | "selectableFields") => versions.every((version) => equal(version[key], first?.[key]));
  if (isSame("schema") === isSame("selectableFields")) return versions;
  if (!versions.some(({ selectableFields = [] }) => selectableFields.length > 0)) return versions;
  const last = versions.at(-1);
  const fields = last?.selectableFields ?? [];
  if (last === undefined || isSame("schema")) {
    return rejectKind(
      kind,
      "an API server accepts versions with equal schemas only with equal selectable fields. Declare them in all versions",
    );
  }
  if (fields.length < 2) {
    return rejectKind(
      kind,
      `an API server does not accept "${
        fields[0]?.jsonPath
      }" as the only selectable field of versions with different schemas. ` +
        `Omit "selectableFields" in one of them, or add a second field`,
    );
  }
  return [...versions.slice(0, -1), { ...last, selectableFields: [...fields].reverse() }];
}
