/**
 * The way of an object into the store (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`). All writes end here, also those that the server makes by itself.
 */
import { equal } from "../../base/json.ts";
import { pathSegmentFaults } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { invalid as invalidField } from "../../schema/field_error.ts";
import type { Guard } from "../access/escalation.ts";
import { keepTimes } from "../apply/managed_fields.ts";
import { keyOf, keyOfObject } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { finalizerWarnings, metadataFaults, metadataUpdateFaults } from "../objects/metadata_rules.ts";
import { type Draft, metadataOf, type StoredObject, timestamp, withMetadata } from "../objects/objects.ts";
import { withoutDoubles } from "../objects/owner_references.ts";
import {
  alreadyExists,
  badRequest,
  conflict,
  forbidden,
  invalid,
  modified,
  notFound,
  StatusError,
} from "../wire/status_error.ts";
import type { Core } from "./core.ts";
import { atOnce, converting, type Steps } from "./steps.ts";
import { storedOf } from "./stored.ts";

/** What a write came to. */
export interface Written {
  readonly object: StoredObject;
  readonly warnings: readonly string[];
}

/** Options of {@linkcode createObject}. */
export interface CreateRequest {
  readonly namespace: string | undefined;
  readonly dryRun: boolean;
  /** Whether an apply makes it: a resourceVersion in it says nothing then. */
  readonly isApplied?: boolean;
  /** Refuses what this user must not write. */
  readonly guard?: Guard;
  /** Says who owns the fields of the object made. */
  readonly track?: (object: StoredObject) => StoredObject;
}

/**
 * Makes an object.
 *
 * @param core The server.
 * @param kind Its kind.
 * @param draft The object as decoded.
 * @param request The rest of the request.
 * @returns The object as this kind shows it.
 * @throws {StatusError} If it is refused.
 */
export function createObject(core: Core, kind: ServedKind, draft: Draft, request: CreateRequest): Written {
  return atOnce(creating(core, kind, draft, request));
}

/** Makes an object as {@linkcode createObject} does, in steps. */
export function* creating(core: Core, kind: ServedKind, draft: Draft, request: CreateRequest): Steps<Written> {
  const now = core.clock.now();
  const bare = withMetadata(placedIn(kind, draft, request.namespace) as unknown as StoredObject, {
    uid: undefined,
    creationTimestamp: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  });
  if (kind.namespaced) checkNamespace(core, kind, request.namespace ?? "", metadataOf(bare).name ?? "");
  const doubles: string[] = [];
  const single = withoutDoubles(bare, "sent", doubles);
  // Who owns what is told from the object as it came: what the server adds or takes away is nobody's.
  const owned = request.track?.(single) ?? single;
  const mutated = yield { phase: "mutate", object: kind.rules.admitted?.(owned) ?? owned };
  const placed = placedIn(kind, mutated as unknown as Draft, request.namespace) as unknown as StoredObject;
  const changed = withoutDoubles(placed, "after mutating admission happens", doubles);
  const { resourceVersion, generateName, name } = metadataOf(changed);
  const fresh = withMetadata(changed, {
    name: name || (generateName ? generatedName(generateName, core.uid()) : ""),
    uid: core.uid(),
    creationTimestamp: timestamp(now),
    resourceVersion: undefined,
  });
  request.guard?.(fresh);
  const tracked = kind.rules.prepareCreate(fresh, now);
  // What the kind says first, then what holds for all: so the server words it.
  const faults = kind.rules.validate(tracked);
  if (faults.length === 0) faults.push(...metadataFaults(tracked.metadata, kind.namespaced, pathSegmentFaults));
  if (faults.length > 0) {
    throw invalid({ group: groupOf(tracked), kind: tracked.kind }, tracked.metadata.name ?? "", faults);
  }
  if (resourceVersion && !request.isApplied) {
    throw new StatusError(500, undefined, "resourceVersion should not be set on objects to be created");
  }
  const kept = yield* converting(() => kind.rules.stored?.(tracked) ?? tracked);
  yield { phase: "validate", object: yield* converting(() => kind.rules.read(kept)) };
  const key = keyOf(tracked.metadata.namespace, tracked.metadata.name);
  if (core.store.get(kind.collection, key) !== undefined) {
    throw alreadyExists(kind, tracked.metadata.name);
  }
  const warnings = [
    ...doubles,
    ...kind.isBuiltin ? [] : finalizerWarnings(tracked),
    ...kind.rules.warnings?.(tracked) ?? [],
  ];
  yield* converting(() => kind.rules.convertAll?.(kept));
  if (core.store.get(kind.collection, key) !== undefined) {
    throw alreadyExists(kind, tracked.metadata.name);
  }
  if (request.dryRun) return { object: kind.rules.read(kept), warnings };
  return { object: kind.rules.read(core.store.put(kind.collection, key, kept)), warnings };
}

/** An object with the namespace of its path. */
function placedIn(kind: ServedKind, draft: Draft, namespace: string | undefined): Draft {
  const given = metadataOf(draft).namespace;
  if (kind.namespaced) {
    if (given && given !== namespace) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    return withMetadata(draft, { namespace: namespace ?? "" });
  }
  if (given) throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  return withMetadata(draft, { namespace: undefined });
}

/** No vowels and nothing that is read as another: a generated suffix spells no word. */
const SUFFIX = "bcdfghjklmnpqrstvwxz2456789";

function generatedName(prefix: string, uid: string): string {
  const digits = uid.replaceAll("-", "");
  const suffix = [0, 1, 2, 3, 4].map((i) => SUFFIX[parseInt(digits.slice(4 * i, 4 * i + 4), 16) % SUFFIX.length]);
  return prefix.slice(0, 58) + suffix.join("");
}

function checkNamespace(core: Core, kind: ServedKind, namespace: string, name: string): void {
  const object = core.store.get("/namespaces", namespace);
  if (object === undefined) throw notFound({ group: "", plural: "namespaces" }, namespace);
  if (object.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(kind, name, why, [{
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  }]);
}

/** Options of {@linkcode updateObject}. */
export interface UpdateRequest {
  readonly namespace: string | undefined;
  readonly name: string;
  readonly dryRun: boolean;
  /** Refuses what this user must not write. */
  readonly guard?: Guard;
  readonly subresource?: string;
  /** Whether the uid says which object is meant, as in a full update, rather than what it is to be, as in a patch. */
  readonly isWhole?: boolean;
  /** Says who owns the fields after the change. */
  readonly track?: (object: StoredObject, old: StoredObject) => StoredObject;
}

/**
 * Changes an object.
 *
 * @param core The server.
 * @param kind Its kind.
 * @param request Which object, and how.
 * @param change Makes the wanted object from what is there, as this kind shows it.
 * @returns The object as this kind shows it; unchanged, also in its resourceVersion, when there is nothing to change.
 * @throws {StatusError} If it is refused.
 */
export function updateObject(
  core: Core,
  kind: ServedKind,
  request: UpdateRequest,
  change: (live: StoredObject) => Draft,
): Written {
  return atOnce(updating(core, kind, request, change));
}

/** Changes an object as {@linkcode updateObject} does, in steps. Where somebody else changed it meanwhile all is begun anew. */
export function* updating(
  core: Core,
  kind: ServedKind,
  request: UpdateRequest,
  change: (live: StoredObject) => Draft,
): Steps<Written> {
  const key = keyOf(request.namespace, request.name);
  while (true) {
    const stored = storedOf(core, kind, request.namespace, request.name);
    const made = yield* checking(core, kind, request, stored, change);
    if (core.store.get(kind.collection, key) === stored) return made();
  }
}

/** What an update comes to; it is made by calling the answer. */
function* checking(
  core: Core,
  kind: ServedKind,
  request: UpdateRequest,
  stored: StoredObject,
  change: (live: StoredObject) => Draft,
): Steps<() => Written> {
  const old = yield* converting(() => kind.rules.read(stored));
  const doubles: string[] = [];
  const sent = placedUpdate(kind, request, change(old) as unknown as StoredObject);
  const draft = request.isWhole ? withoutDoubles(sent, "sent", doubles) : sent;
  // Who owns what is looked at in the versions of the owners.
  const owned = yield* converting(() => request.track?.(draft, old) ?? draft);
  const mutated = yield { phase: "mutate", object: owned, old };
  const changed = withoutDoubles(mutated, "after mutating admission happens", doubles);
  const wanted = based(kind, request, changed, old);
  request.guard?.(wanted, old);
  const kept = keepServerFields(wanted, old);
  const tracked = kind.rules.prepareUpdate(kept, old, request.subresource);
  const faults = [
    ...metadataFaults(tracked.metadata, kind.namespaced, pathSegmentFaults),
    ...metadataUpdateFaults(tracked.metadata, old.metadata),
    ...kind.rules.validate(tracked, old, request.subresource),
  ];
  if (faults.length > 0) {
    throw invalid({ group: groupOf(tracked), kind: tracked.kind }, tracked.metadata.name ?? "", faults);
  }
  const warnings = [
    ...doubles,
    ...kind.isBuiltin ? [] : finalizerWarnings(tracked, old),
    ...kind.rules.warnings?.(tracked, old, request.subresource) ?? [],
  ];
  const made = keepTimes(tracked, old);
  const next = yield* converting(() => kind.rules.stored?.(made) ?? made);
  yield { phase: "validate", object: yield* converting(() => kind.rules.read(next)), old };
  yield* converting(() => kind.rules.convertAll?.(next));
  // What is kept in another version than before changes, even where nobody sees it.
  if (equal(next, stored)) return () => ({ object: old, warnings });
  if (request.dryRun) return () => ({ object: kind.rules.read(next), warnings });
  return () => ({ object: kind.rules.read(putOrFinish(core, kind, next)), warnings });
}

/** An object with the namespace of its path. */
function placedUpdate(kind: ServedKind, request: UpdateRequest, draft: StoredObject): StoredObject {
  const { namespace } = metadataOf(draft);
  if (!kind.namespaced || namespace) return draft;
  return withMetadata(draft, { namespace: request.namespace ?? "" });
}

function groupOf({ apiVersion }: StoredObject): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/** Checks from which version a write starts, and fills it in where the kind does not ask. */
function based(kind: ServedKind, request: UpdateRequest, wanted: Draft, old: StoredObject): StoredObject {
  const { uid, resourceVersion, namespace } = metadataOf(wanted);
  if (request.isWhole && uid && uid !== old.metadata.uid) throw uidConflict(kind, request, uid, old.metadata.uid);
  if (kind.namespaced && namespace && namespace !== request.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (resourceVersion === undefined || resourceVersion === "" || resourceVersion === "0") {
    if (!kind.rules.allowsUnconditionalUpdate) {
      const fault = invalidField("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid({ group: kind.group, kind: kind.plural }, request.name, [fault]);
    }
  } else if (!/^\d+$/.test(resourceVersion)) {
    const shown = JSON.stringify(resourceVersion);
    throw new StatusError(500, undefined, `strconv.ParseUint: parsing ${shown}: invalid syntax`);
  } else if (resourceVersion !== old.metadata.resourceVersion) throw modified(kind, request.name);
  return withMetadata(wanted as unknown as StoredObject, {
    resourceVersion: old.metadata.resourceVersion,
    ...(kind.namespaced && { namespace: request.namespace ?? "" }),
  });
}

function uidConflict(kind: ServedKind, request: UpdateRequest, wanted: string, actual: string): StatusError {
  const path = [
    "/registry",
    ...(kind.group === "" ? [] : [kind.group]),
    kind.plural,
    keyOf(request.namespace, request.name),
  ];
  const why =
    `StorageError: invalid object, Code: 4, Key: ${path.join("/")}, ResourceVersion: 0, AdditionalErrorMsg: ` +
    `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${actual}`;
  return conflict(kind, request.name, why);
}

/** What a write cannot change stays as it is, without a word: so the server does it. */
function keepServerFields(object: StoredObject, old: StoredObject): StoredObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = old.metadata;
  return withMetadata(object, {
    uid: object.metadata.uid || uid,
    creationTimestamp,
    generation,
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(object.metadata.deletionGracePeriodSeconds === undefined && { deletionGracePeriodSeconds }),
  });
}

/**
 * Stores a change; or takes the object away if it was all that its deletion waited for. Then nobody sees the change itself: the deletion tells
 * of the object as it was.
 *
 * @param core The server.
 * @param kind The object's kind.
 * @param next What it is to be.
 * @returns The object as stored, or as it would have been.
 */
export function putOrFinish(core: Core, kind: ServedKind, next: StoredObject): StoredObject {
  const key = keyOfObject(next);
  if (!isFinished(next)) return core.store.put(kind.collection, key, next);
  core.store.delete(kind.collection, key);
  return next;
}

/** Whether an object that is being deleted has nothing left to wait for. */
export function isFinished(object: StoredObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp === undefined || (finalizers?.length ?? 0) > 0 || (deletionGracePeriodSeconds ?? 0) > 0) {
    return false;
  }
  return object.kind !== "Namespace" || namespaceFinalizers(object).length === 0;
}

/** A namespace has finalizers of its own, in `spec`. */
export function namespaceFinalizers(namespace: StoredObject): readonly unknown[] {
  const finalizers = own(namespace.spec as Record<string, unknown> | undefined, "finalizers");
  return Array.isArray(finalizers) ? finalizers : [];
}

/** A name that a body must carry. */
export function checkName(object: Draft, name: string): void {
  const given = metadataOf(object);
  if (!given.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (given.name !== name) {
    throw badRequest(`the name of the object (${given.name}) does not match the name on the URL (${name})`);
  }
}
