/**
 * Authorizes requests by the stored Roles, ClusterRoles and bindings
 * (`k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac`). The rules of a user in a namespace are
 * cached until a role or binding changes.
 */
import { keyOf } from "../objects/key.ts";
import type { StoredObject } from "../objects/objects.ts";
import type { Store } from "../objects/store.ts";
import { type Attributes, isOfResource } from "./attributes.ts";
import { allows, type PolicyRule } from "./policy_rule.ts";
import { MASTERS, splitServiceAccount, type User } from "./user.ts";

/** The API group of roles. */
export const RBAC = "rbac.authorization.k8s.io";

/** The decision about a request. */
export interface Decision {
  readonly allowed: boolean;
  /** The binding that allows the request, or the roles that do not exist. */
  readonly reason: string;
}

/** `roleRef` of a binding. */
export interface RoleReference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
}

interface Subject {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** A rule, and the binding that grants it. */
interface GrantedRule {
  readonly rule: PolicyRule;
  readonly source: string;
}

interface Grants {
  readonly granted: readonly GrantedRule[];
  /** Messages about bindings to roles that do not exist. */
  readonly missing: readonly string[];
}

/** Authorizes requests by the stored roles and bindings. */
export class Authorizer {
  readonly #store: Store;
  /** Rules by user name, groups and namespace. */
  #grants = new Map<string, Grants>();

  constructor(store: Store) {
    this.#store = store;
    store.listen(({ collection }) => {
      if (collection.startsWith(`${RBAC}/`)) this.#grants.clear();
    });
  }

  /** Decides whether a user may send a request. */
  decide(user: User, attributes: Attributes): Decision {
    if (user.groups.includes(MASTERS)) return { allowed: true, reason: "" };
    const { granted, missing } = this.#grantsOf(user, isOfResource(attributes) ? attributes.namespace : "");
    const found = granted.find(({ rule }) => allows(rule, attributes));
    if (found !== undefined) return { allowed: true, reason: `RBAC: allowed by ${found.source}` };
    return { allowed: false, reason: missing.length === 0 ? "" : `RBAC: ${aggregateMessage(missing)}` };
  }

  /** Returns all rules of a user in a namespace, and the errors found while collecting them. */
  rulesFor(user: User, namespace: string): { rules: readonly PolicyRule[]; error: string } {
    const { granted, missing } = this.#grantsOf(user, namespace);
    return { rules: granted.map(({ rule }) => rule), error: missing.length === 0 ? "" : aggregateMessage(missing) };
  }

  /**
   * Returns the rules of the role that a binding names, or an error message if it does not exist.
   */
  rulesOf({ kind, name = "" }: RoleReference, namespace: string): readonly PolicyRule[] | string {
    const isRole = kind === "Role";
    if (!isRole && kind !== "ClusterRole") return `unsupported role reference kind: ${JSON.stringify(kind ?? "")}`;
    const role = isRole
      ? this.#store.get(`${RBAC}/roles`, keyOf(namespace, name))
      : this.#store.get(`${RBAC}/clusterroles`, name);
    if (role === undefined) return `${isRole ? "role" : "clusterrole"}.${RBAC} "${name}" not found`;
    return (role.rules ?? []) as readonly PolicyRule[];
  }

  #grantsOf(user: User, namespace: string): Grants {
    const key = JSON.stringify([user.name, user.groups, namespace]);
    const cached = this.#grants.get(key);
    if (cached !== undefined) return cached;
    const grants = this.#collect(user, namespace);
    this.#grants.set(key, grants);
    return grants;
  }

  #collect(user: User, namespace: string): Grants {
    const granted: GrantedRule[] = [];
    const missing: string[] = [];
    const bindings = [
      ...this.#store.list(`${RBAC}/clusterrolebindings`),
      ...(namespace === "" ? [] : this.#store.list(`${RBAC}/rolebindings`, keyOf(namespace, ""))),
    ];
    for (const binding of bindings) {
      const own = binding.metadata.namespace ?? "";
      const subject = ((binding.subjects ?? []) as readonly Subject[]).find((each) => matchesUser(each, user, own));
      if (subject === undefined) continue;
      const rules = this.rulesOf(binding.roleRef as RoleReference, own);
      if (typeof rules === "string") missing.push(rules);
      else granted.push(...rules.map((rule) => ({ rule, source: describeGrant(binding, subject) })));
    }
    return { granted, missing };
  }
}

function matchesUser({ kind, name = "", namespace }: Subject, user: User, bindingNamespace: string): boolean {
  if (kind === "User") return user.name === name;
  if (kind === "Group") return user.groups.includes(name);
  if (kind !== "ServiceAccount") return false;
  const account = splitServiceAccount(user.name);
  return account !== undefined && account.name === name && account.namespace === (namespace || bindingNamespace);
}

/**
 * Describes the binding that allows a request. As in the real server, names come before namespaces.
 */
function describeGrant({ kind, metadata, roleRef }: StoredObject, subject: Subject): string {
  const role = roleRef as RoleReference;
  const { namespace } = metadata;
  const name = namespace === undefined ? metadata.name : `${metadata.name}/${namespace}`;
  const grantee = subject.kind === "ServiceAccount"
    ? `${subject.name}/${subject.namespace || (namespace ?? "")}`
    : subject.name;
  return `${kind} "${name}" of ${role.kind} "${role.name}" to ${subject.kind} "${grantee}"`;
}

function aggregateMessage(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? distinct[0] ?? "" : `[${distinct.join(", ")}]`;
}
