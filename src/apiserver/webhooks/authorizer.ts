/** `authorizer` in conditions: asks what the user of a request may do (`k8s.io/apiserver/pkg/cel/library/authz.go`). */
import { AUTHORIZER_LIBRARY } from "../../cel/extensions/authorizer.ts";
import { API_SERVER_LIBRARIES, type CelType, type Library, opaque, OpaqueValue, type Value } from "../../cel/mod.ts";
import type { Attributes } from "../access/attributes.ts";
import type { Decision } from "../access/authorizer.ts";
import { AUTHENTICATED, serviceAccountGroups, serviceAccountUser, type User } from "../access/user.ts";

/** Decides what a user may do. */
export type Decide = (user: User, attributes: Attributes) => Decision;

export const AUTHORIZER: CelType = opaque("kubernetes.authorization.Authorizer");
export const RESOURCE_CHECK: CelType = opaque("kubernetes.authorization.ResourceCheck");
const PATH_CHECK = opaque("kubernetes.authorization.PathCheck");
const GROUP_CHECK = opaque("kubernetes.authorization.GroupCheck");
const DECISION = opaque("kubernetes.authorization.Decision");

/** A question on its way: who is asked about, and what is known of it so far. */
class Question extends OpaqueValue {
  constructor(
    override readonly type: CelType,
    readonly decide: Decide,
    readonly user: User,
    readonly parts: Readonly<Record<string, string>> = {},
  ) {
    super();
  }

  /** The same question with more said. */
  with(type: CelType, parts: Readonly<Record<string, string>>): Question {
    return new Question(type, this.decide, this.user, { ...this.parts, ...parts });
  }

  override equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

class Answered extends OpaqueValue {
  override readonly type: CelType = DECISION;

  constructor(readonly decision: Decision) {
    super();
  }

  override equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

/**
 * What `authorizer` stands for.
 *
 * @param decide Who decides.
 * @param user Whose request it is.
 */
export function authorizerValue(decide: Decide, user: User): Value {
  return new Question(AUTHORIZER, decide, user);
}

/** What `authorizer.requestResource` stands for: the question about what the request itself is about. */
export function requestResourceValue(decide: Decide, user: User, parts: Readonly<Record<string, string>>): Value {
  return new Question(RESOURCE_CHECK, decide, user, parts);
}

const CALLS: Readonly<Record<string, (target: Question, ...values: string[]) => Value>> = {
  path: (it, path = "") => it.with(PATH_CHECK, { path }),
  group: (it, group = "") => it.with(GROUP_CHECK, { group }),
  serviceAccount: (it, namespace = "", name = "") =>
    new Question(AUTHORIZER, it.decide, {
      name: serviceAccountUser(namespace, name),
      groups: [...serviceAccountGroups(namespace), AUTHENTICATED],
    }),
  resource: (it, resource = "") => it.with(RESOURCE_CHECK, { resource }),
  subresource: (it, subresource = "") => it.with(RESOURCE_CHECK, { subresource }),
  namespace: (it, namespace = "") => it.with(RESOURCE_CHECK, { namespace }),
  name: (it, name = "") => it.with(RESOURCE_CHECK, { name }),
  // Roles do not look at selectors.
  fieldSelector: (it) => it,
  labelSelector: (it) => it,
  check: (it, verb = "") => new Answered(it.decide(it.user, attributesOf(it, verb))),
};

const TELLS: Readonly<Record<string, (decision: Decision) => Value>> = {
  errored: () => false,
  error: () => "",
  allowed: ({ allowed }) => allowed,
  reason: ({ reason }) => reason,
};

function attributesOf({ parts }: Question, verb: string): Attributes {
  const { path, group = "", resource = "", subresource = "", namespace = "", name = "" } = parts;
  if (path !== undefined) return { verb, path };
  return { verb, group, version: "*", resource, subresource, namespace, name };
}

const ANSWERING: Library = {
  ...AUTHORIZER_LIBRARY,
  functions: AUTHORIZER_LIBRARY.functions.map((declared) => ({
    ...declared,
    overloads: declared.overloads.map((overload) => ({
      ...overload,
      call: (target: Value, ...values: Value[]) => {
        if (target instanceof Answered) return TELLS[declared.name]?.(target.decision) ?? null;
        return CALLS[declared.name]?.(target as Question, ...values as string[]) ?? null;
      },
    })),
  })),
};

/** All libraries of an API server, with an authorizer that answers. */
export const LIBRARIES: readonly Library[] = API_SERVER_LIBRARIES.map((library) =>
  library === AUTHORIZER_LIBRARY ? ANSWERING : library
);
