/** Looks up the object that a request names. */
import { pathSegmentErrors } from "../../base/name_rules.ts";
import { quoted } from "../../base/quoted.ts";
import { keyOf } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { badRequest, notFound } from "../wire/status_error.ts";
import type { Core } from "./core.ts";

/**
 * Returns a stored object.
 *
 * @throws {StatusError} If the object does not exist, or the name is not valid as a path segment
 * (`k8s.io/apiserver/pkg/registry/generic/registry`, NamespaceKeyFunc).
 */
export function storedOf(core: Core, kind: ServedKind, namespace: string | undefined, name: string): StoredObject {
  const errors = pathSegmentErrors(name);
  if (errors.length > 0) throw badRequest(`Name parameter invalid: ${quoted(name)}: ${errors.join(";")}`);
  const stored = core.store.get(kind.collection, keyOf(namespace, name));
  if (stored === undefined) throw notFound(kind, name);
  return stored;
}
