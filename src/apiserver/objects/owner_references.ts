/** References to owners that are there twice: the server takes one, and warns (`k8s.io/apiserver/pkg/endpoints/handlers/rest.go`). */
import { equal } from "../../base/json.ts";
import type { OwnerReference, StoredObject } from "./objects.ts";
import { withMetadata } from "./objects.ts";

/** When references are looked at: as they were sent, or as webhooks left them. */
export type Looked = "sent" | "after mutating admission happens";

/**
 * An object without references that are there twice.
 *
 * @param object The object.
 * @param looked When it is looked at.
 * @param warnings Takes what is to be warned of.
 */
export function withoutDoubles<T extends StoredObject>(object: T, looked: Looked, warnings: string[]): T {
  const { ownerReferences = [] } = object.metadata ?? {};
  if (!Array.isArray(ownerReferences) || ownerReferences.length < 2) return object;
  const kept: OwnerReference[] = [];
  const doubles: string[] = [];
  for (const reference of ownerReferences) {
    if (kept.some((each) => equal(each, reference))) doubles.push(reference.uid);
    else kept.push(reference);
  }
  if (doubles.length === 0) return object;
  const when = looked === "sent" ? "" : ` ${looked}`;
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may ` +
      `reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${
        doubles.join(", ")
      }`,
  );
  return withMetadata(object, { ownerReferences: kept });
}
