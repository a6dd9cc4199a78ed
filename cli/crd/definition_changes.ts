/**
 * Compares CustomResourceDefinitions, and classifies each difference by its effect on objects and
 * clients.
 */
import { equal } from "../internal/mod.gen.ts";
import type { DefinedVersion, Definition } from "../definitions/definition.ts";
import { type Change, schemaChanges, type Severity } from "./schema_changes.ts";

/** A difference between two definitions of a kind. */
export interface DefinitionChange extends Change {
  /** The definition's name: `websites.demo.example.com`. */
  readonly kind: string;
  /** The version, or `undefined` if the change is about the kind as a whole. */
  readonly version?: string;
}

/**
 * Returns the differences between two sets of definitions, sorted by name.
 *
 * @param before The old definitions.
 * @param after The new definitions.
 */
export function definitionChanges(before: readonly Definition[], after: readonly Definition[]): DefinitionChange[] {
  const names = [...new Set([...before, ...after].map(({ metadata }) => metadata.name))].sort();
  return names.flatMap((kind) => {
    const [was, is] = [before, after].map((list) => list.find(({ metadata }) => metadata.name === kind));
    const change = (severity: Severity, message: string): DefinitionChange => ({ severity, kind, path: "", message });
    if (is === undefined) return [change("breaking", "the kind was removed, which deletes its objects")];
    if (was === undefined) return [change("compatible", "the kind was added")];
    return [
      ...kindChanges(was, is).map(([severity, message]) => change(severity, message)),
      ...versionChanges(was, is).map((each) => ({ ...each, kind })),
    ];
  });
}

function kindChanges({ spec: was }: Definition, { spec: is }: Definition): [Severity, string][] {
  const changes: [Severity, string][] = [];
  if (was.scope !== is.scope) {
    changes.push(["breaking", `the scope changed to ${is.scope}, which API servers accept only for a new kind`]);
  }
  if (was.names.kind !== is.names.kind) changes.push(["breaking", `the kind was renamed to ${is.names.kind}`]);
  for (const name of was.names.shortNames ?? []) {
    if (!is.names.shortNames?.includes(name)) changes.push(["notice", `the short name "${name}" was removed`]);
  }
  const [oldStorage, newStorage] = [was, is].map(({ versions }) => versions.find(({ storage }) => storage)?.name);
  if (oldStorage !== newStorage) {
    changes.push([
      "notice",
      `the storage version changed from ${oldStorage} to ${newStorage}; existing objects are converted when they are next written`,
    ]);
  }
  return changes;
}

function versionChanges({ spec: was }: Definition, { spec: is }: Definition): Omit<DefinitionChange, "kind">[] {
  const names = [...new Set([...was.versions, ...is.versions].map(({ name }) => name))];
  return names.flatMap((version) => {
    const [old, now] = [was, is].map(({ versions }) => versions.find(({ name }) => name === version));
    const change = (severity: Severity, message: string) => ({ severity, version, path: "", message });
    if (old === undefined) return [change("compatible", "the version was added")];
    if (now === undefined) {
      if (!old.served && !old.storage) return [change("compatible", "the version, which was not served, was removed")];
      return [change("breaking", "the version was removed, so objects that are stored in it cannot be read")];
    }
    if (old.served && !now.served) return [change("breaking", "the version is no longer served")];
    return [
      ...(now.served && !old.served ? [change("compatible", "the version is now served")] : []),
      ...(now.deprecated && !old.deprecated ? [change("notice", "the version is now deprecated")] : []),
      ...apiChanges(old, now).map(([severity, message]) => change(severity, message)),
      ...schemaChanges(old.schema.openAPIV3Schema, now.schema.openAPIV3Schema, "").map((one) => ({ ...one, version })),
    ];
  });
}

/** Compares the subresources, the selectable fields and the columns of a version. */
function apiChanges(was: DefinedVersion, is: DefinedVersion): [Severity, string][] {
  const subresources = (["status", "scale"] as const).flatMap((name): [Severity, string][] => {
    const [old, now] = [was.subresources?.[name], is.subresources?.[name]];
    if (old !== undefined && now === undefined) return [["breaking", `the subresource ${name} was removed`]];
    if (old === undefined && now !== undefined) {
      // Writes of the whole object then ignore the status.
      return [
        name === "status"
          ? ["breaking", "the status became a subresource, so writes of the object ignore it"]
          : ["compatible", "the subresource scale was added"],
      ];
    }
    return equal(old, now) ? [] : [["breaking", `the subresource ${name} uses other fields`]];
  });
  const paths = ({ selectableFields = [] }: DefinedVersion) => selectableFields.map(({ jsonPath }) => jsonPath);
  const removed = paths(was).filter((path) => !paths(is).includes(path));
  return [
    ...subresources,
    ...removed.map((path): [Severity, string] => ["breaking", `objects can no longer be selected by ${path}`]),
    ...(equal(was.additionalPrinterColumns, is.additionalPrinterColumns)
      ? []
      : [["compatible", "the columns of kubectl get changed"] as [Severity, string]]),
  ];
}
