/**
 * Acting as another (`k8s.io/apiserver/pkg/endpoints/filters/impersonation`): first under the rights of KEP-5284, which say for which requests one may
 * act as whom (`impersonate:user-info` and `impersonate-on:user-info:get`), then under `impersonate`, which says it for all.
 */
import { subdomainFaults } from "../../base/name_rules.ts";
import { badRequest, type StatusError } from "../wire/status_error.ts";
import type { Attributes, ResourceAttributes } from "./attributes.ts";
import type { Authorizer } from "./authorizer.ts";
import { accessRefused } from "./refusal.ts";
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
// From so many on, the server first asks whether all are allowed.
const MANY = 4;

/** Who is to be acted as, as the headers say it. */
interface Wanted {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Who decides on acting as another. */
export interface Impersonation {
  /** Absent where everybody may do everything. */
  readonly authorizer: Authorizer | undefined;
  /** The way in which each requester was last let act as another. */
  readonly lastModes: Map<string, Mode>;
}

/**
 * The user that a request is to be answered as: the one who sent it, unless its headers name another.
 *
 * @param headers The request's headers. A header that came more than once is one line here, hence no more than one group can be told from it.
 * @param requester Who sent it.
 * @param attributes What it asks for.
 * @param by Who decides, and how users were last let.
 * @throws {StatusError} If the requester may not act as the other.
 */
export function actingUser(
  headers: Headers,
  requester: User,
  attributes: Attributes,
  by: Impersonation,
): User {
  const wanted = wantedUser(headers);
  if (wanted === undefined) return requester;
  const { authorizer, lastModes } = by;
  if (authorizer === undefined) return completed(wanted);
  let first: StatusError | undefined;
  for (const mode of modesFor(wanted, lastModes.get(requester.name))) {
    const check = new Check(mode, requester, authorizer);
    const refused = check.run(wanted, attributes);
    if (refused !== undefined) {
      first ??= refused;
      continue;
    }
    lastModes.set(requester.name, mode);
    return completed(wanted, mode);
  }
  throw first ?? badRequest("all impersonation modes failed");
}

function wantedUser(headers: Headers): Wanted | undefined {
  const name = headers.get("impersonate-user") ?? "";
  const uid = headers.get("impersonate-uid") ?? "";
  const group = headers.get("impersonate-group") ?? undefined;
  const extra: Record<string, string[]> = {};
  for (const [header, value] of headers) {
    if (header.startsWith(EXTRA)) extra[unescaped(header.slice(EXTRA.length))] = [value];
  }
  const groups = group === undefined ? [] : [group];
  if (name === "") {
    if (uid === "" && group === undefined && Object.keys(extra).length === 0) return undefined;
    throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`);
  }
  if (group?.includes(", ")) {
    throw badRequest(
      `this server can act as a member of one group only, and "Impersonate-Group" came as ${JSON.stringify(group)}: ` +
        "repeated headers reach it as one line; let a token stand for a user with more groups",
    );
  }
  return { name, uid, groups, extra };
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** A user as Go prints the struct. */
function goUser(uid: string, groups: readonly string[], extra: Readonly<Record<string, readonly string[]>>): string {
  const list = (values: readonly string[]) => `[]string{${values.map((value) => JSON.stringify(value)).join(", ")}}`;
  const map = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`);
  const shownGroups = groups.length === 0 ? "[]string(nil)" : list(groups);
  const shownExtra = map.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${map.join(", ")}}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}

/** A way to be allowed: under which verb, and whether for single requests. */
export type Mode = "arbitrary-node" | "serviceaccount" | "user-info" | "legacy";

/** The ways that fit, the one first that was good for this requester the last time: the first refusal is the one that is told. */
function modesFor({ name, uid, groups, extra }: Wanted, last: Mode | undefined): Mode[] {
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

/** The user with the groups that belong to him whether named or not. */
function completed(wanted: Wanted, mode: Mode = "legacy"): User {
  const account = splitServiceAccount(wanted.name);
  const groups = [...wanted.groups];
  if (account !== undefined && groups.length === 0) groups.push(...serviceAccountGroups(account.namespace));
  if (mode === "arbitrary-node") groups.push("system:nodes");
  const all = wanted.name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  if (!groups.includes(all) && !groups.includes(UNAUTHENTICATED)) groups.push(all);
  return { name: wanted.name, groups, ...(wanted.uid && { uid: wanted.uid }), extra: wanted.extra };
}

/** The rights that one mode asks for. */
class Check {
  readonly #mode: Mode;
  readonly #requester: User;
  readonly #authorizer: Authorizer;

  constructor(mode: Mode, requester: User, authorizer: Authorizer) {
    this.#mode = mode;
    this.#requester = requester;
    this.#authorizer = authorizer;
  }

  /** What is refused first; undefined when all is allowed. */
  run(wanted: Wanted, attributes: Attributes): StatusError | undefined {
    if (this.#mode !== "legacy") {
      const verb = `impersonate-on:${this.#mode}:${attributes.verb}`;
      const refused = this.#ask({ ...attributes, verb });
      if (refused !== undefined) return refused;
    }
    return this.#name(wanted.name) ?? this.#uid(wanted.uid) ?? this.#groups(wanted.groups) ??
      this.#extra(wanted.extra);
  }

  get #verb(): string {
    return this.#mode === "legacy" ? "impersonate" : `impersonate:${this.#mode}`;
  }

  /** Users and groups are of the core group in the older way, of `authentication.k8s.io` in the newer one. */
  #resource(resource: string, name: string, more: Partial<ResourceAttributes> = {}): ResourceAttributes {
    const isOlder = this.#mode === "legacy" && resource !== "uids" && resource !== "userextras";
    const group = isOlder ? "" : "authentication.k8s.io";
    return { verb: this.#verb, group, version: "v1", resource, subresource: "", namespace: "", name, ...more };
  }

  #ask(attributes: Attributes): StatusError | undefined {
    const { allowed, reason } = this.#authorizer.decide(this.#requester, attributes);
    return allowed ? undefined : accessRefused(this.#requester, attributes, reason);
  }

  #name(name: string): StatusError | undefined {
    const account = splitServiceAccount(name);
    if (account !== undefined) {
      return this.#ask(this.#resource("serviceaccounts", account.name, { namespace: account.namespace }));
    }
    if (this.#mode === "arbitrary-node") return this.#ask(this.#resource("nodes", name.slice(NODE.length)));
    return this.#ask(this.#resource("users", name));
  }

  #uid(uid: string): StatusError | undefined {
    return uid === "" ? undefined : this.#ask(this.#resource("uids", uid));
  }

  #groups(groups: readonly string[]): StatusError | undefined {
    if (this.#mode !== "legacy" && groups.includes(MASTERS)) {
      const why = "impersonating the system:masters group is not allowed";
      return accessRefused(this.#requester, this.#resource("groups", MASTERS), why);
    }
    for (const group of groups) {
      const refused = this.#ask(this.#resource("groups", group));
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  #extra(extra: Readonly<Record<string, readonly string[]>>): StatusError | undefined {
    const pairs = Object.entries(extra).flatMap(([key, values]) => values.map((value) => [key, value] as const));
    if (this.#mode !== "legacy") {
      const why = pairs.map(([key, value]) => extraFault(key, value)).find((fault) => fault !== undefined);
      if (why !== undefined) return accessRefused(this.#requester, this.#resource("userextras", ""), why);
      const all = this.#resource("userextras", "*", { subresource: "*" });
      if (pairs.length >= MANY && this.#ask(all) === undefined) return undefined;
    }
    for (const [key, value] of pairs) {
      const refused = this.#ask(this.#resource("userextras", value, { subresource: key }));
      if (refused !== undefined) return refused;
    }
    return undefined;
  }
}

/** What the newer way does not take of extra values. */
function extraFault(key: string, value: string): string | undefined {
  if (key === "") return "impersonating the empty string key in extra is not allowed";
  const [host = "", path] = key.split(/\/(.*)/s);
  const invalid = "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ";
  if (host === "" || !path) {
    return `${invalid}${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`;
  }
  const [fault] = subdomainFaults(host);
  if (fault !== undefined) return `${invalid}${JSON.stringify(host)}: ${fault}`;
  return value === "" ? "impersonating the empty string value in extra is not allowed" : undefined;
}
