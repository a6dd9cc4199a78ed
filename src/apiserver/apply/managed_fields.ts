/**
 * Reads, writes and updates `metadata.managedFields`
 * (`k8s.io/apimachinery/pkg/util/managedfields`).
 */
import type { Clock } from "../../base/clock.ts";
import { equal, isObject } from "../../base/json.ts";
import { applyDefaults } from "../../schema/defaults.ts";
import type { Kinds, ServedKind } from "../objects/kinds.ts";
import { type ManagedFieldsEntry, type StoredObject, timestamp, withMetadata } from "../objects/objects.ts";
import type { ServerSchema } from "../objects/server_schema.ts";
import { FieldSet } from "./field_set.ts";
import { type Change, type Managers, type OwnedFields, updateManagers } from "./updater.ts";

/** The managers of an object, and the time at which each last changed it. */
export interface TrackedManagers {
  readonly managers: Managers;
  readonly times: ReadonlyMap<string, string>;
}

/** The manager that changes an object, and the subresource. */
export interface TrackOptions {
  readonly manager: string;
  readonly subresource?: string;
}

/** The parts of the server that {@linkcode trackUpdate} uses. */
export interface TrackingContext {
  readonly clock: Clock;
  /** The served kinds, to look up the versions in which other managers own fields. */
  readonly kinds: Kinds;
}

/** Fields that identify the object, and fields that only the server sets. They have no manager. */
const SERVER_FIELDS = FieldSet.of(
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ]
    .map((key) => ["f:metadata", `f:${key}`]),
);

// Maximum number of update entries, as in the real server; older ones are merged.
const MAX_UPDATES = 10;

/** Returns a set without the fields that have no manager. */
export function withoutServerFields(set: FieldSet): FieldSet {
  return set.difference(SERVER_FIELDS);
}

/**
 * Returns the identity of an entry. The identity of an apply omits the version, since it is the
 * same for all versions.
 */
export function identity({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  return JSON.stringify({
    manager,
    operation,
    ...(operation !== "Apply" && { apiVersion }),
    ...(subresource && { subresource }),
  });
}

/**
 * Parses `managedFields`.
 *
 * @param entries The entries.
 * @returns The managers; `undefined` if an entry is malformed.
 */
export function decodeManaged(entries: readonly ManagedFieldsEntry[]): TrackedManagers | undefined {
  const managers = new Map<string, OwnedFields>();
  const times = new Map<string, string>();
  for (const entry of entries) {
    const { operation, apiVersion, fieldsType, fieldsV1, time } = entry;
    if ((operation !== "Apply" && operation !== "Update") || !apiVersion || fieldsType !== "FieldsV1") return undefined;
    const id = identity(entry);
    managers.set(id, { set: FieldSet.parse(fieldsV1), apiVersion, isApplied: operation === "Apply" });
    if (time !== undefined) times.set(id, time);
  }
  return { managers, times };
}

/** Formats `managedFields`; `undefined` if there are no managers. */
export function encodeManaged({ managers, times }: TrackedManagers): readonly ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  const entries = [...managers].map(([id, { set, apiVersion }]): ManagedFieldsEntry => {
    const { manager, operation, subresource } = JSON.parse(id) as ManagedFieldsEntry;
    const time = times.get(id);
    return {
      ...(manager !== undefined && { manager }),
      ...(operation !== undefined && { operation }),
      apiVersion,
      ...(time !== undefined && { time }),
      fieldsType: "FieldsV1",
      fieldsV1: set.toJSON(),
      ...(subresource !== undefined && { subresource }),
    };
  });
  return entries.sort(compareEntries);
}

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  const keys = ["operation", "time", "manager", "apiVersion", "subresource"] as const;
  for (const key of keys) {
    const [remaining = "", right = ""] = [a[key], b[key]];
    if (remaining !== right) return remaining < right ? -1 : 1;
  }
  return 0;
}

/**
 * Returns the entry of an object that the server itself created.
 *
 * @param apiVersion Version of the object.
 * @param time Time of creation, in the format of Kubernetes.
 * @param fieldsV1 All fields that the server set.
 */
export function ownedByServer(apiVersion: string, time: string, fieldsV1: unknown): ManagedFieldsEntry {
  return { manager: "kube-apiserver", operation: "Update", apiVersion, time, fieldsType: "FieldsV1", fieldsV1 };
}

/** Returns an object without its `managedFields`, which have no manager. */
export function withoutManaged(object: StoredObject): StoredObject {
  return withMetadata(object, { managedFields: undefined });
}

/**
 * Returns the fields that requests to a path cannot change, and that therefore get no manager
 * there.
 *
 * @param kind The kind.
 * @param subresource The subresource; absent for the main resource.
 */
export function ignoredFields(kind: ServedKind, subresource?: string): FieldSet {
  if (subresource === "status") {
    return kind.isBuiltin ? FieldSet.of(["f:spec"]) : FieldSet.of(["f:metadata"], ["f:spec"]);
  }
  const hasStatus = kind.subresources.some(({ name }) => name === "status");
  return hasStatus ? FieldSet.of(["f:status"]) : new FieldSet();
}

/**
 * Returns the function that looks up another version, to compare fields that are owned in that
 * version.
 *
 * @param context The served kinds.
 * @param kind The kind in the version that is changed.
 */
export function versionLookup(
  { kinds }: Pick<TrackingContext, "kinds">,
  kind: ServedKind,
): Pick<Change, "versionNamed"> {
  return {
    versionNamed(apiVersion) {
      // Without conversion, a field has the same name in all versions, including those that are not
      // served.
      if (kind.rules.convertAll === undefined && !kind.isBuiltin) return "same";
      const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
      const other = kinds.get(kind.group, version, kind.plural);
      if (other?.apiVersion !== apiVersion) return kind.rules.ofVersion?.(apiVersion) && "same";
      const convert = (object: unknown) => {
        const stored = { ...object as StoredObject, apiVersion: kind.apiVersion, kind: kind.kind };
        return other.rules.read(kind.rules.stored?.(stored) ?? stored);
      };
      const convertBack = (object: unknown) => {
        const shown = { ...object as StoredObject, apiVersion: other.apiVersion, kind: other.kind };
        return kind.rules.read(other.rules.stored?.(shown) ?? shown);
      };
      return { schema: other.schema, convert, convertBack };
    },
  };
}

/**
 * Returns an object after a change, with updated `managedFields`.
 *
 * @param context Clock and served kinds.
 * @param kind Kind of the object.
 * @param old The object before the change; `undefined` if it is new.
 * @param next The object after the change, with the `managedFields` that the client sent.
 * @param options The manager that changes it.
 */
export function trackUpdate(
  context: TrackingContext,
  kind: ServedKind,
  old: StoredObject | undefined,
  next: StoredObject,
  { manager, subresource }: TrackOptions,
): StoredObject {
  const tracked = managersBefore(old, next, subresource);
  // If the object has no managed fields, or the client removed them, none are added.
  if (old !== undefined && tracked.managers.size === 0) return withoutManaged(next);
  const change = {
    schema: kind.schema,
    apiVersion: kind.apiVersion,
    manager: CURRENT,
    ignored: ignoredFields(kind, subresource),
    ...versionLookup(context, kind),
  };
  const before = old === undefined ? emptyObject(kind) : withoutManaged(old);
  const managers = new Map(updateManagers(before, withoutManaged(next), tracked.managers, change));
  const times = new Map(tracked.times);
  const current = managers.get(CURRENT);
  managers.delete(CURRENT);
  const set = current === undefined ? undefined : withoutServerFields(current.set);
  if (set !== undefined && !set.isEmpty) {
    const id = identity({
      manager,
      operation: "Update",
      apiVersion: kind.apiVersion,
      ...(subresource && { subresource }),
    });
    const previous = managers.get(id);
    const all = previous === undefined ? set : set.union(previous.set);
    managers.set(id, { set: all, apiVersion: kind.apiVersion, isApplied: false });
    times.set(id, timestamp(context.clock.now()));
  }
  return withMetadata(next, { managedFields: encodeManaged(withOldUpdatesMerged({ managers, times })) });
}

/**
 * Returns the object with which a new object is compared. For built-in kinds, which are structs in
 * Go, it has the fields that always exist.
 */
export function emptyObject(kind: ServedKind): unknown {
  if (!kind.isBuiltin) return {};
  const cached = emptyObjects.get(kind);
  if (cached !== undefined) return cached;
  const zeroed = zeroObject(kind.schema) as Record<string, unknown>;
  const empty = NULL_RULES.has(kind.collection) ? { ...zeroed, rules: null } : zeroed;
  emptyObjects.set(kind, empty);
  return empty;
}

/**
 * Empty objects by kind. Entries cannot become stale, since the schema of a built-in kind is
 * constant.
 */
const emptyObjects = new WeakMap<ServedKind, Record<string, unknown>>();

/**
 * Kinds that store missing `rules` as null, although OpenAPI does not list the field as required.
 */
const NULL_RULES = new Set(["rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/clusterroles"]);

function zeroObject(schema: ServerSchema): unknown {
  const defaults = Object.entries(applyDefaults(schema, {}) as object);
  // Only empty defaults belong to the empty object; others are set later.
  const result: Record<string, unknown> = Object.fromEntries(defaults.filter(([, value]) => isObject(value) || !value));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (isObject(result[key])) result[key] = zeroObject(property);
    // A required list exists as null.
    else if (result[key] === undefined && schema.required?.includes(key) && property.type === "array") {
      result[key] = null;
    }
  }
  return result;
}

/** Identity of the current change, until its fields are known. */
const CURRENT = "current-operation";

/**
 * Returns the managers before a change: those that the client sent, or those of the stored object.
 */
function managersBefore(
  old: StoredObject | undefined,
  next: StoredObject,
  subresource: string | undefined,
): TrackedManagers {
  const none = { managers: new Map(), times: new Map() };
  const sent = next.metadata.managedFields;
  const before = decodeManaged(old?.metadata.managedFields ?? []) ?? none;
  if (subresource !== undefined) return before;
  if (sent !== undefined && isReset(sent)) return none;
  const decoded = decodeManaged(sent ?? []);
  return decoded === undefined || decoded.managers.size === 0 ? before : decoded;
}

/**
 * Returns whether a client asks to remove all managers, with an empty list or a list with one empty
 * entry.
 */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0] ?? {}).length === 0);
}

function withOldUpdatesMerged({ managers, times }: TrackedManagers): TrackedManagers {
  const updates = [...managers].filter(([, { isApplied }]) => !isApplied).map(([id]) => id)
    .sort((a, b) =>
      (times.get(a) ?? "") < (times.get(b) ?? "")
        ? -1
        : (times.get(a) ?? "") > (times.get(b) ?? "")
        ? 1
        : a < b
        ? -1
        : 1
    );
  if (updates.length <= MAX_UPDATES) return { managers, times };
  const [kept, keptTimes] = [new Map(managers), new Map(times)];
  const first = new Map<string, string>();
  let remaining = updates.length;
  for (const id of updates) {
    if (remaining <= MAX_UPDATES) break;
    const owned = managers.get(id);
    if (owned === undefined) continue;
    const bucket = identity({ manager: "ancient-changes", operation: "Update", apiVersion: owned.apiVersion });
    const before = first.get(owned.apiVersion);
    if (before === undefined) {
      first.set(owned.apiVersion, id);
      continue;
    }
    const old = kept.get(bucket) ?? kept.get(before);
    kept.delete(before);
    kept.delete(id);
    kept.set(bucket, { ...owned, set: old === undefined ? owned.set : old.set.union(owned.set) });
    keptTimes.set(bucket, times.get(id) ?? "");
    remaining--;
  }
  return { managers: kept, times: keptTimes };
}

/**
 * Restores the times of managed fields if only they have changed, so that the write has no effect.
 * Entries are sorted by time and compared by position, so another order counts as a change.
 */
export function restoreTimes(next: StoredObject, old: StoredObject | undefined): StoredObject {
  const before = old?.metadata.managedFields;
  if (old === undefined || before === undefined) return next;
  const after = next.metadata.managedFields;
  const withoutTimes = (entries: readonly ManagedFieldsEntry[] | undefined) =>
    entries?.map(({ time: _time, ...entry }) => JSON.stringify(entry));
  if (!equal(withoutTimes(before), withoutTimes(after))) return next;
  const isSame = equal(withoutManaged(next), withoutManaged(old));
  return isSame ? withMetadata(next, { managedFields: before }) : next;
}
