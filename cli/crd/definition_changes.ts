/** How the definitions of kinds differ, and what that does to those who use the kinds. */
import { equal } from "../internal/mod.gen.ts";
import type { DefinedVersion, Definition } from "../definitions/definition.ts";
import { type Change, schemaChanges, type Severity } from "./schema_changes.ts";

/** One difference of a kind. */
export interface DefinitionChange extends Change {
  /** The definition's name: `websites.demo.example.com`. */
  readonly kind: string;
  /** The version that it is about; absent for the kind as a whole. */
  readonly version?: string;
}

/**
 * The differences of two sets of definitions, in the order of the names.
 *
 * @param before The definitions that are installed.
 * @param after The definitions that are to be.
 */
export function definitionChanges(before: readonly Definition[], after: readonly Definition[]): DefinitionChange[] {
  const names = [...new Set([...before, ...after].map(({ metadata }) => metadata.name))].sort();
  return names.flatMap((kind) => {
    const [was, is] = [before, after].map((list) => list.find(({ metadata }) => metadata.name === kind));
    const change = (severity: Severity, message: string): DefinitionChange => ({ severity, kind, path: "", message });
    if (is === undefined) return [change("breaking", "the kind is gone: its objects are deleted with it")];
    if (was === undefined) return [change("compatible", "the kind is new")];
    return [
      ...kindChanges(was, is).map(([severity, message]) => change(severity, message)),
      ...versionChanges(was, is).map((each) => ({ ...each, kind })),
    ];
  });
}

function kindChanges({ spec: was }: Definition, { spec: is }: Definition): [Severity, string][] {
  const changes: [Severity, string][] = [];
  if (was.scope !== is.scope) {
    changes.push(["breaking", `the scope is ${is.scope} now: a server takes that only for a kind made anew`]);
  }
  if (was.names.kind !== is.names.kind) changes.push(["breaking", `it is called ${is.names.kind} now`]);
  for (const name of was.names.shortNames ?? []) {
    if (!is.names.shortNames?.includes(name)) changes.push(["notice", `the short name "${name}" is gone`]);
  }
  const [stored, store] = [was, is].map(({ versions }) => versions.find(({ storage }) => storage)?.name);
  if (stored !== store) {
    changes.push([
      "notice",
      `objects are stored as ${store} now, they were as ${stored}: old ones stay until written again`,
    ]);
  }
  return changes;
}

function versionChanges({ spec: was }: Definition, { spec: is }: Definition): Omit<DefinitionChange, "kind">[] {
  const names = [...new Set([...was.versions, ...is.versions].map(({ name }) => name))];
  return names.flatMap((version) => {
    const [old, now] = [was, is].map(({ versions }) => versions.find(({ name }) => name === version));
    const of = (severity: Severity, message: string) => ({ severity, version, path: "", message });
    if (old === undefined) return [of("compatible", "the version is new")];
    if (now === undefined) {
      if (!old.served && !old.storage) return [of("compatible", "the version, which was not served, is gone")];
      return [of("breaking", "the version is gone, and what is stored in it cannot be read")];
    }
    if (old.served && !now.served) return [of("breaking", "the version is not served any more")];
    return [
      ...(now.served && !old.served ? [of("compatible", "the version is served now")] : []),
      ...(now.deprecated && !old.deprecated ? [of("notice", "the version is deprecated now")] : []),
      ...servedChanges(old, now).map(([severity, message]) => of(severity, message)),
      ...schemaChanges(old.schema.openAPIV3Schema, now.schema.openAPIV3Schema, "").map((change) => ({
        ...change,
        version,
      })),
    ];
  });
}

function servedChanges(was: DefinedVersion, is: DefinedVersion): [Severity, string][] {
  const subresources = (["status", "scale"] as const).flatMap((name): [Severity, string][] => {
    const [old, now] = [was.subresources?.[name], is.subresources?.[name]];
    if (old !== undefined && now === undefined) return [["breaking", `the subresource ${name} is gone`]];
    if (old === undefined && now !== undefined) {
      // From then on writes of the whole object leave the status as it is.
      return [
        name === "status"
          ? ["breaking", "the status is a subresource now: writes of the object leave it as it is"]
          : ["compatible", "it can be scaled now"],
      ];
    }
    return equal(old, now) ? [] : [["breaking", `the subresource ${name} reads other fields now`]];
  });
  const paths = ({ selectableFields = [] }: DefinedVersion) => selectableFields.map(({ jsonPath }) => jsonPath);
  const lost = paths(was).filter((path) => !paths(is).includes(path));
  return [
    ...subresources,
    ...lost.map((path): [Severity, string] => ["breaking", `it cannot be selected by ${path} any more`]),
    ...(equal(was.additionalPrinterColumns, is.additionalPrinterColumns)
      ? []
      : [["compatible", "kubectl get shows other columns"] as [Severity, string]]),
  ];
}
