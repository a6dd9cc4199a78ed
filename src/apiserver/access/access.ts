/** The way in: who sends a request, as whom it is answered, and whether it may be. */
import type { ServedKind } from "../objects/kinds.ts";
import { type Asked, attributesOf, attributesOn } from "./attributes.ts";
import { Authorizer } from "./authorizer.ts";
import { actingUser, type Mode } from "./impersonation.ts";
import { accessRefused, unauthorized } from "./refusal.ts";
import { Tokens, type TokenSources } from "./tokens.ts";
import { ADMINISTRATOR, AUTHENTICATED, NOBODY, UNAUTHENTICATED, type User } from "./user.ts";

/** Options of {@linkcode Access}. */
export interface AccessOptions {
  /** Whether roles decide. Otherwise everybody may do everything. */
  readonly rbac: boolean;
  /** Whether who may not set an owner's finalizers may not block its deletion either. */
  readonly checksOwners: boolean;
  /** Users by the bearer tokens that they show. */
  readonly tokens: Readonly<Record<string, User>>;
}

/** Who may do what. */
export class Access {
  /** Decides; absent where everybody may do everything. */
  readonly authorizer: Authorizer | undefined;
  readonly checksOwners: boolean;
  readonly tokens: Tokens;
  readonly lastModes: Map<string, Mode> = new Map();
  readonly #users: ReadonlyMap<string, User>;

  constructor(sources: TokenSources, { rbac, checksOwners, tokens }: AccessOptions) {
    this.checksOwners = checksOwners;
    this.authorizer = rbac ? new Authorizer(sources.store) : undefined;
    this.tokens = new Tokens(sources);
    this.#users = new Map(Object.entries(tokens));
  }

  /**
   * Lets a request in.
   *
   * @param request The request.
   * @param sender Who sent it, where that is known from the connection.
   * @param isAnonymousAllowed Whether a request without a known token is answered where roles are not enforced.
   * @returns The user as whom it is answered.
   * @throws {StatusError} If it may not be.
   */
  admit(request: Request, sender: User | undefined, isAnonymousAllowed: boolean): User {
    const url = new URL(request.url);
    const attributes = attributesOf(request.method, url);
    const isOpen = isAnonymousAllowed || PUBLIC.test(url.pathname);
    const user = actingUser(request.headers, sender ?? this.#sender(request.headers, isOpen), attributes, this);
    const decision = this.authorizer?.decide(user, attributes);
    if (decision !== undefined && !decision.allowed) throw accessRefused(user, attributes, decision.reason);
    return user;
  }

  /**
   * Checks that a write that makes an object where there is none may make it.
   *
   * @throws {StatusError} If it may not.
   */
  checkCreate(user: User, kind: ServedKind, { namespace, name }: Pick<Asked, "namespace" | "name">): void {
    const attributes = attributesOn(kind, { verb: "create", namespace, name });
    const decision = this.authorizer?.decide(user, attributes);
    if (decision !== undefined && !decision.allowed) throw accessRefused(user, attributes, decision.reason);
  }

  /** Whose a token is; why it is refused, as a text. */
  review(token: string, audiences?: readonly string[]): { user: User; audiences?: readonly string[] } | string {
    const user = this.#users.get(token);
    if (user !== undefined) return { user: withAuthenticated(user) };
    return this.tokens.verify(token, audiences) ?? "invalid bearer token";
  }

  #sender(headers: Headers, isOpen: boolean): User {
    const [, token] = /^Bearer +(\S+)/i.exec(headers.get("authorization") ?? "") ?? [];
    const reviewed = token === undefined ? undefined : this.review(token);
    if (reviewed !== undefined && typeof reviewed !== "string") return reviewed.user;
    if (this.authorizer === undefined && isOpen) return ADMINISTRATOR;
    if (this.authorizer === undefined || token !== undefined) throw unauthorized();
    return NOBODY;
  }
}

/** What a real API server answers to any caller (ClusterRole system:public-info-viewer). */
const PUBLIC = /^\/(healthz|livez|readyz|version)(\/|$)/;

function withAuthenticated(user: User): User {
  if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}
