/** What all parts of the server share. */
import type { Clock } from "../base/clock.ts";
import { pathSegmentFaults } from "../base/name_rules.ts";
import { quoted } from "../base/quoted.ts";
import type { Access } from "./access/access.ts";
import type { Caller } from "./admission/call.ts";
import type { Background } from "./background.ts";
import type { Kinds, ServedKind } from "./kinds.ts";
import type { StoredObject } from "./objects.ts";
import { badRequest, notFound } from "./status_error.ts";
import type { Store } from "./store.ts";

/** The server's state and its sources of time and chance. */
export interface Core {
  readonly clock: Clock;
  readonly store: Store;
  readonly kinds: Kinds;
  readonly background: Background;
  /** Who may do what. */
  readonly access: Access;
  /** How webhooks are reached. */
  readonly caller: Caller;
  /** A fresh uid. */
  readonly uid: () => string;
  /** Counts something that happened. */
  readonly happened: () => void;
}

/** Where an object is kept in its collection. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** The key of a stored object. */
export function keyOfObject({ metadata }: StoredObject): string {
  return keyOf(metadata.namespace, metadata.name);
}

/** What a kind's objects are called in messages. */
export function resourceName(kind: ServedKind): { group: string; plural: string } {
  return { group: kind.group, plural: kind.plural };
}

/**
 * An object as it is stored.
 *
 * @throws {StatusError} If it is not there, or its name cannot be that of one (`k8s.io/apiserver/pkg/registry/generic/registry`, NamespaceKeyFunc).
 */
export function storedOf(core: Core, kind: ServedKind, namespace: string | undefined, name: string): StoredObject {
  const faults = pathSegmentFaults(name);
  if (faults.length > 0) throw badRequest(`Name parameter invalid: ${quoted(name)}: ${faults.join(";")}`);
  const stored = core.store.get(kind.collection, keyOf(namespace, name));
  if (stored === undefined) throw notFound(resourceName(kind), name);
  return stored;
}
