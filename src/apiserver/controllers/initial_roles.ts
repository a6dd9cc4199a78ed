/** The roles and bindings that a cluster begins with, among them `cluster-admin`, `admin`, `edit` and `view`. */
import { accessData } from "../../openapi/access.gen.ts";
import { RBAC } from "../access/authorizer.ts";
import { ownedByServer } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { keyOfObject } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type Draft, metadataOf, type StoredObject, timestamp } from "../objects/objects.ts";

/**
 * Makes the roles and bindings of a fresh cluster. They are known to be good, and who owns what of them is plain: so they are stored as they are to be,
 * which takes a tenth of the time that as many requests would.
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

/** The roles and bindings of a fresh cluster: each after the plural name of its kind, in the order in which they are made. */
export function initialRoles(): readonly (readonly [plural: string, object: Draft])[] {
  return JSON.parse(accessData);
}

function initialRole({ apiVersion, kind }: ServedKind, object: Draft, made: { time: string; uid: string }) {
  const { time, uid } = made;
  const managedFields = [ownedByServer(apiVersion, time, ownedFields(object))];
  const metadata = { ...metadataOf(object), uid, creationTimestamp: time, managedFields };
  // Of a role that gathers others' rules there are none yet.
  const rules = kind.endsWith("Role") && object.rules === undefined ? { rules: null } : {};
  return { apiVersion, kind, ...object, ...rules, metadata } as unknown as StoredObject;
}

/** All fields but those that tell of the object itself, as `managedFields` has them. */
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

/** An object that is owned itself, and all its keys. */
function within(values: Draft): Draft {
  return { ".": {}, ...Object.fromEntries(Object.keys(values).map((key) => [`f:${key}`, {}])) };
}
