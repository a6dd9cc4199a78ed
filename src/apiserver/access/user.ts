/** Users of requests (`k8s.io/apiserver/pkg/authentication/user`). */

/** A user, as the authenticator of an API server reports it. */
export interface User {
  /** Name, such as `jane` or `system:serviceaccount:shop:deployer`. */
  readonly name: string;
  /** Distinguishes the user from earlier users of the same name. */
  readonly uid?: string;
  /** Groups of the user. The option `tokens` adds `system:authenticated`. */
  readonly groups: readonly string[];
  /** Additional information of the authenticator, such as the scopes of a token. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Group whose members may send any request, regardless of roles. */
export const MASTERS = "system:masters";

/** Group of all authenticated users. */
export const AUTHENTICATED = "system:authenticated";

/** Group of unauthenticated users. */
export const UNAUTHENTICATED = "system:unauthenticated";

/** User name of unauthenticated users. */
export const ANONYMOUS = "system:anonymous";

/**
 * The superuser, who bypasses authorization. Requests to a server without RBAC act as this user by
 * default.
 */
export const SUPERUSER: User = { name: "system:admin", groups: [MASTERS, AUTHENTICATED] };

/** The user of a request without a token on a server with RBAC. */
export const ANONYMOUS_USER: User = { name: ANONYMOUS, groups: [UNAUTHENTICATED] };

/** Returns the user name of a service account. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** Returns the groups of all service accounts in a namespace. */
export function serviceAccountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/**
 * Parses the user name of a service account into its namespace and name. Returns `undefined` for
 * other users.
 */
export function splitServiceAccount(user: string): { namespace: string; name: string } | undefined {
  const parts = user.split(":");
  const [system, kind, namespace = "", name = ""] = parts;
  if (parts.length !== 4 || system !== "system" || kind !== "serviceaccount" || !namespace || !name) return undefined;
  return { namespace, name };
}

/** Returns `userInfo` of a user, as reviews and webhooks contain it. */
export function userInfo({ name, uid, groups, extra }: User): Record<string, unknown> {
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
}
