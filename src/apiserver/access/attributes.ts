/** What a request asks for, as far as it decides who may (`k8s.io/apiserver/pkg/endpoints/request`, `RequestInfo`). */
import { pathSegmentFaults } from "../../base/name_rules.ts";
import type { ServedKind } from "../objects/kinds.ts";

/** A verb on a resource. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  /** The plural name. */
  readonly resource: string;
  readonly subresource: string;
  /** Empty for what is cluster-wide, and for all namespaces. */
  readonly namespace: string;
  /** Empty where no single object is named. */
  readonly name: string;
}

/** A verb on a path that is no resource, such as `/version`. */
export interface PathAttributes {
  readonly verb: string;
  readonly path: string;
}

/** What is asked for. */
export type Attributes = ResourceAttributes | PathAttributes;

/** Whether a resource is asked for. */
export function isOfResource(attributes: Attributes): attributes is ResourceAttributes {
  return "resource" in attributes;
}

/** What of a kind's is asked for; what is left out is empty. */
export interface Asked {
  readonly verb: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * What is asked for, of a kind that is served.
 *
 * @param kind The kind.
 * @param asked What of it.
 */
export function attributesOn(
  { group, version, plural }: Pick<ServedKind, "group" | "version" | "plural">,
  { verb, subresource = "", namespace = "", name = "" }: Asked,
): ResourceAttributes {
  return { verb, group, version, resource: plural, subresource, namespace, name };
}

const VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const NAMESPACE_PARTS = new Set(["status", "finalize"]);

/**
 * What a request asks for.
 *
 * @param method Its method.
 * @param url Its URL.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const url = new URL("http://server/apis/apps/v1/namespaces/shop/deployments/web/scale");
 * assert.deepEqual(attributesOf("PUT", url), {
 *   verb: "update", group: "apps", version: "v1", resource: "deployments", subresource: "scale",
 *   namespace: "shop", name: "web",
 * });
 * assert.deepEqual(attributesOf("GET", new URL("http://server/version")), { verb: "get", path: "/version" });
 * ```
 */
export function attributesOf(method: string, url: URL): Attributes {
  const path = decoded(url.pathname);
  const other = { verb: method.toLowerCase(), path };
  const parts = path.replace(/^\/+|\/+$/g, "").split("/");
  const [root, ...rest] = parts;
  if (parts.length < 3 || (root !== "api" && root !== "apis") || (root === "apis" && parts.length < 4)) return other;
  const [group = "", version = "", ...place] = root === "api" ? ["", ...rest] : rest;
  const isWatchPath = place[0] === "watch" && place.length > 1;
  const verb = isWatchPath ? "watch" : VERBS[method] ?? "";
  const { namespace, resource, name, subresource } = placed(isWatchPath ? place.slice(1) : place);
  const base = { group, version, resource, subresource, namespace };
  if (name !== "" || isWatchPath) return { verb, ...base, name };
  if (verb === "get") {
    return { verb: isWatch(url.searchParams) ? "watch" : "list", ...base, name: selectedName(url.searchParams) };
  }
  return { verb: verb === "delete" ? "deletecollection" : verb, ...base, name };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function placed(place: readonly string[]): { namespace: string; resource: string; name: string; subresource: string } {
  const isNamespace = place[0] === "namespaces";
  const namespace = isNamespace ? place[1] ?? "" : "";
  const isWithin = isNamespace && place.length > 2 && !NAMESPACE_PARTS.has(place[2] ?? "");
  const [resource = "", name = "", subresource = ""] = isWithin ? place.slice(2) : place;
  return { namespace, resource, name, subresource };
}

function isWatch(query: URLSearchParams): boolean {
  const watch = query.get("watch")?.toLowerCase();
  return watch !== undefined && watch !== "false" && watch !== "0";
}

/** A list of what has one name may be allowed to whom that name is allowed. */
function selectedName(query: URLSearchParams): string {
  const terms = (query.get("fieldSelector") ?? "").split(",");
  const [, name = ""] = terms.map((term) => /^metadata\.name==?([^=!]*)$/.exec(term)).find((found) => found) ?? [];
  return pathSegmentFaults(name).length === 0 ? name : "";
}
