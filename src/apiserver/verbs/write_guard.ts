/** Authorization checks that depend on the contents of a write. */
import { escalationGuard, type Guard } from "../access/escalation.ts";
import { ownerGuard } from "../access/owner_guard.ts";
import type { Core } from "../core/core.ts";
import type { Target } from "../core/target.ts";

/**
 * Returns the checks of a write that depend on its user: privilege escalation and owner references.
 */
export function guardOf(core: Core, target: Target): { guard?: Guard } {
  const { authorizer, ownerReferencesPermissionEnforcement } = core.access;
  const escalation = escalationGuard(authorizer, target.user, target);
  if (authorizer === undefined || !ownerReferencesPermissionEnforcement) {
    return escalation === undefined ? {} : { guard: escalation };
  }
  const owners = ownerGuard(target.user, target, { authorizer, kinds: core.kinds, subresource: target.subresource });
  return {
    guard: (object, old) => {
      escalation?.(object, old);
      owners(object, old);
    },
  };
}
