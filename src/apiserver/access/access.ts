/** Authentication, impersonation and authorization of requests. */
import type { ServedKind } from "../objects/kinds.ts";
import { attributesOf, attributesOn, type ResourceAction } from "./attributes.ts";
import { Authorizer } from "./authorizer.ts";
import { actingUser, type Mode } from "./impersonation.ts";
import { accessDenied, unauthorized } from "./denial.ts";
import { Tokens, type TokenSources } from "./tokens.ts";
import { ANONYMOUS_USER, AUTHENTICATED, SUPERUSER, UNAUTHENTICATED, type User } from "./user.ts";

/** Options of {@linkcode Access}. */
export interface AccessOptions {
  /** Whether roles are enforced. Otherwise every request is allowed. */
  readonly rbac: boolean;
  /** Whether the admission plugin OwnerReferencesPermissionEnforcement is enabled. */
  readonly ownerReferencesPermissionEnforcement: boolean;
  /** Users by bearer token. */
  readonly tokens: Readonly<Record<string, User>>;
}

/** Authenticates and authorizes requests. */
export class Access {
  /** Authorizes requests; absent if every request is allowed. */
  readonly authorizer: Authorizer | undefined;
  readonly ownerReferencesPermissionEnforcement: boolean;
  readonly tokens: Tokens;
  /** The impersonation mode that was last allowed for each requester, by user name. */
  readonly lastModes: Map<string, Mode> = new Map();
  readonly #users: ReadonlyMap<string, User>;

  constructor(sources: TokenSources, { rbac, ownerReferencesPermissionEnforcement, tokens }: AccessOptions) {
    this.ownerReferencesPermissionEnforcement = ownerReferencesPermissionEnforcement;
    this.authorizer = rbac ? new Authorizer(sources.store) : undefined;
    this.tokens = new Tokens(sources);
    this.#users = new Map(Object.entries(tokens));
  }

  /**
   * Authenticates and authorizes a request.
   *
   * @param request The request.
   * @param known The user, if the connection authenticated it.
   * @param isAnonymousAllowed Whether a server without RBAC accepts a request without a known
   * token.
   * @returns The user, or the user that it impersonates.
   * @throws {StatusError} If the request is not authenticated or not allowed.
   */
  authenticate(request: Request, known: User | undefined, isAnonymousAllowed: boolean): User {
    const url = new URL(request.url);
    const attributes = attributesOf(request.method, url);
    const isOpen = isAnonymousAllowed || PUBLIC.test(url.pathname);
    const user = actingUser(request.headers, known ?? this.#tokenUser(request.headers, isOpen), attributes, this);
    const decision = this.authorizer?.decide(user, attributes);
    if (decision !== undefined && !decision.allowed) throw accessDenied(user, attributes, decision.reason);
    return user;
  }

  /**
   * Checks whether a user may create the object, for an update or apply of an object that does not
   * exist.
   *
   * @throws {StatusError} If the user lacks the RBAC permission.
   */
  checkCreate(user: User, kind: ServedKind, { namespace, name }: Pick<ResourceAction, "namespace" | "name">): void {
    const attributes = attributesOn(kind, { verb: "create", namespace, name });
    const decision = this.authorizer?.decide(user, attributes);
    if (decision !== undefined && !decision.allowed) throw accessDenied(user, attributes, decision.reason);
  }

  /** Returns the user of a token, or the reason why the token is invalid. */
  review(token: string, audiences?: readonly string[]): { user: User; audiences?: readonly string[] } | string {
    const user = this.#users.get(token);
    if (user !== undefined) return { user: withAuthenticated(user) };
    return this.tokens.verify(token, audiences) ?? "invalid bearer token";
  }

  #tokenUser(headers: Headers, isOpen: boolean): User {
    const [, token] = /^Bearer +(\S+)/i.exec(headers.get("authorization") ?? "") ?? [];
    const reviewed = token === undefined ? undefined : this.review(token);
    if (reviewed !== undefined && typeof reviewed !== "string") return reviewed.user;
    if (this.authorizer === undefined && isOpen) return SUPERUSER;
    if (this.authorizer === undefined || token !== undefined) throw unauthorized();
    return ANONYMOUS_USER;
  }
}

/** Paths that a real API server serves to every caller (ClusterRole system:public-info-viewer). */
const PUBLIC = /^\/(healthz|livez|readyz|version)(\/|$)/;

function withAuthenticated(user: User): User {
  if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}
