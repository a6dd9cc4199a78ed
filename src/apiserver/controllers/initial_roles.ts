/**
 * The roles and bindings of a new cluster, among them `cluster-admin`, `admin`, `edit` and `view`.
 */
import { accessData } from "../../openapi/access.gen.ts";
import { RBAC } from "../access/authorizer.ts";
import { ownedByServer } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { keyOfObject } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type Draft, metadataOf, type StoredObject, timestamp } from "../objects/objects.ts";

/**
 * Stores the roles and bindings of a new cluster. They are written directly to the store, which
 * takes a tenth of the time of create requests. This is safe because they are valid and their
 * managed fields are known.
 *
 * @param core The server, with its kinds and namespaces.
 */
export function createInitialRoles(core: Core): void {
  const time = timestamp(core.clock.now());
  for (const [plural, object] of initialRoles()) {
    const kind = core.kinds.get(RBAC, "v1", plural);
    if (kind === undefined) continue;
    const stored = initialRole(kind, object, { time, uid: core.uid() });
    core.store.put(kind.collection, keyOfObject(stored), stored);
  }
}

/**
 * Returns the roles and bindings of a new cluster, each with the plural name of its kind, in the
 * order of creation.
 */
export function initialRoles(): readonly (readonly [plural: string, object: Draft])[] {
  return JSON.parse(accessData);
}

function initialRole({ apiVersion, kind }: ServedKind, object: Draft, creation: { time: string; uid: string }) {
  const { time, uid } = creation;
  const managedFields = [ownedByServer(apiVersion, time, ownedFields(object))];
  const metadata = { ...metadataOf(object), uid, creationTimestamp: time, managedFields };
  // An aggregated role has no rules yet.
  const rules = kind.endsWith("Role") && object.rules === undefined ? { rules: null } : {};
  return { apiVersion, kind, ...object, ...rules, metadata } as unknown as StoredObject;
}

/** Returns all fields except the object's identity, in the form of `managedFields`. */
function ownedFields(object: Draft): Draft {
  const { labels, annotations } = metadataOf(object);
  const metadata = { ...keysOf("annotations", annotations), ...keysOf("labels", labels) };
  const parts = Object.entries(object).filter(([key, value]) => key !== "metadata" && value !== null)
    .map(([key, value]) => [`f:${key}`, key === "aggregationRule" ? within(value as Draft) : {}]);
  return { ...Object.keys(metadata).length > 0 && { "f:metadata": metadata }, ...Object.fromEntries(parts) };
}

function keysOf(name: string, values: Draft | undefined): Draft {
  return values === undefined ? {} : { [`f:${name}`]: within(values) };
}

/** Returns the fields of an object that has a manager itself, together with all its keys. */
function within(values: Draft): Draft {
  return { ".": {}, ...Object.fromEntries(Object.keys(values).map((key) => [`f:${key}`, {}])) };
}
