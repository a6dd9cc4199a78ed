/** Combines several versions of a kind in one CustomResourceDefinition. */
import { equal } from "../base/json.ts";
import { rejectKind } from "./_kind_error.ts";
import type { CustomResourceDefinitionManifest, DefinitionVersion } from "./kind.ts";

/** Other versions of a kind, and the stored version. */
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
 * Returns a definition with other versions of its kind.
 *
 * @param crd The definition of one version.
 * @param options The other versions and the stored version.
 * @throws {TypeError} If they belong to different kinds, or an API server would reject the
 * combination.
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
    checkSame(crd, other.version, other.crd);
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
    // The default, for readers: objects are the same in all versions, except for fields that a
    // version does not declare.
    spec: { ...crd.spec, versions: selectableTogether(kind, stored), conversion: { strategy: "None" } },
  };
}

function checkSame(
  { spec }: CustomResourceDefinitionManifest,
  version: string,
  other: CustomResourceDefinitionManifest,
): void {
  const { kind } = spec.names;
  const differs = (what: string, theirs: unknown, ours: unknown) => {
    if (equal(theirs, ours)) return;
    rejectKind(
      kind,
      `version "${version}" has the ${what} ${JSON.stringify(theirs)}, this one ${
        JSON.stringify(ours)
      }. Use the same value in both`,
    );
  };
  differs("group", other.spec.group, spec.group);
  differs("scope", other.spec.scope, spec.scope);
  for (const key of ["kind", "plural", "singular", "listKind"] as const) {
    differs(key, other.spec.names[key], spec.names[key]);
  }
  // An older version may omit what this one declares.
  for (const key of ["shortNames", "categories"] as const) {
    if (other.spec.names[key] !== undefined) differs(key, other.spec.names[key], spec.names[key]);
  }
}

/**
 * Returns selectable fields in a form that API servers accept. They move whatever is equal in all
 * versions to the top level, and then report the other of schema and selectable fields as missing.
 * The order of the fields has no meaning, so it is changed to make them different.
 */
function selectableTogether(kind: string, versions: readonly DefinitionVersion[]): readonly DefinitionVersion[] {
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
