/** Who sends a request (`k8s.io/apiserver/pkg/authentication/user`). */

/** A user as an API server knows one: a name and what the authenticator says besides. */
export interface User {
  /** Such as `jane`, or `system:serviceaccount:shop:deployer`. */
  readonly name: string;
  /** What tells the user from one of that name that was there before. */
  readonly uid?: string;
  /** The groups that the user is in; a token of the option `tokens` adds `system:authenticated`. */
  readonly groups: readonly string[];
  /** What an authenticator says besides, such as the scopes of a token. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Members may do everything, whatever roles say. */
export const MASTERS = "system:masters";
/** Everybody who is known. */
export const AUTHENTICATED = "system:authenticated";
/** Everybody who is not. */
export const UNAUTHENTICATED = "system:unauthenticated";
export const ANONYMOUS = "system:anonymous";

/** Who sends what nobody else sent: whose requests need no leave. */
export const ADMINISTRATOR: User = { name: "system:admin", groups: [MASTERS, AUTHENTICATED] };
/** Who shows no token where one is asked for. */
export const NOBODY: User = { name: ANONYMOUS, groups: [UNAUTHENTICATED] };

/** The name of a service account as a user. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** The groups that each service account of a namespace is in. */
export function serviceAccountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/** Namespace and name of the service account that a user is; undefined for others. */
export function splitServiceAccount(user: string): { namespace: string; name: string } | undefined {
  const parts = user.split(":");
  const [system, kind, namespace = "", name = ""] = parts;
  if (parts.length !== 4 || system !== "system" || kind !== "serviceaccount" || !namespace || !name) return undefined;
  return { namespace, name };
}

/** `userInfo` as reviews and webhooks are told. */
export function userInfo({ name, uid, groups, extra }: User): Record<string, unknown> {
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
}
