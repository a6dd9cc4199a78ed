/**
 * Who may block the deletion of an owner (`k8s.io/kubernetes/plugin/pkg/admission/gc`, the plugin OwnerReferencesPermissionEnforcement, which clusters may
 * turn on, as OpenShift does): owner references are changed by who may delete what is owned, and block by who may update the owner's finalizers.
 */
import { equal } from "../../base/json.ts";
import type { Kinds } from "../objects/kinds.ts";
import type { OwnerReference, StoredObject } from "../objects/objects.ts";
import { forbidden } from "../wire/status_error.ts";
import { attributesOn } from "./attributes.ts";
import type { Authorizer } from "./authorizer.ts";
import type { Guard, Written } from "./escalation.ts";
import type { User } from "./user.ts";

/** What the guard asks. */
export interface OwnerGuardOptions {
  readonly authorizer: Authorizer;
  readonly kinds: Kinds;
  /** The part of the object that is written. */
  readonly subresource: string | undefined;
}

/**
 * What is checked of owner references in a write.
 *
 * @param user Who writes.
 * @param written Where.
 * @param options What is asked.
 */
export function ownerGuard(user: User, written: Written, options: OwnerGuardOptions): Guard {
  const { kind, namespace = "" } = written;
  const { authorizer, kinds, subresource } = options;
  return (object, old) => {
    const [references, before] = [referencesOf(object), referencesOf(old)];
    if (equal(references, before)) return;
    const refuse = (why: string, reason: string): never => {
      throw forbidden(kind, object.metadata.name, `${why}: ${reason}, <nil>`);
    };
    if (old !== undefined) {
      const { name } = object.metadata;
      const asked = attributesOn(kind, { verb: "delete", subresource, namespace, name });
      const { allowed, reason } = authorizer.decide(user, asked);
      if (!allowed) refuse("cannot set an ownerRef on a resource you can't delete", reason);
    }
    for (const { apiVersion, kind: owner, name } of newlyBlocking(references, before)) {
      const served = kinds.named(apiVersion, owner);
      if (served === undefined) continue;
      const place = served.namespaced ? namespace : "";
      const asked = attributesOn(served, { verb: "update", subresource: "finalizers", namespace: place, name });
      const { allowed, reason } = authorizer.decide(user, asked);
      if (allowed) continue;
      refuse(
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
        reason,
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
