/**
 * Removes duplicate owner references with a warning
 * (`k8s.io/apiserver/pkg/endpoints/handlers/rest.go`).
 */
import { equal } from "../../base/json.ts";
import type { OwnerReference, StoredObject } from "./objects.ts";
import { withMetadata } from "./objects.ts";

/** When the references are checked: as sent, or after mutating webhooks. */
export type CheckTime = "sent" | "after mutating admission happens";

/**
 * Returns an object without duplicate owner references.
 *
 * @param object The object.
 * @param time When the references are checked.
 * @param warnings Receives the warnings.
 */
export function withoutDuplicates<T extends StoredObject>(object: T, time: CheckTime, warnings: string[]): T {
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
