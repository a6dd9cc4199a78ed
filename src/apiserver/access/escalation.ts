/**
 * Nobody grants what he does not have (`k8s.io/kubernetes/pkg/registry/rbac`): a role may hold only rules that its writer has, and a role may be bound only
 * by who has all of it, unless the verbs `escalate` and `bind` allow it.
 */
import { equal } from "../../base/json.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { Draft, StoredObject } from "../objects/objects.ts";
import { withMetadata } from "../objects/objects.ts";
import { forbidden, notFound, StatusError } from "../wire/status_error.ts";
import { type Authorizer, RBAC, type RoleReference } from "./authorizer.ts";
import { compactLines, type PolicyRule, quotedList, uncovered } from "./policy_rule.ts";
import { MASTERS, type User } from "./user.ts";

/** Checks an object about to be written; `old` is absent on create. Throws a StatusError. */
export type Guard = (object: StoredObject, old?: StoredObject) => void;

/** Where a write goes. */
export interface Written {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  /** As the path has it. */
  readonly name: string | undefined;
}

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * What is to be checked of a write besides what all writes are checked for.
 *
 * @param authorizer Who decides; absent where everybody may do everything.
 * @param user Who writes.
 * @param written Where.
 */
export function escalationGuard(authorizer: Authorizer | undefined, user: User, written: Written): Guard | undefined {
  const { kind, namespace = "", name = "" } = written;
  if (authorizer === undefined || kind.group !== RBAC || user.groups.includes(MASTERS)) return undefined;
  const may = (verb: string, resource: string, of: string) => {
    const attributes = { verb, group: RBAC, version: "*", resource, subresource: "", namespace, name: of };
    return authorizer.decide(user, attributes).allowed;
  };
  const isRole = kind.plural === "roles" || kind.plural === "clusterroles";
  if (isRole && may("escalate", kind.plural, name)) return undefined;
  return (object, old) => {
    if (old !== undefined && isLettingGo(object, old)) return;
    const refuse = (why: string) => forbidden({ group: RBAC, plural: kind.plural }, object.metadata.name, why);
    const check = (rules: readonly PolicyRule[]) => {
      const missing = uncovered(authorizer.rulesFor(user, namespace).rules, rules);
      if (missing.length > 0) throw refuse(notHeld(authorizer, user, namespace, missing));
    };
    if (isRole) {
      check((object.rules ?? []) as readonly PolicyRule[]);
      if (!isAggregated(object) && (old === undefined || !isAggregated(old))) return;
      if (uncovered(authorizer.rulesFor(user, namespace).rules, EVERYTHING).length === 0) return;
      throw refuse("must have cluster-admin privileges to use the aggregationRule");
    }
    const role = (object.roleRef ?? {}) as RoleReference;
    const plural = role.kind === "Role" ? "roles" : "clusterroles";
    if ((role.kind === "Role" || role.kind === "ClusterRole") && may("bind", plural, role.name ?? "")) return;
    const rules = authorizer.rulesOf(role, namespace);
    if (typeof rules === "string") throw roleMissing(role, kind.plural, rules);
    check(rules);
  };
}

function notHeld(authorizer: Authorizer, user: User, namespace: string, missing: readonly PolicyRule[]): string {
  const { error } = authorizer.rulesFor(user, namespace);
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
  const lines = compactLines(missing).join("\n");
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${lines}`;
  return error === "" ? why : `${why}; resolution errors: [${error.replace(/^\[|\]$/g, "")}]`;
}

/** A binding that cannot be checked, since the role that it names is not there. */
function roleMissing({ kind, name = "" }: RoleReference, plural: string, why: string): Error {
  if (kind !== "Role" && kind !== "ClusterRole") return new StatusError(500, undefined, why);
  return notFound({ group: RBAC, plural }, name);
}

function isAggregated({ aggregationRule }: StoredObject): boolean {
  const selectors = (aggregationRule as { clusterRoleSelectors?: readonly unknown[] } | undefined)
    ?.clusterRoleSelectors;
  return (selectors?.length ?? 0) > 0;
}

/** Whether all that changes is what the garbage collector changes. */
function isLettingGo(object: StoredObject, old: StoredObject): boolean {
  const same = { ownerReferences: undefined, finalizers: undefined, managedFields: undefined };
  return equal(withMetadata(object as Draft, same), withMetadata(old as Draft, same));
}
