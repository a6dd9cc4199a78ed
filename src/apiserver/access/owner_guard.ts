/**
 * The admission plugin OwnerReferencesPermissionEnforcement
 * (`k8s.io/kubernetes/plugin/pkg/admission/gc`), which is off by default and on in OpenShift.
 * Changing owner references requires the RBAC permission to delete the owned object, and setting
 * `blockOwnerDeletion` requires the RBAC permission to update the owner's finalizers.
 */
import { equal } from "../../base/json.ts";
import type { Kinds } from "../objects/kinds.ts";
import type { OwnerReference, StoredObject } from "../objects/objects.ts";
import { forbidden } from "../wire/status_error.ts";
import { attributesOn, type ResourceAttributes } from "./attributes.ts";
import type { Authorizer } from "./authorizer.ts";
import { AccessDeniedError } from "./denial.ts";
import type { Guard, WriteTarget } from "./escalation.ts";
import type { User } from "./user.ts";

/** Options of {@linkcode ownerGuard}. */
export interface OwnerGuardOptions {
  readonly authorizer: Authorizer;
  readonly kinds: Kinds;
  /** The written subresource. */
  readonly subresource: string | undefined;
}

/**
 * Returns the check of owner references in a write.
 *
 * @param user The user who sends the write.
 * @param target The object that the write changes.
 * @param options The authorizer, and the rest of the write.
 */
export function ownerGuard(user: User, target: WriteTarget, options: OwnerGuardOptions): Guard {
  const { kind, namespace = "" } = target;
  const { authorizer, kinds, subresource } = options;
  return (object, old) => {
    const [references, before] = [referencesOf(object), referencesOf(old)];
    if (equal(references, before)) return;
    const check = (action: ResourceAttributes, detail: string): void => {
      const { allowed, reason } = authorizer.decide(user, action);
      if (allowed) return;
      throw new AccessDeniedError(forbidden(kind, object.metadata.name, `${detail}: ${reason}, <nil>`), user, action);
    };
    if (old !== undefined) {
      const { name } = object.metadata;
      const action = attributesOn(kind, { verb: "delete", subresource, namespace, name });
      check(action, "cannot set an ownerRef on a resource you can't delete");
    }
    for (const { apiVersion, kind: owner, name } of newlyBlocking(references, before)) {
      const served = kinds.named(apiVersion, owner);
      if (served === undefined) continue;
      const ownerNamespace = served.namespaced ? namespace : "";
      const action = { verb: "update", subresource: "finalizers", namespace: ownerNamespace, name };
      check(
        attributesOn(served, action),
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
      );
    }
  };
}

function referencesOf(object: StoredObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

function newlyBlocking(references: readonly OwnerReference[], before: readonly OwnerReference[]): OwnerReference[] {
  return references.filter(({ uid, blockOwnerDeletion }) =>
    blockOwnerDeletion === true && !before.some((other) => other.uid === uid && other.blockOwnerDeletion === true)
  );
}
