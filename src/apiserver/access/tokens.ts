/**
 * Tokens of service accounts (`k8s.io/kubernetes/pkg/serviceaccount`). A TokenRequest issues them,
 * and they are valid until they expire or the object that they are bound to is deleted. They are
 * JWTs with the same claims as those of a real server. Only this server verifies them, so the
 * signature is a random value.
 */
import type { Clock } from "../../base/clock.ts";
import { keyOf } from "../objects/key.ts";
import type { Store } from "../objects/store.ts";
import { quotedList } from "./policy_rule.ts";
import { AUTHENTICATED, serviceAccountGroups, serviceAccountUser, type User } from "./user.ts";

/** Issuer of tokens, and their default audience. */
export const ISSUER = "https://kubernetes.default.svc";

/** An object that a token is bound to, in addition to its account. */
export interface Bound {
  readonly kind: "Pod" | "Secret" | "Node";
  readonly name: string;
  readonly uid: string;
}

/** Parameters of {@linkcode Tokens.issue}. */
export interface TokenRequest {
  readonly namespace: string;
  readonly name: string;
  /** Uid of the account. */
  readonly uid: string;
  readonly audiences: readonly string[];
  /** Lifetime in seconds. */
  readonly lifetime: number;
  readonly bound?: Bound;
}

/** A valid token. */
export interface Verified {
  readonly user: User;
  /** The requested audiences that the token is valid for. */
  readonly audiences: readonly string[];
}

interface IssuedToken extends TokenRequest {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

const COLLECTIONS = { Pod: "/pods", Secret: "/secrets", Node: "/nodes" } as const;

/** The parts of the server that {@linkcode Tokens} uses. */
export interface TokenSources {
  readonly clock: Clock;
  readonly store: Store;
  /** Returns a new uid. */
  readonly uid: () => string;
}

/** All issued tokens. */
export class Tokens {
  readonly #sources: TokenSources;
  readonly #issued = new Map<string, IssuedToken>();

  constructor(sources: TokenSources) {
    this.#sources = sources;
  }

  /** Issues a token. */
  issue(request: TokenRequest): string {
    const { namespace, name, uid, audiences, lifetime, bound } = request;
    const id = this.#sources.uid();
    const now = this.#sources.clock.now();
    const seconds = Math.floor(now / 1000);
    const claims = {
      aud: audiences,
      exp: seconds + lifetime,
      iat: seconds,
      iss: ISSUER,
      jti: id,
      "kubernetes.io": {
        namespace,
        ...(bound && { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
        serviceaccount: { name, uid },
      },
      nbf: seconds,
      sub: serviceAccountUser(namespace, name),
    };
    const parts = [JSON.stringify({ alg: "RS256", kid: "memory" }), JSON.stringify(claims), this.#sources.uid()];
    const token = parts.map(base64url).join(".");
    this.#issued.set(token, { ...request, id, expires: now + lifetime * 1000 });
    return token;
  }

  /**
   * Verifies a token.
   *
   * @param token The token.
   * @param audiences Audiences, one of which the token must be valid for.
   * @returns The token's user; an error message if the token is invalid; `undefined` if this server
   * did not issue it.
   */
  verify(token: string, audiences: readonly string[] = [ISSUER]): Verified | string | undefined {
    const issued = this.#issued.get(token);
    if (issued === undefined) return undefined;
    const { namespace, name, uid, bound } = issued;
    const common = issued.audiences.filter((each) => audiences.includes(each));
    if (common.length === 0) {
      const [own, wanted] = [quotedList(issued.audiences), quotedList(audiences)];
      return `token audiences ${own} is invalid for the target audiences ${wanted}`;
    }
    if (this.#sources.clock.now() > issued.expires) return "service account token has expired";
    const account = this.#sources.store.get("/serviceaccounts", keyOf(namespace, name));
    if (account === undefined) return `serviceaccounts "${name}" not found`;
    if (account.metadata.uid !== uid) {
      return `service account UID (${account.metadata.uid}) does not match claim (${uid})`;
    }
    if (bound !== undefined && !this.#exists(bound, namespace)) return "service account token has been invalidated";
    const groups = [...serviceAccountGroups(namespace), AUTHENTICATED];
    const extra = { "authentication.kubernetes.io/credential-id": [`JTI=${issued.id}`], ...boundExtra(bound) };
    return { user: { name: serviceAccountUser(namespace, name), uid, groups, extra }, audiences: common };
  }

  #exists({ kind, name, uid }: Bound, namespace: string): boolean {
    const key = kind === "Node" ? name : keyOf(namespace, name);
    return this.#sources.store.get(COLLECTIONS[kind], key)?.metadata.uid === uid;
  }
}

function boundExtra(bound: Bound | undefined): Record<string, string[]> {
  if (bound === undefined || bound.kind === "Secret") return {};
  const kind = bound.kind.toLowerCase();
  return {
    [`authentication.kubernetes.io/${kind}-name`]: [bound.name],
    [`authentication.kubernetes.io/${kind}-uid`]: [bound.uid],
  };
}

function base64url(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
