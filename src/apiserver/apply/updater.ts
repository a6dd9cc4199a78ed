/**
 * Determines the managers of fields after a change
 * (`sigs.k8s.io/structured-merge-diff/v6/merge/update.go`).
 */
import { equal } from "../../base/json.ts";
import type { ServerSchema } from "../objects/server_schema.ts";
import { compare, type Comparison } from "./compare.ts";
import { FieldSet } from "./field_set.ts";
import { merge } from "./merge.ts";
import { fieldsOf, withNamedFields, withoutFields } from "./typed.ts";

/** The fields of a manager. */
export interface OwnedFields {
  readonly set: FieldSet;
  readonly apiVersion: string;
  readonly isApplied: boolean;
}

/** The fields of each manager, by its identity. */
export type Managers = ReadonlyMap<string, OwnedFields>;

/** A field with another manager. */
export interface Conflict {
  readonly manager: string;
  readonly path: readonly string[];
}

/** The error for an applied configuration that sets fields of other managers. */
export class ConflictError extends Error {
  override name = "ConflictError";
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(`Apply failed: ${conflicts.length} fields have other managers`);
    this.conflicts = conflicts;
  }
}

/** Parameters of an update or apply. */
export interface Change {
  readonly schema: ServerSchema;
  readonly apiVersion: string;
  /** Identity of the manager that makes the change. */
  readonly manager: string;
  /** Fields that have no manager on this path, such as the status on the main path. */
  readonly ignored: FieldSet;
  /**
   * Returns the version in which a manager owns fields: "same" if its fields equal those of this
   * version; `undefined` if it no longer exists.
   */
  versionNamed(apiVersion: string): OtherVersion | "same" | undefined;
}

/** Another version of the kind. */
export interface OtherVersion {
  readonly schema: ServerSchema;
  /** Converts an object from the version that is changed. */
  convert(object: unknown): unknown;
  /** Converts an object to the version that is changed. */
  convertBack(object: unknown): unknown;
}

/**
 * Returns the managers after an update: the manager of the update becomes the only one of each
 * changed field.
 *
 * @param before The object before the update; an empty one if it is new.
 * @param after The object after the update.
 * @param managers The managers before the change.
 * @param change Parameters of the update.
 */
export function updateManagers(before: unknown, after: unknown, managers: Managers, change: Change): Managers {
  const comparison = withoutIgnored(compare(change.schema, before, after), change.ignored);
  const compared = comparisonsByVersion(before, after, comparison, change);
  const next = new Map(withReassignedFields(managers, compared, change.manager, true));
  const own = next.get(change.manager)?.set ?? new FieldSet();
  const set = own.difference(comparison.removed).union(comparison.modified).union(comparison.added).recursiveDifference(
    change.ignored,
  );
  if (set.isEmpty) next.delete(change.manager);
  else next.set(change.manager, { set, apiVersion: change.apiVersion, isApplied: false });
  return next;
}

/** Result of {@linkcode applyFields}. */
export interface AppliedFields {
  readonly object: unknown;
  readonly managers: Managers;
  /** Whether the object differs from the live one. */
  readonly isChanged: boolean;
}

/**
 * Applies a configuration. Sets its fields, and removes fields that the manager no longer applies
 * and that have no other manager.
 *
 * @param live The current object.
 * @param config The configuration.
 * @param managers The managers before the change.
 * @param change Parameters of the apply.
 * @param force Whether to take fields over from other managers.
 * @throws {ConflictError} If fields have other managers and `force` is false.
 */
export function applyFields(
  live: unknown,
  config: unknown,
  managers: Managers,
  change: Change,
  force: boolean,
): AppliedFields {
  const { schema, apiVersion, manager } = change;
  const merged = merge(schema, live, config);
  const last = managers.get(manager);
  const set = fieldsOf(schema, config).recursiveDifference(change.ignored);
  const claimed = new Map(managers).set(manager, { set, apiVersion, isApplied: true });
  const object = last === undefined || last.set.isEmpty ? merged : pruneUnapplied(merged, claimed, last, change);
  const comparison = withoutIgnored(compare(schema, live, object), change.ignored);
  const compared = comparisonsByVersion(live, object, comparison, change);
  return { object, managers: withReassignedFields(claimed, compared, manager, force), isChanged: !equal(live, object) };
}

/** Returns a function that compares the two objects in a given version. */
function comparisonsByVersion(
  before: unknown,
  after: unknown,
  comparison: Comparison,
  change: Change,
): (apiVersion: string) => Comparison | undefined {
  const cache = new Map<string, Comparison | undefined>([[change.apiVersion, comparison]]);
  return (apiVersion) => {
    if (cache.has(apiVersion)) return cache.get(apiVersion);
    const other = change.versionNamed(apiVersion);
    const compared = typeof other === "object"
      ? withoutIgnored(compare(other.schema, other.convert(before), other.convert(after)), change.ignored)
      : other && comparison;
    cache.set(apiVersion, compared);
    return compared;
  };
}

function withoutIgnored({ added, modified, removed }: Comparison, ignored: FieldSet): Comparison {
  return {
    added: added.recursiveDifference(ignored),
    modified: modified.recursiveDifference(ignored),
    removed: removed.recursiveDifference(ignored),
  };
}

/** Removes changed fields from their other managers, and removed fields from all managers. */
function withReassignedFields(
  managers: Managers,
  comparisonIn: (apiVersion: string) => Comparison | undefined,
  self: string,
  force: boolean,
): Managers {
  const next = new Map<string, OwnedFields>();
  const conflicts: Conflict[] = [];
  for (const [manager, owned] of managers) {
    let { set } = owned;
    if (manager !== self) {
      const comparison = comparisonIn(owned.apiVersion);
      // Fields that are owned in a version that no longer exists lose their manager.
      if (comparison === undefined) continue;
      const { added, modified, removed } = comparison;
      const conflict = set.intersection(modified.union(added));
      conflicts.push(...conflict.paths().map((path) => ({ manager, path })));
      set = set.difference(conflict).difference(removed);
    }
    if (!set.isEmpty) next.set(manager, set === owned.set ? owned : { ...owned, set });
  }
  if (!force && conflicts.length > 0) throw new ConflictError(conflicts);
  return next;
}

/**
 * Removes the fields that the manager no longer applies and that have no other manager. Fields that
 * are owned in another version are looked up in an object of that version.
 */
function pruneUnapplied(merged: unknown, managers: Managers, last: OwnedFields, change: Change): unknown {
  const views = new Map<string, View | undefined>();
  const viewOf = (apiVersion: string) => {
    if (!views.has(apiVersion)) views.set(apiVersion, viewIn(apiVersion, change));
    return views.get(apiVersion);
  };
  const lastView = viewOf(last.apiVersion);
  // Fields that were applied in a version that no longer exists are not removed.
  if (lastView === undefined) return merged;
  const whole = lastView.to(merged);
  const lastNamed = withNamedFields(lastView.schema, last.set);
  let rest = lastView.from(withoutFields(lastView.schema, whole, lastNamed));
  const owned = Map.groupBy(managers.values(), ({ apiVersion }) => apiVersion);
  // The version of the last apply comes first, since conversions may need its fields.
  const versions = [last.apiVersion, ...[...owned.keys()].filter((each) => each !== last.apiVersion)];
  for (const apiVersion of versions) {
    const view = viewOf(apiVersion);
    if (view === undefined) continue;
    const sets = (owned.get(apiVersion) ?? []).reduce((all, { set }) => all.union(set), new FieldSet());
    const all = view.to(merged);
    const left = fieldsInView(view, view.to(rest)).union(withNamedFields(view.schema, sets));
    rest = view.from(withoutFields(view.schema, all, fieldsInView(view, all).difference(left)));
  }
  const removed = fieldsInView(lastView, whole).difference(fieldsInView(lastView, lastView.to(rest))).intersection(
    lastNamed,
  );
  return lastView.from(withoutFields(lastView.schema, whole, removed));
}

/**
 * A version in which fields are owned, with conversions from and to the version that is changed.
 */
interface View {
  readonly schema: ServerSchema;
  to(object: unknown): unknown;
  from(object: unknown): unknown;
}

function viewIn(apiVersion: string, change: Change): View | undefined {
  const other = apiVersion === change.apiVersion ? "same" : change.versionNamed(apiVersion);
  if (other === undefined) return undefined;
  if (other === "same") return { schema: change.schema, to: (object) => object, from: (object) => object };
  return { schema: other.schema, to: other.convert, from: other.convertBack };
}

/** Returns the fields that an object has in a version. */
function fieldsInView({ schema }: View, object: unknown): FieldSet {
  return withNamedFields(schema, fieldsOf(schema, object));
}
