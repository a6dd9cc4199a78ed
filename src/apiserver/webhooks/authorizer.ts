/**
 * The variable `authorizer` of match conditions, which checks the user's RBAC permissions
 * (`k8s.io/apiserver/pkg/cel/library/authz.go`).
 */
import { AUTHORIZER_LIBRARY } from "../../cel/extensions/authorizer.ts";
import { API_SERVER_LIBRARIES, type CelType, type Library, opaque, OpaqueValue, type Value } from "../../cel/mod.ts";
import type { Attributes } from "../access/attributes.ts";
import type { Decision } from "../access/authorizer.ts";
import { AUTHENTICATED, serviceAccountGroups, serviceAccountUser, type User } from "../access/user.ts";

/** Decides whether a user may send a request. */
export type Decide = (user: User, attributes: Attributes) => Decision;

export const AUTHORIZER: CelType = opaque("kubernetes.authorization.Authorizer");
export const RESOURCE_CHECK: CelType = opaque("kubernetes.authorization.ResourceCheck");
const PATH_CHECK = opaque("kubernetes.authorization.PathCheck");
const GROUP_CHECK = opaque("kubernetes.authorization.GroupCheck");
const DECISION = opaque("kubernetes.authorization.Decision");

/** A check under construction: the user, and the attributes that were set so far. */
class Check extends OpaqueValue {
  constructor(
    override readonly type: CelType,
    readonly decide: Decide,
    readonly user: User,
    readonly parts: Readonly<Record<string, string>> = {},
  ) {
    super();
  }

  /** Returns a copy with more attributes. */
  with(type: CelType, parts: Readonly<Record<string, string>>): Check {
    return new Check(type, this.decide, this.user, { ...this.parts, ...parts });
  }

  override equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

/** The result of a check. */
class DecisionValue extends OpaqueValue {
  override readonly type: CelType = DECISION;

  constructor(readonly decision: Decision) {
    super();
  }

  override equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

/**
 * Returns the value of `authorizer`.
 *
 * @param decide Authorizes requests.
 * @param user User of the request.
 */
export function authorizerValue(decide: Decide, user: User): Value {
  return new Check(AUTHORIZER, decide, user);
}

/** Returns the value of `authorizer.requestResource`: a check of the resource of the request. */
export function requestResourceValue(decide: Decide, user: User, parts: Readonly<Record<string, string>>): Value {
  return new Check(RESOURCE_CHECK, decide, user, parts);
}

const CHECK_METHODS: Readonly<Record<string, (target: Check, ...values: string[]) => Value>> = {
  path: (it, path = "") => it.with(PATH_CHECK, { path }),
  group: (it, group = "") => it.with(GROUP_CHECK, { group }),
  serviceAccount: (it, namespace = "", name = "") =>
    new Check(AUTHORIZER, it.decide, {
      name: serviceAccountUser(namespace, name),
      groups: [...serviceAccountGroups(namespace), AUTHENTICATED],
    }),
  resource: (it, resource = "") => it.with(RESOURCE_CHECK, { resource }),
  subresource: (it, subresource = "") => it.with(RESOURCE_CHECK, { subresource }),
  namespace: (it, namespace = "") => it.with(RESOURCE_CHECK, { namespace }),
  name: (it, name = "") => it.with(RESOURCE_CHECK, { name }),
  // RBAC ignores selectors.
  fieldSelector: (it) => it,
  labelSelector: (it) => it,
  check: (it, verb = "") => new DecisionValue(it.decide(it.user, attributesOf(it, verb))),
};

const DECISION_METHODS: Readonly<Record<string, (decision: Decision) => Value>> = {
  errored: () => false,
  error: () => "",
  allowed: ({ allowed }) => allowed,
  reason: ({ reason }) => reason,
};

function attributesOf({ parts }: Check, verb: string): Attributes {
  const { path, group = "", resource = "", subresource = "", namespace = "", name = "" } = parts;
  if (path !== undefined) return { verb, path };
  return { verb, group, version: "*", resource, subresource, namespace, name };
}

const IMPLEMENTED_LIBRARY: Library = {
  ...AUTHORIZER_LIBRARY,
  functions: AUTHORIZER_LIBRARY.functions.map((declared) => ({
    ...declared,
    overloads: declared.overloads.map((overload) => ({
      ...overload,
      call: (target: Value, ...values: Value[]) => {
        if (target instanceof DecisionValue) return DECISION_METHODS[declared.name]?.(target.decision) ?? null;
        return CHECK_METHODS[declared.name]?.(target as Check, ...values as string[]) ?? null;
      },
    })),
  })),
};

/** All CEL libraries of an API server, with an implementation of the authorizer. */
export const LIBRARIES: readonly Library[] = API_SERVER_LIBRARIES.map((library) =>
  library === AUTHORIZER_LIBRARY ? IMPLEMENTED_LIBRARY : library
);
