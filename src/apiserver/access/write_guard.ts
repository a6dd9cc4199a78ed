/** What writes are checked for because of who makes them. */
import type { Core } from "../core.ts";
import type { Target } from "../target.ts";
import { escalationGuard, type Guard } from "./escalation.ts";
import { ownerGuard } from "./owner_guard.ts";

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
