/** `metadata.managedFields`: reading it, writing it, and following each change (`k8s.io/apimachinery/pkg/util/managedfields`). */
import type { Clock } from "../../base/clock.ts";
import { equal, isObject } from "../../base/json.ts";
import { applyDefaults } from "../../schema/defaults.ts";
import type { Kinds, ServedKind } from "../objects/kinds.ts";
import { type ManagedFieldsEntry, type StoredObject, timestamp, withMetadata } from "../objects/objects.ts";
import type { ServerSchema } from "../objects/server_schema.ts";
import { FieldSet } from "./field_set.ts";
import { type Change, type Managers, type Owned, updated } from "./updater.ts";

/** Managers with the time of each one's last change. */
export interface Tracked {
  readonly managers: Managers;
  readonly times: ReadonlyMap<string, string>;
}

/** Who changes an object, and on which path. */
export interface TrackOptions {
  readonly manager: string;
  readonly subresource?: string;
}

/** What of the server a change is followed by. */
export interface Surroundings {
  readonly clock: Clock;
  /** Knows the versions in which others own fields. */
  readonly kinds: Kinds;
}

/** Fields that tell of the object, not of what somebody wants of it. */
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

// The most entries of updates; older ones are put together.
const MOST_UPDATES = 10;

/** A set without what tells of the object. */
export function withoutServerFields(set: FieldSet): FieldSet {
  return set.difference(SERVER_FIELDS);
}

/** The name by which an entry is known: an applier's has no version, since it stays the same through all. */
export function identity({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  return JSON.stringify({
    manager,
    operation,
    ...(operation !== "Apply" && { apiVersion }),
    ...(subresource && { subresource }),
  });
}

/**
 * Reads `managedFields`.
 *
 * @param entries The entries.
 * @returns Nothing when they are not well formed.
 */
export function decodeManaged(entries: readonly ManagedFieldsEntry[]): Tracked | undefined {
  const managers = new Map<string, Owned>();
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

/** Writes `managedFields`; undefined when nobody owns anything. */
export function encodeManaged({ managers, times }: Tracked): readonly ManagedFieldsEntry[] | undefined {
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
  return entries.sort(inOrder);
}

function inOrder(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  const keys = ["operation", "time", "manager", "apiVersion", "subresource"] as const;
  for (const key of keys) {
    const [left = "", right = ""] = [a[key], b[key]];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/**
 * The entry of what the server itself made.
 *
 * @param apiVersion In which version.
 * @param time When, as Kubernetes writes times.
 * @param fieldsV1 All that it has set.
 */
export function ownedByServer(apiVersion: string, time: string, fieldsV1: unknown): ManagedFieldsEntry {
  return { manager: "kube-apiserver", operation: "Update", apiVersion, time, fieldsType: "FieldsV1", fieldsV1 };
}

/** An object without its `managedFields`, which nobody owns. */
export function withoutManaged(object: StoredObject): StoredObject {
  return withMetadata(object, { managedFields: undefined });
}

/**
 * The fields that nobody owns on a path: the server does not let them be changed there.
 *
 * @param kind The kind.
 * @param subresource The subresource; absent for the whole.
 */
export function ignoredFields(kind: ServedKind, subresource?: string): FieldSet {
  if (subresource === "status") {
    return kind.isBuiltin ? FieldSet.of(["f:spec"]) : FieldSet.of(["f:metadata"], ["f:spec"]);
  }
  const hasStatus = kind.subresources.some(({ name }) => name === "status");
  return hasStatus ? FieldSet.of(["f:status"]) : new FieldSet();
}

/**
 * How fields that are owned in other versions are compared.
 *
 * @param server What is served.
 * @param kind The kind in the version that is changed.
 */
export function versionsOf({ kinds }: Pick<Surroundings, "kinds">, kind: ServedKind): Pick<Change, "versionNamed"> {
  return {
    versionNamed(apiVersion) {
      // Where nothing converts a custom kind, a field has the same name in another version, be that served or not.
      if (kind.rules.convertAll === undefined && !kind.isBuiltin) return "same";
      const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
      const other = kinds.get(kind.group, version, kind.plural);
      if (other?.apiVersion !== apiVersion) return kind.rules.ofVersion?.(apiVersion) && "same";
      const convert = (object: unknown) => {
        const stored = { ...object as StoredObject, apiVersion: kind.apiVersion, kind: kind.kind };
        return other.rules.read(kind.rules.stored?.(stored) ?? stored);
      };
      const back = (object: unknown) => {
        const shown = { ...object as StoredObject, apiVersion: other.apiVersion, kind: other.kind };
        return kind.rules.read(other.rules.stored?.(shown) ?? shown);
      };
      return { schema: other.schema, convert, back };
    },
  };
}

/**
 * An object after a change, with `managedFields` brought up to date.
 *
 * @param server Its kinds and its clock.
 * @param kind Its kind.
 * @param old What it was; undefined when it is new.
 * @param next What it is to be, with the `managedFields` that the client sent.
 * @param options Who changes it.
 */
export function trackUpdate(
  server: Surroundings,
  kind: ServedKind,
  old: StoredObject | undefined,
  next: StoredObject,
  { manager, subresource }: TrackOptions,
): StoredObject {
  const tracked = startOf(old, next, subresource);
  // Who took the fields off an object, or never had them, does not get them back by a change.
  if (old !== undefined && tracked.managers.size === 0) return withoutManaged(next);
  const change = {
    schema: kind.schema,
    apiVersion: kind.apiVersion,
    manager: CURRENT,
    ignored: ignoredFields(kind, subresource),
    ...versionsOf(server, kind),
  };
  const before = old === undefined ? emptyObject(kind) : withoutManaged(old);
  const managers = new Map(updated(before, withoutManaged(next), tracked.managers, change));
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
    times.set(id, timestamp(server.clock.now()));
  }
  return withMetadata(next, { managedFields: encodeManaged(capped({ managers, times })) });
}

/** What an object is before it is made: of a built-in kind, which is a struct in Go, the parts that are always there. */
export function emptyObject(kind: ServedKind): unknown {
  if (!kind.isBuiltin) return {};
  const known = nothings.get(kind);
  if (known !== undefined) return known;
  const zeroed = zero(kind.schema) as Record<string, unknown>;
  const made = NULL_RULES.has(kind.collection) ? { ...zeroed, rules: null } : zeroed;
  nothings.set(kind, made);
  return made;
}

/** What was worked out for a kind before. It is only looked at. */
const nothings = new WeakMap<ServedKind, Record<string, unknown>>();

/** Kinds whose rules are there as null where nobody gave any, although they may be left out. */
const NULL_RULES = new Set(["rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/clusterroles"]);

function zero(schema: ServerSchema): unknown {
  const defaults = Object.entries(applyDefaults(schema, {}) as object);
  // What is filled in is there later only.
  const result: Record<string, unknown> = Object.fromEntries(defaults.filter(([, value]) => isObject(value) || !value));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (isObject(result[key])) result[key] = zero(property);
    // A list that must be there is there, as null.
    else if (result[key] === undefined && schema.required?.includes(key) && property.type === "array") {
      result[key] = null;
    }
  }
  return result;
}

/** The change itself as a manager, until it is known what it took. */
const CURRENT = "current-operation";

/** Where ownership starts from: from what the client sent, if it sent any, or from what was there. */
function startOf(old: StoredObject | undefined, next: StoredObject, subresource: string | undefined): Tracked {
  const none = { managers: new Map(), times: new Map() };
  const sent = next.metadata.managedFields;
  const before = decodeManaged(old?.metadata.managedFields ?? []) ?? none;
  if (subresource !== undefined) return before;
  if (sent !== undefined && isReset(sent)) return none;
  const decoded = decodeManaged(sent ?? []);
  return decoded === undefined || decoded.managers.size === 0 ? before : decoded;
}

/** An empty list, or a list of one empty entry, asks to forget all. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0] ?? {}).length === 0);
}

function capped({ managers, times }: Tracked): Tracked {
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
  if (updates.length <= MOST_UPDATES) return { managers, times };
  const [kept, keptTimes] = [new Map(managers), new Map(times)];
  const first = new Map<string, string>();
  let left = updates.length;
  for (const id of updates) {
    if (left <= MOST_UPDATES) break;
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
    left--;
  }
  return { managers: kept, times: keptTimes };
}

/**
 * The times as they were, where nothing but times would change: a write that changes nothing is none. Entries are compared one by one, and they are
 * sorted by time: where another comes first it is a change.
 */
export function keepTimes(next: StoredObject, old: StoredObject | undefined): StoredObject {
  const before = old?.metadata.managedFields;
  if (old === undefined || before === undefined) return next;
  const after = next.metadata.managedFields;
  const timeless = (entries: readonly ManagedFieldsEntry[] | undefined) =>
    entries?.map(({ time: _time, ...entry }) => JSON.stringify(entry));
  if (!equal(timeless(before), timeless(after))) return next;
  const isSame = equal(withoutManaged(next), withoutManaged(old));
  return isSame ? withMetadata(next, { managedFields: before }) : next;
}
