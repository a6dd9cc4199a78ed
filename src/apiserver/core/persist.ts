/**
 * Writes objects to the store (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`). All
 * writes pass through here, including those of the server's own controllers.
 */
import { equal } from "../../base/json.ts";
import { pathSegmentErrors } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { invalid as invalidField } from "../../schema/field_error.ts";
import type { Guard } from "../access/escalation.ts";
import { restoreTimes } from "../apply/managed_fields.ts";
import { keyOf, keyOfObject } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { finalizerWarnings, metadataErrors, metadataUpdateErrors } from "../objects/metadata_rules.ts";
import {
  type Draft,
  metadataOf,
  type OwnerReference,
  type StoredObject,
  timestamp,
  withMetadata,
} from "../objects/objects.ts";
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
import { converting, runWithoutAdmission, type Steps } from "./steps.ts";
import { storedOf } from "./stored.ts";

/** The result of a write. */
export interface WriteResult {
  readonly object: StoredObject;
  readonly warnings: readonly string[];
}

/** Options of {@linkcode createObject}. */
export interface CreateRequest {
  readonly namespace: string | undefined;
  readonly dryRun: boolean;
  /** Whether the object comes from a server-side apply, which ignores its resourceVersion. */
  readonly isApplied?: boolean;
  /** Throws if the user must not write the object. */
  readonly guard?: Guard;
  /** Sets the managed fields of the new object. */
  readonly track?: (object: StoredObject) => StoredObject;
}

/**
 * Creates an object.
 *
 * @param core The server.
 * @param kind Kind of the object.
 * @param draft The decoded object.
 * @param request Parameters of the request.
 * @returns The object in the version of this kind.
 * @throws {StatusError} If the object is rejected.
 */
export function createObject(core: Core, kind: ServedKind, draft: Draft, request: CreateRequest): WriteResult {
  return runWithoutAdmission(createSteps(core, kind, draft, request));
}

/** Creates an object as {@linkcode createObject} does, in steps. */
export function* createSteps(core: Core, kind: ServedKind, draft: Draft, request: CreateRequest): Steps<WriteResult> {
  const now = core.clock.now();
  const unidentified = withMetadata(inNamespace(kind, draft, request.namespace) as unknown as StoredObject, {
    uid: undefined,
    creationTimestamp: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  });
  if (kind.namespaced) checkNamespace(core, kind, request.namespace ?? "", metadataOf(unidentified).name ?? "");
  const duplicates: string[] = [];
  const deduplicated = withoutDuplicates(unidentified, "sent", duplicates);
  // Managed fields come from the object as sent: fields that the server changes have no manager.
  const owned = request.track?.(deduplicated) ?? deduplicated;
  const mutated = yield { phase: "mutate", object: kind.rules.admitted?.(owned) ?? owned };
  const namespaced = inNamespace(kind, mutated as unknown as Draft, request.namespace) as unknown as StoredObject;
  const changed = withoutDuplicates(namespaced, "after mutating admission happens", duplicates);
  const { resourceVersion, generateName, name } = metadataOf(changed);
  const fresh = withMetadata(changed, {
    name: name || (generateName ? withGeneratedSuffix(generateName, core.uid()) : ""),
    uid: core.uid(),
    creationTimestamp: timestamp(now),
    resourceVersion: undefined,
  });
  request.guard?.(fresh);
  const tracked = kind.rules.prepareCreate(fresh, now);
  // The real server reports errors of the kind's own rules first, and errors of metadata only if
  // there are none.
  const errors = kind.rules.validate(tracked);
  if (errors.length === 0) errors.push(...metadataErrors(tracked.metadata, kind.namespaced, pathSegmentErrors));
  if (errors.length > 0) {
    throw invalid({ group: groupOf(tracked), kind: tracked.kind }, tracked.metadata.name ?? "", errors);
  }
  if (resourceVersion && !request.isApplied) {
    throw new StatusError(500, undefined, "resourceVersion should not be set on objects to be created");
  }
  const toStore = yield* converting(() => kind.rules.stored?.(tracked) ?? tracked);
  yield { phase: "validate", object: yield* converting(() => kind.rules.read(toStore)) };
  const key = keyOf(tracked.metadata.namespace, tracked.metadata.name);
  if (core.store.get(kind.collection, key) !== undefined) {
    throw alreadyExists(kind, tracked.metadata.name);
  }
  const warnings = [
    ...duplicates,
    ...kind.isBuiltin ? [] : finalizerWarnings(tracked),
    ...kind.rules.warnings?.(tracked) ?? [],
  ];
  yield* converting(() => kind.rules.convertAll?.(toStore));
  // Another request may have created the object during the conversion.
  if (core.store.get(kind.collection, key) !== undefined) {
    throw alreadyExists(kind, tracked.metadata.name);
  }
  if (request.dryRun) return { object: kind.rules.read(toStore), warnings };
  return { object: kind.rules.read(core.store.put(kind.collection, key, toStore)), warnings };
}

/** Returns an object with the namespace of the path. */
function inNamespace(kind: ServedKind, draft: Draft, namespace: string | undefined): Draft {
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

/**
 * Characters of generated suffixes: no vowels and no characters that look alike, so that a suffix
 * spells no word (`k8s.io/apimachinery/pkg/util/rand`).
 */
const SUFFIX_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";

function withGeneratedSuffix(prefix: string, uid: string): string {
  const digits = uid.replaceAll("-", "");
  const suffix = [0, 1, 2, 3, 4].map((i) =>
    SUFFIX_CHARACTERS[parseInt(digits.slice(4 * i, 4 * i + 4), 16) % SUFFIX_CHARACTERS.length]
  );
  return prefix.slice(0, 58) + suffix.join("");
}

function checkNamespace(core: Core, kind: ServedKind, namespace: string, name: string): void {
  const object = core.store.get("/namespaces", namespace);
  if (object === undefined) throw notFound({ group: "", plural: "namespaces" }, namespace);
  if (object.metadata.deletionTimestamp === undefined) return;
  const detail = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(kind, name, detail, [{
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
  /** Throws if the user must not write the object. */
  readonly guard?: Guard;
  readonly subresource?: string;
  /**
   * Whether the request is a full update, in which the uid is a precondition; in a patch, it is a
   * value to write.
   */
  readonly isFullUpdate?: boolean;
  /** Sets the managed fields after the change. */
  readonly track?: (object: StoredObject, old: StoredObject) => StoredObject;
}

/**
 * Updates an object.
 *
 * @param core The server.
 * @param kind Kind of the object.
 * @param request Parameters of the request.
 * @param change Returns the new object, given the current one in the version of this kind.
 * @returns The object in the version of this kind. If nothing changes, it keeps its
 * resourceVersion.
 * @throws {StatusError} If the update is rejected.
 */
export function updateObject(
  core: Core,
  kind: ServedKind,
  request: UpdateRequest,
  change: (live: StoredObject) => Draft,
): WriteResult {
  return runWithoutAdmission(updateSteps(core, kind, request, change));
}

/**
 * Updates an object as {@linkcode updateObject} does, in steps. Starts again if the object changes
 * in between.
 */
export function* updateSteps(
  core: Core,
  kind: ServedKind,
  request: UpdateRequest,
  change: (live: StoredObject) => Draft,
): Steps<WriteResult> {
  const key = keyOf(request.namespace, request.name);
  while (true) {
    const stored = storedOf(core, kind, request.namespace, request.name);
    const commit = yield* prepareUpdate(core, kind, request, stored, change);
    if (core.store.get(kind.collection, key) === stored) return commit();
  }
}

/** Computes and validates an update. Returns a function that stores it. */
function* prepareUpdate(
  core: Core,
  kind: ServedKind,
  request: UpdateRequest,
  stored: StoredObject,
  change: (live: StoredObject) => Draft,
): Steps<() => WriteResult> {
  const old = yield* converting(() => kind.rules.read(stored));
  const duplicates: string[] = [];
  const sent = withRequestNamespace(kind, request, change(old) as unknown as StoredObject);
  const draft = request.isFullUpdate ? withoutDuplicates(sent, "sent", duplicates) : sent;
  // Field ownership is compared in the versions of the managers, which may need conversions.
  const owned = yield* converting(() => request.track?.(draft, old) ?? draft);
  const mutated = yield { phase: "mutate", object: owned, old };
  const changed = withoutDuplicates(mutated, "after mutating admission happens", duplicates);
  const wanted = withCheckedVersion(kind, request, changed, old);
  request.guard?.(wanted, old);
  const kept = keepServerFields(wanted, old);
  const tracked = kind.rules.prepareUpdate(kept, old, request.subresource);
  const errors = [
    ...metadataErrors(tracked.metadata, kind.namespaced, pathSegmentErrors),
    ...metadataUpdateErrors(tracked.metadata, old.metadata),
    ...kind.rules.validate(tracked, old, request.subresource),
  ];
  if (errors.length > 0) {
    throw invalid({ group: groupOf(tracked), kind: tracked.kind }, tracked.metadata.name ?? "", errors);
  }
  const warnings = [
    ...duplicates,
    ...kind.isBuiltin ? [] : finalizerWarnings(tracked, old),
    ...kind.rules.warnings?.(tracked, old, request.subresource) ?? [],
  ];
  const withRestoredTimes = restoreTimes(tracked, old);
  const next = yield* converting(() => kind.rules.stored?.(withRestoredTimes) ?? withRestoredTimes);
  yield { phase: "validate", object: yield* converting(() => kind.rules.read(next)), old };
  yield* converting(() => kind.rules.convertAll?.(next));
  // If only the stored version differs, the object still counts as changed, although no client sees
  // a difference.
  if (equal(next, stored)) return () => ({ object: old, warnings });
  if (request.dryRun) return () => ({ object: kind.rules.read(next), warnings });
  return () => ({ object: kind.rules.read(putOrFinish(core, kind, next)), warnings });
}

/** Returns an object with the namespace of the path, if it has none. */
function withRequestNamespace(kind: ServedKind, request: UpdateRequest, draft: StoredObject): StoredObject {
  const { namespace } = metadataOf(draft);
  if (!kind.namespaced || namespace) return draft;
  return withMetadata(draft, { namespace: request.namespace ?? "" });
}

function groupOf({ apiVersion }: StoredObject): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/**
 * Checks that the uid and resourceVersion of a write match the stored object. Sets the
 * resourceVersion if the kind allows omitting it.
 */
function withCheckedVersion(kind: ServedKind, request: UpdateRequest, wanted: Draft, old: StoredObject): StoredObject {
  const { uid, resourceVersion, namespace } = metadataOf(wanted);
  if (request.isFullUpdate && uid && uid !== old.metadata.uid) throw uidConflict(kind, request, uid, old.metadata.uid);
  if (kind.namespaced && namespace && namespace !== request.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (resourceVersion === undefined || resourceVersion === "" || resourceVersion === "0") {
    if (!kind.rules.allowsUnconditionalUpdate) {
      const error = invalidField("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid({ group: kind.group, kind: kind.plural }, request.name, [error]);
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
  const detail =
    `StorageError: invalid object, Code: 4, Key: ${path.join("/")}, ResourceVersion: 0, AdditionalErrorMsg: ` +
    `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${actual}`;
  return conflict(kind, request.name, detail);
}

/**
 * Restores the fields that only the server sets. The real server ignores changes to them without an
 * error.
 */
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
 * Stores a change, or deletes the object if the change removes the last finalizer or grace period
 * that blocks its deletion. In that case, watches receive only the deletion, with the object's
 * previous state.
 *
 * @param core The server.
 * @param kind Kind of the object.
 * @param next The changed object.
 * @returns The object as stored, or as it would have been stored.
 */
export function putOrFinish(core: Core, kind: ServedKind, next: StoredObject): StoredObject {
  const key = keyOfObject(next);
  if (!isFinished(next)) return core.store.put(kind.collection, key, next);
  core.store.delete(kind.collection, key);
  return next;
}

/**
 * Returns whether an object is being deleted and no finalizer or grace period blocks the deletion.
 */
export function isFinished(object: StoredObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp === undefined || (finalizers?.length ?? 0) > 0 || (deletionGracePeriodSeconds ?? 0) > 0) {
    return false;
  }
  return object.kind !== "Namespace" || namespaceFinalizers(object).length === 0;
}

/**
 * Returns the finalizers of a namespace in `spec`, which it has in addition to those in `metadata`.
 */
export function namespaceFinalizers(namespace: StoredObject): readonly unknown[] {
  const finalizers = own(namespace.spec as Record<string, unknown> | undefined, "finalizers");
  return Array.isArray(finalizers) ? finalizers : [];
}

/** Checks that the name in a body equals the name in the path. */
export function checkName(object: Draft, name: string): void {
  const given = metadataOf(object);
  if (!given.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (given.name !== name) {
    throw badRequest(`the name of the object (${given.name}) does not match the name on the URL (${name})`);
  }
}

/** When the references are checked: when the object arrives, or after mutating webhooks. */
type CheckTime = "sent" | "after mutating admission happens";

/**
 * Returns an object without duplicate owner references, and warns about them
 * (`k8s.io/apiserver/pkg/endpoints/handlers/rest.go`).
 *
 * @param object The object.
 * @param time When the references are checked.
 * @param warnings Receives the warnings.
 */
function withoutDuplicates<T extends StoredObject>(object: T, time: CheckTime, warnings: string[]): T {
  const { ownerReferences = [] } = object.metadata ?? {};
  if (!Array.isArray(ownerReferences) || ownerReferences.length < 2) return object;
  const kept: OwnerReference[] = [];
  const duplicates: string[] = [];
  for (const reference of ownerReferences) {
    if (kept.some((each) => equal(each, reference))) duplicates.push(reference.uid);
    else kept.push(reference);
  }
  if (duplicates.length === 0) return object;
  const when = time === "sent" ? "" : ` ${time}`;
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may ` +
      `reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${
        duplicates.join(", ")
      }`,
  );
  return withMetadata(object, { ownerReferences: kept });
}
