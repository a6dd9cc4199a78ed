/**
 * Impersonation (`k8s.io/apiserver/pkg/endpoints/filters/impersonation`). The constrained modes of
 * KEP-5284 are tried first. They require one RBAC permission for the user (`impersonate:user-info`)
 * and one for the request (`impersonate-on:user-info:get`). The verb `impersonate` allows all
 * requests.
 */
import { subdomainErrors } from "../../base/name_rules.ts";
import { badRequest, type StatusError } from "../wire/status_error.ts";
import type { Attributes, ResourceAttributes } from "./attributes.ts";
import type { Authorizer } from "./authorizer.ts";
import { accessDenied } from "./denial.ts";
import {
  ANONYMOUS,
  AUTHENTICATED,
  MASTERS,
  serviceAccountGroups,
  splitServiceAccount,
  UNAUTHENTICATED,
  type User,
} from "./user.ts";

const EXTRA = "impersonate-extra-";
const NODE = "system:node:";
// With at least this many extra values, the server first checks the RBAC permission to use all
// values.
const MANY_EXTRA_VALUES = 4;

/** The user that the headers request. */
interface RequestedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The parts of the server that {@linkcode actingUser} uses. */
export interface Impersonation {
  /** Authorizes requests; absent if every request is allowed. */
  readonly authorizer: Authorizer | undefined;
  /** The mode that was last allowed for each requester, by user name. */
  readonly lastModes: Map<string, Mode>;
}

/**
 * Returns the user that a request acts as: the requester, unless the headers name another user.
 *
 * @param headers Headers of the request. `Headers` joins repeated headers into one line, so only
 * one group can be impersonated.
 * @param requester The user who sent the request.
 * @param attributes Attributes of the request.
 * @param impersonation The authorizer, and the modes that were last allowed.
 * @throws {StatusError} If the requester may not impersonate that user.
 */
export function actingUser(
  headers: Headers,
  requester: User,
  attributes: Attributes,
  impersonation: Impersonation,
): User {
  const wanted = requestedUser(headers);
  if (wanted === undefined) return requester;
  const { authorizer, lastModes } = impersonation;
  if (authorizer === undefined) return withKubernetesGroups(wanted);
  let firstDenial: StatusError | undefined;
  for (const mode of modesFor(wanted, lastModes.get(requester.name))) {
    const check = new ModeCheck(mode, requester, authorizer);
    const denied = check.run(wanted, attributes);
    if (denied !== undefined) {
      firstDenial ??= denied;
      continue;
    }
    lastModes.set(requester.name, mode);
    return withKubernetesGroups(wanted, mode);
  }
  throw firstDenial ?? badRequest("all impersonation modes failed");
}

function requestedUser(headers: Headers): RequestedUser | undefined {
  const name = headers.get("impersonate-user") ?? "";
  const uid = headers.get("impersonate-uid") ?? "";
  const group = headers.get("impersonate-group") ?? undefined;
  const extra: Record<string, string[]> = {};
  for (const [header, value] of headers) {
    if (header.startsWith(EXTRA)) extra[decodeExtraKey(header.slice(EXTRA.length))] = [value];
  }
  const groups = group === undefined ? [] : [group];
  if (name === "") {
    if (uid === "" && group === undefined && Object.keys(extra).length === 0) return undefined;
    throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`);
  }
  if (group?.includes(", ")) {
    throw badRequest(
      `this API server can impersonate only one group, but "Impersonate-Group" is ${JSON.stringify(group)}: ` +
        "repeated headers arrive as one line. Use the option `tokens` for users with more groups",
    );
  }
  return { name, uid, groups, extra };
}

function decodeExtraKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Formats a user as Go formats the struct. */
function goUser(uid: string, groups: readonly string[], extra: Readonly<Record<string, readonly string[]>>): string {
  const list = (values: readonly string[]) => `[]string{${values.map((value) => JSON.stringify(value)).join(", ")}}`;
  const map = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`);
  const shownGroups = groups.length === 0 ? "[]string(nil)" : list(groups);
  const shownExtra = map.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${map.join(", ")}}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}

/**
 * The way in which impersonation is authorized. `legacy` is the verb `impersonate`; the others are
 * modes of KEP-5284.
 */
export type Mode = "arbitrary-node" | "serviceaccount" | "user-info" | "legacy";

/**
 * Returns the modes that can impersonate the user, in the order in which they are tried. The mode
 * that was last allowed for this requester comes first. If all modes are denied, the response
 * contains the error of the first.
 */
function modesFor({ name, uid, groups, extra }: RequestedUser, last: Mode | undefined): Mode[] {
  const isNameOnly = uid === "" && groups.length === 0 && Object.keys(extra).length === 0;
  const isNode = isNodeName(name);
  const isAccount = splitServiceAccount(name) !== undefined;
  const constrained: Mode[] = [
    ...(isNode && isNameOnly ? ["arbitrary-node" as const] : []),
    ...(isAccount && isNameOnly ? ["serviceaccount" as const] : []),
    ...(!isNode && !isAccount ? ["user-info" as const] : []),
  ];
  const modes: Mode[] = [...constrained, "legacy"];
  return last !== undefined && modes.includes(last) ? [last, ...modes.filter((mode) => mode !== last)] : modes;
}

function isNodeName(name: string): boolean {
  return name.startsWith(NODE) && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name.slice(NODE.length));
}

/** Returns the user with the groups that Kubernetes adds. */
function withKubernetesGroups(wanted: RequestedUser, mode: Mode = "legacy"): User {
  const account = splitServiceAccount(wanted.name);
  const groups = [...wanted.groups];
  if (account !== undefined && groups.length === 0) groups.push(...serviceAccountGroups(account.namespace));
  if (mode === "arbitrary-node") groups.push("system:nodes");
  const all = wanted.name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  if (!groups.includes(all) && !groups.includes(UNAUTHENTICATED)) groups.push(all);
  return { name: wanted.name, groups, ...(wanted.uid && { uid: wanted.uid }), extra: wanted.extra };
}

/** Checks the RBAC permissions that one mode requires. */
class ModeCheck {
  readonly #mode: Mode;
  readonly #requester: User;
  readonly #authorizer: Authorizer;

  constructor(mode: Mode, requester: User, authorizer: Authorizer) {
    this.#mode = mode;
    this.#requester = requester;
    this.#authorizer = authorizer;
  }

  /** Returns the error for the first missing RBAC permission; `undefined` if all are granted. */
  run(wanted: RequestedUser, attributes: Attributes): StatusError | undefined {
    if (this.#mode !== "legacy") {
      const verb = `impersonate-on:${this.#mode}:${attributes.verb}`;
      const denied = this.#check({ ...attributes, verb });
      if (denied !== undefined) return denied;
    }
    return this.#checkName(wanted.name) ?? this.#checkUid(wanted.uid) ?? this.#checkGroups(wanted.groups) ??
      this.#checkExtra(wanted.extra);
  }

  get #verb(): string {
    return this.#mode === "legacy" ? "impersonate" : `impersonate:${this.#mode}`;
  }

  /**
   * Returns the attributes of an impersonation. Users and groups are in the core group in legacy
   * mode, and in `authentication.k8s.io` otherwise.
   */
  #resource(resource: string, name: string, more: Partial<ResourceAttributes> = {}): ResourceAttributes {
    const isCore = this.#mode === "legacy" && resource !== "uids" && resource !== "userextras";
    const group = isCore ? "" : "authentication.k8s.io";
    return { verb: this.#verb, group, version: "v1", resource, subresource: "", namespace: "", name, ...more };
  }

  #check(attributes: Attributes): StatusError | undefined {
    const { allowed, reason } = this.#authorizer.decide(this.#requester, attributes);
    return allowed ? undefined : accessDenied(this.#requester, attributes, reason);
  }

  #checkName(name: string): StatusError | undefined {
    const account = splitServiceAccount(name);
    if (account !== undefined) {
      return this.#check(this.#resource("serviceaccounts", account.name, { namespace: account.namespace }));
    }
    if (this.#mode === "arbitrary-node") return this.#check(this.#resource("nodes", name.slice(NODE.length)));
    return this.#check(this.#resource("users", name));
  }

  #checkUid(uid: string): StatusError | undefined {
    return uid === "" ? undefined : this.#check(this.#resource("uids", uid));
  }

  #checkGroups(groups: readonly string[]): StatusError | undefined {
    if (this.#mode !== "legacy" && groups.includes(MASTERS)) {
      const detail = "impersonating the system:masters group is not allowed";
      return accessDenied(this.#requester, this.#resource("groups", MASTERS), detail);
    }
    for (const group of groups) {
      const denied = this.#check(this.#resource("groups", group));
      if (denied !== undefined) return denied;
    }
    return undefined;
  }

  #checkExtra(extra: Readonly<Record<string, readonly string[]>>): StatusError | undefined {
    const pairs = Object.entries(extra).flatMap(([key, values]) => values.map((value) => [key, value] as const));
    if (this.#mode !== "legacy") {
      const detail = pairs.map(([key, value]) => extraError(key, value)).find((error) => error !== undefined);
      if (detail !== undefined) return accessDenied(this.#requester, this.#resource("userextras", ""), detail);
      const all = this.#resource("userextras", "*", { subresource: "*" });
      if (pairs.length >= MANY_EXTRA_VALUES && this.#check(all) === undefined) return undefined;
    }
    for (const [key, value] of pairs) {
      const denied = this.#check(this.#resource("userextras", value, { subresource: key }));
      if (denied !== undefined) return denied;
    }
    return undefined;
  }
}

/** Returns the message about an extra value that the constrained modes reject. */
function extraError(key: string, value: string): string | undefined {
  if (key === "") return "impersonating the empty string key in extra is not allowed";
  const [host = "", path] = key.split(/\/(.*)/s);
  const invalid = "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ";
  if (host === "" || !path) {
    return `${invalid}${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`;
  }
  const [error] = subdomainErrors(host);
  if (error !== undefined) return `${invalid}${JSON.stringify(host)}: ${error}`;
  return value === "" ? "impersonating the empty string value in extra is not allowed" : undefined;
}
