/** Who owns which fields after a change (`sigs.k8s.io/structured-merge-diff/v6/merge/update.go`). */
import { equal } from "../../base/json.ts";
import type { ServerSchema } from "../objects/server_schema.ts";
import { compare, type Comparison } from "./compare.ts";
import { FieldSet } from "./field_set.ts";
import { merge } from "./merge.ts";
import { fieldsOf, withNamedFields, withoutFields } from "./typed.ts";

/** What a manager owns. */
export interface Owned {
  readonly set: FieldSet;
  readonly apiVersion: string;
  readonly isApplied: boolean;
}

/** What each manager owns, by the manager's identity. */
export type Managers = ReadonlyMap<string, Owned>;

/** A field that is another's. */
export interface Conflict {
  readonly manager: string;
  readonly path: readonly string[];
}

/** Fields of an applied configuration are others'. */
export class ConflictError extends Error {
  override name = "ConflictError";
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(`Cannot apply: ${conflicts.length} fields belong to others`);
    this.conflicts = conflicts;
  }
}

/** What both ways of changing an object need to know. */
export interface Change {
  readonly schema: ServerSchema;
  readonly apiVersion: string;
  /** Who changes it. */
  readonly manager: string;
  /** Fields that nobody owns on this path, such as the status on the path of the whole. */
  readonly ignored: FieldSet;
  /** A version in which somebody owns fields: "same" where its fields are those of this one; undefined where there is none of the name any more. */
  versionNamed(apiVersion: string): OtherVersion | "same" | undefined;
}

/** Another version of the kind. */
export interface OtherVersion {
  readonly schema: ServerSchema;
  /** An object of the version that is changed, in this one. */
  convert(object: unknown): unknown;
  /** An object of this version, in the one that is changed. */
  back(object: unknown): unknown;
}

/**
 * Ownership after an object was replaced: who changed a field owns it, alone.
 *
 * @param before What was there; empty when it is new.
 * @param after What is there.
 * @param managers Who owned what.
 * @param change The rest.
 */
export function updated(before: unknown, after: unknown, managers: Managers, change: Change): Managers {
  const comparison = filtered(compare(change.schema, before, after), change.ignored);
  const compared = comparisons(before, after, comparison, change);
  const next = new Map(taken(managers, compared, change.manager, true));
  const own = next.get(change.manager)?.set ?? new FieldSet();
  const set = own.difference(comparison.removed).union(comparison.modified).union(comparison.added).without(
    change.ignored,
  );
  if (set.isEmpty) next.delete(change.manager);
  else next.set(change.manager, { set, apiVersion: change.apiVersion, isApplied: false });
  return next;
}

/** What an apply came to. */
export interface Applied {
  readonly object: unknown;
  readonly managers: Managers;
  /** Whether the object differs from what was there. */
  readonly isChanged: boolean;
}

/**
 * Applies a configuration: what it says is set, what its manager said last time and nobody else owns is taken away.
 *
 * @param live What is there.
 * @param config The configuration.
 * @param managers Who owned what.
 * @param change The rest.
 * @param force Whether to take fields from others.
 * @throws {ConflictError} If fields are others' and `force` is not said.
 */
export function applied(live: unknown, config: unknown, managers: Managers, change: Change, force: boolean): Applied {
  const { schema, apiVersion, manager } = change;
  const merged = merge(schema, live, config);
  const last = managers.get(manager);
  const set = fieldsOf(schema, config).without(change.ignored);
  const claimed = new Map(managers).set(manager, { set, apiVersion, isApplied: true });
  const object = last === undefined || last.set.isEmpty ? merged : pruned(merged, claimed, last, change);
  const comparison = filtered(compare(schema, live, object), change.ignored);
  const compared = comparisons(live, object, comparison, change);
  return { object, managers: taken(claimed, compared, manager, force), isChanged: !equal(live, object) };
}

/** What changed, as each version shows it. */
function comparisons(
  before: unknown,
  after: unknown,
  comparison: Comparison,
  change: Change,
): (apiVersion: string) => Comparison | undefined {
  const known = new Map<string, Comparison | undefined>([[change.apiVersion, comparison]]);
  return (apiVersion) => {
    if (known.has(apiVersion)) return known.get(apiVersion);
    const other = change.versionNamed(apiVersion);
    const made = typeof other === "object"
      ? filtered(compare(other.schema, other.convert(before), other.convert(after)), change.ignored)
      : other && comparison;
    known.set(apiVersion, made);
    return made;
  };
}

function filtered({ added, modified, removed }: Comparison, ignored: FieldSet): Comparison {
  return { added: added.without(ignored), modified: modified.without(ignored), removed: removed.without(ignored) };
}

/** Takes changed fields from their owners, and those that are gone from all. */
function taken(
  managers: Managers,
  comparisonIn: (apiVersion: string) => Comparison | undefined,
  self: string,
  force: boolean,
): Managers {
  const next = new Map<string, Owned>();
  const conflicts: Conflict[] = [];
  for (const [manager, owned] of managers) {
    let { set } = owned;
    if (manager !== self) {
      const comparison = comparisonIn(owned.apiVersion);
      // What was owned in a version that is gone is owned no more.
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
 * Takes away what the manager applied last time, does not apply now, and nobody owns. What others own in another version is looked for in an object of
 * that version.
 */
function pruned(merged: unknown, managers: Managers, last: Owned, change: Change): unknown {
  const views = new Map<string, View | undefined>();
  const viewOf = (apiVersion: string) => {
    if (!views.has(apiVersion)) views.set(apiVersion, viewIn(apiVersion, change));
    return views.get(apiVersion);
  };
  const home = viewOf(last.apiVersion);
  // What was applied in a version that is gone stays.
  if (home === undefined) return merged;
  const whole = home.to(merged);
  const lastNamed = withNamedFields(home.schema, last.set);
  let rest = home.from(withoutFields(home.schema, whole, lastNamed));
  const owned = Map.groupBy(managers.values(), ({ apiVersion }) => apiVersion);
  // First those of the same version: conversions may need what they own.
  const versions = [last.apiVersion, ...[...owned.keys()].filter((each) => each !== last.apiVersion)];
  for (const apiVersion of versions) {
    const view = viewOf(apiVersion);
    if (view === undefined) continue;
    const sets = (owned.get(apiVersion) ?? []).reduce((all, { set }) => all.union(set), new FieldSet());
    const all = view.to(merged);
    const left = named(view, view.to(rest)).union(withNamedFields(view.schema, sets));
    rest = view.from(withoutFields(view.schema, all, named(view, all).difference(left)));
  }
  const gone = named(home, whole).difference(named(home, home.to(rest))).intersection(lastNamed);
  return home.from(withoutFields(home.schema, whole, gone));
}

/** A version in which fields are owned, and the way to it from the one that is changed. */
interface View {
  readonly schema: ServerSchema;
  to(object: unknown): unknown;
  from(object: unknown): unknown;
}

function viewIn(apiVersion: string, change: Change): View | undefined {
  const other = apiVersion === change.apiVersion ? "same" : change.versionNamed(apiVersion);
  if (other === undefined) return undefined;
  if (other === "same") return { schema: change.schema, to: (object) => object, from: (object) => object };
  return { schema: other.schema, to: other.convert, from: other.back };
}

/** The fields that an object has in a version. */
function named({ schema }: View, object: unknown): FieldSet {
  return withNamedFields(schema, fieldsOf(schema, object));
}
