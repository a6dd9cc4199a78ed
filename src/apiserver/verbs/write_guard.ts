/** What writes are checked for because of who makes them. */
import { escalationGuard, type Guard } from "../access/escalation.ts";
import { ownerGuard } from "../access/owner_guard.ts";
import type { Core } from "../core/core.ts";
import type { Target } from "../core/target.ts";

/** What a write is checked for because of who makes it. */
export function guardOf(core: Core, target: Target): { guard?: Guard } {
  const { authorizer, checksOwners } = core.access;
  const escalation = escalationGuard(authorizer, target.user, target);
  if (authorizer === undefined || !checksOwners) return escalation === undefined ? {} : { guard: escalation };
  const owners = ownerGuard(target.user, target, { authorizer, kinds: core.kinds, subresource: target.subresource });
  return {
    guard: (object, old) => {
      escalation?.(object, old);
      owners(object, old);
    },
  };
}
