/**
 * Tokens of service accounts (`k8s.io/kubernetes/pkg/serviceaccount`): made by a TokenRequest, good until they expire or what they are bound to goes.
 * They have the form of a JWT, with the real claims; nobody but this server can check them, so the signature is chance.
 */
import type { Clock } from "../../base/clock.ts";
import { keyOf } from "../objects/key.ts";
import type { Store } from "../objects/store.ts";
import { AUTHENTICATED, serviceAccountGroups, serviceAccountUser, type User } from "./user.ts";

/** Who issues tokens, and for whom if nobody says otherwise. */
export const ISSUER = "https://kubernetes.default.svc";

/** What a token is bound to besides its account. */
export interface Bound {
  readonly kind: "Pod" | "Secret" | "Node";
  readonly name: string;
  readonly uid: string;
}

/** What is asked of {@linkcode Tokens.issue}. */
export interface TokenRequest {
  readonly namespace: string;
  readonly name: string;
  /** The account's. */
  readonly uid: string;
  readonly audiences: readonly string[];
  /** Seconds. */
  readonly lifetime: number;
  readonly bound?: Bound;
}

/** A token that is good. */
export interface Verified {
  readonly user: User;
  /** Those of the audiences asked for that it is for. */
  readonly audiences: readonly string[];
}

interface Issued extends TokenRequest {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

const COLLECTIONS = { Pod: "/pods", Secret: "/secrets", Node: "/nodes" } as const;

/** What {@linkcode Tokens} needs of the server. */
export interface TokenSources {
  readonly clock: Clock;
  readonly store: Store;
  /** A fresh uid. */
  readonly uid: () => string;
}

/** All tokens issued. */
export class Tokens {
  readonly #sources: TokenSources;
  readonly #issued = new Map<string, Issued>();

  constructor(sources: TokenSources) {
    this.#sources = sources;
  }

  /** Makes a token. */
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
   * Checks a token.
   *
   * @param token The token.
   * @param audiences For whom it must be good.
   * @returns Whose it is; why it is refused, as a text; undefined if it was not issued here.
   */
  verify(token: string, audiences: readonly string[] = [ISSUER]): Verified | string | undefined {
    const issued = this.#issued.get(token);
    if (issued === undefined) return undefined;
    const { namespace, name, uid, bound } = issued;
    const common = issued.audiences.filter((each) => audiences.includes(each));
    if (common.length === 0) {
      return `token audiences ${goStrings(issued.audiences)} is invalid for the target audiences ${
        goStrings(audiences)
      }`;
    }
    if (this.#sources.clock.now() > issued.expires) return "service account token has expired";
    const account = this.#sources.store.get("/serviceaccounts", keyOf(namespace, name));
    if (account === undefined) return `serviceaccounts "${name}" not found`;
    if (account.metadata.uid !== uid) {
      return `service account UID (${account.metadata.uid}) does not match claim (${uid})`;
    }
    if (bound !== undefined && !this.#isThere(bound, namespace)) return "service account token has been invalidated";
    const groups = [...serviceAccountGroups(namespace), AUTHENTICATED];
    const extra = { "authentication.kubernetes.io/credential-id": [`JTI=${issued.id}`], ...boundExtra(bound) };
    return { user: { name: serviceAccountUser(namespace, name), uid, groups, extra }, audiences: common };
  }

  #isThere({ kind, name, uid }: Bound, namespace: string): boolean {
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

function goStrings(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}

function base64url(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
