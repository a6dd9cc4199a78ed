/** Several versions of a kind in one CustomResourceDefinition. */
import { equal } from "../base/json.ts";
import { refuse } from "./_refusal.ts";
import type { CustomResourceDefinitionManifest, DefinitionVersion } from "./kind.ts";

/** Other versions of a kind, and in which one objects are kept. */
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
 * A definition with other versions of its kind.
 *
 * @param crd The definition, of one version.
 * @param options The other versions and which one is stored.
 * @throws {TypeError} If they are not of one kind, or an API server would not take them together.
 */
export function withVersions(
  crd: CustomResourceDefinitionManifest,
  { versions, storage, external }: VersionsOptions,
): CustomResourceDefinitionManifest {
  const { kind } = crd.spec.names;
  for (const [i, other] of versions.entries()) {
    if (other?.crd === undefined) {
      refuse(kind, `versions[${i}] is not a kind made by resource(): make one, with this group, kind and scope`);
    }
    checkSame(crd, other.version, other.crd);
    if ((other.external ?? false) !== external) {
      refuse(
        kind,
        `version "${other.version}" is ${external ? "not external, this one is" : "external, this one is not"}: ` +
          `set "external" to the same value in both`,
      );
    }
  }
  const all: DefinitionVersion[] = [...crd.spec.versions];
  for (const version of versions.flatMap((other) => other.crd.spec.versions)) {
    const known = all.find(({ name }) => name === version.name);
    if (known === undefined) all.push(version);
    else if (!equal({ ...known, storage: true }, { ...version, storage: true })) {
      refuse(kind, `version "${version.name}" is there twice, and differs: list each version once in "versions"`);
    }
  }
  if (!all.some(({ name }) => name === storage)) {
    const names = all.map(({ name }) => `"${name}"`).join(", ");
    refuse(kind, `"storage" must be one of its versions, ${names}, got "${storage}"`);
  }
  const stored = all.map((version) => ({ ...version, storage: version.name === storage }));
  if (stored.length === 1) return { ...crd, spec: { ...crd.spec, versions: stored } };
  return {
    ...crd,
    // Said, so that it can be read: objects are the same in all versions, but for what a version does not know.
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
    refuse(
      kind,
      `version "${version}" has the ${what} ${JSON.stringify(theirs)}, this one ${
        JSON.stringify(ours)
      }: say the same in both`,
    );
  };
  differs("group", other.spec.group, spec.group);
  differs("scope", other.spec.scope, spec.scope);
  for (const key of ["kind", "plural", "singular", "listKind"] as const) {
    differs(key, other.spec.names[key], spec.names[key]);
  }
  // An older version need not repeat what this one says.
  for (const key of ["shortNames", "categories"] as const) {
    if (other.spec.names[key] !== undefined) differs(key, other.spec.names[key], spec.names[key]);
  }
}

/**
 * Selectable fields in a form that API servers take. They compare versions with each other: what is the same in all they put above them, and
 * then miss the other of schema and selectable fields. The order of the fields does not matter to anybody, so it is changed.
 */
function selectableTogether(kind: string, versions: readonly DefinitionVersion[]): readonly DefinitionVersion[] {
  const [first] = versions;
  const isSame = (key: "schema" | "selectableFields") => versions.every((version) => equal(version[key], first?.[key]));
  if (isSame("schema") === isSame("selectableFields")) return versions;
  if (!versions.some(({ selectableFields = [] }) => selectableFields.length > 0)) return versions;
  const last = versions.at(-1);
  const fields = last?.selectableFields ?? [];
  if (last === undefined || isSame("schema")) {
    return refuse(
      kind,
      "an API server takes versions with one schema only with the same selectable fields: say them in all versions",
    );
  }
  if (fields.length < 2) {
    return refuse(
      kind,
      `an API server does not take "${
        fields[0]?.jsonPath
      }" as the one selectable field of versions whose schemas differ: ` +
        `leave "selectableFields" out of one of them, or add a second field`,
    );
  }
  return [...versions.slice(0, -1), { ...last, selectableFields: [...fields].reverse() }];
}
