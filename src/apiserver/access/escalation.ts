/**
 * Privilege escalation checks (`k8s.io/kubernetes/pkg/registry/rbac`). Users may only grant rules
 * that they have themselves. Writing a role with other rules requires the verb `escalate`, and
 * binding it requires the verb `bind`.
 */
import { equal } from "../../base/json.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { Draft, StoredObject } from "../objects/objects.ts";
import { withMetadata } from "../objects/objects.ts";
import { forbidden, notFound, StatusError } from "../wire/status_error.ts";
import { type Authorizer, RBAC, type RoleReference } from "./authorizer.ts";
import { compactLines, type PolicyRule, quotedList, uncovered } from "./policy_rule.ts";
import { MASTERS, type User } from "./user.ts";

/** Checks an object before it is written; `old` is absent on create. Throws a StatusError. */
export type Guard = (object: StoredObject, old?: StoredObject) => void;

/** The object that a write changes. */
export interface WriteTarget {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  /** The name in the path. */
  readonly name: string | undefined;
}

const ALL_RULES: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * Returns the escalation check of a write.
 *
 * @param authorizer Authorizes requests; absent if every request is allowed.
 * @param user The user who sends the write.
 * @param target The object that the write changes.
 * @returns The check; `undefined` if the write needs none.
 */
export function escalationGuard(
  authorizer: Authorizer | undefined,
  user: User,
  target: WriteTarget,
): Guard | undefined {
  const { kind, namespace = "", name = "" } = target;
  if (authorizer === undefined || kind.group !== RBAC || user.groups.includes(MASTERS)) return undefined;
  const isAllowed = (verb: string, resource: string, resourceName: string) => {
    const attributes = { verb, group: RBAC, version: "*", resource, subresource: "", namespace, name: resourceName };
    return authorizer.decide(user, attributes).allowed;
  };
  const isRole = kind.plural === "roles" || kind.plural === "clusterroles";
  if (isRole && isAllowed("escalate", kind.plural, name)) return undefined;
  return (object, old) => {
    if (old !== undefined && changesOnlyOwnership(object, old)) return;
    const rejection = (reason: string) => forbidden({ group: RBAC, plural: kind.plural }, object.metadata.name, reason);
    const check = (rules: readonly PolicyRule[]) => {
      const missing = uncovered(authorizer.rulesFor(user, namespace).rules, rules);
      if (missing.length > 0) throw rejection(missingRulesMessage(authorizer, user, namespace, missing));
    };
    if (isRole) {
      check((object.rules ?? []) as readonly PolicyRule[]);
      if (!isAggregated(object) && (old === undefined || !isAggregated(old))) return;
      if (uncovered(authorizer.rulesFor(user, namespace).rules, ALL_RULES).length === 0) return;
      throw rejection("must have cluster-admin privileges to use the aggregationRule");
    }
    const role = (object.roleRef ?? {}) as RoleReference;
    const plural = role.kind === "Role" ? "roles" : "clusterroles";
    if ((role.kind === "Role" || role.kind === "ClusterRole") && isAllowed("bind", plural, role.name ?? "")) return;
    const rules = authorizer.rulesOf(role, namespace);
    if (typeof rules === "string") throw missingRoleError(role, kind.plural, rules);
    check(rules);
  };
}

function missingRulesMessage(
  authorizer: Authorizer,
  user: User,
  namespace: string,
  missing: readonly PolicyRule[],
): string {
  const { error } = authorizer.rulesFor(user, namespace);
  const userDescription = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
  const lines = compactLines(missing).join("\n");
  const reason = `${userDescription} is attempting to grant RBAC permissions not currently held:\n${lines}`;
  return error === "" ? reason : `${reason}; resolution errors: [${error.replace(/^\[|\]$/g, "")}]`;
}

/**
 * Returns the error for a binding whose role does not exist, so that its rules cannot be checked.
 */
function missingRoleError({ kind, name = "" }: RoleReference, plural: string, reason: string): Error {
  if (kind !== "Role" && kind !== "ClusterRole") return new StatusError(500, undefined, reason);
  return notFound({ group: RBAC, plural }, name);
}

function isAggregated({ aggregationRule }: StoredObject): boolean {
  const selectors = (aggregationRule as { clusterRoleSelectors?: readonly unknown[] } | undefined)
    ?.clusterRoleSelectors;
  return (selectors?.length ?? 0) > 0;
}

/** Returns whether an update changes only fields that the garbage collector changes. */
function changesOnlyOwnership(object: StoredObject, old: StoredObject): boolean {
  const same = { ownerReferences: undefined, finalizers: undefined, managedFields: undefined };
  return equal(withMetadata(object as Draft, same), withMetadata(old as Draft, same));
}
