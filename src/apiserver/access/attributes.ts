/**
 * Attributes of a request by which it is authorized (`k8s.io/apiserver/pkg/endpoints/request`,
 * `RequestInfo`).
 */
import { pathSegmentErrors } from "../../base/name_rules.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { NAMESPACE_SUBRESOURCES } from "../wire/path.ts";

/** A verb on a resource. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  /** Plural name. */
  readonly resource: string;
  readonly subresource: string;
  /** Empty for cluster-scoped resources, and for all namespaces. */
  readonly namespace: string;
  /** Empty if the request names no single object. */
  readonly name: string;
}

/** A verb on a path that is not a resource, such as `/version`. */
export interface PathAttributes {
  readonly verb: string;
  readonly path: string;
}

/** The attributes of a request. */
export type Attributes = ResourceAttributes | PathAttributes;

/** Returns whether a request is for a resource. */
export function isOfResource(attributes: Attributes): attributes is ResourceAttributes {
  return "resource" in attributes;
}

/** A verb and what it applies to. Omitted fields are empty. */
export interface ResourceAction {
  readonly verb: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Returns the attributes of an action on a served kind.
 *
 * @param kind The kind.
 * @param action The action.
 */
export function attributesOn(
  { group, version, plural }: Pick<ServedKind, "group" | "version" | "plural">,
  { verb, subresource = "", namespace = "", name = "" }: ResourceAction,
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

/**
 * Returns the attributes of a request.
 *
 * @param method Method of the request.
 * @param url URL of the request.
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
  const path = decodePath(url.pathname);
  const other = { verb: method.toLowerCase(), path };
  const parts = path.replace(/^\/+|\/+$/g, "").split("/");
  const [root, ...rest] = parts;
  if (parts.length < 3 || (root !== "api" && root !== "apis") || (root === "apis" && parts.length < 4)) return other;
  const [group = "", version = "", ...resourceParts] = root === "api" ? ["", ...rest] : rest;
  const isWatchPath = resourceParts[0] === "watch" && resourceParts.length > 1;
  const verb = isWatchPath ? "watch" : VERBS[method] ?? "";
  const { namespace, resource, name, subresource } = parseResourcePath(
    isWatchPath ? resourceParts.slice(1) : resourceParts,
  );
  const base = { group, version, resource, subresource, namespace };
  if (name !== "" || isWatchPath) return { verb, ...base, name };
  if (verb === "get") {
    return { verb: isWatch(url.searchParams) ? "watch" : "list", ...base, name: selectedName(url.searchParams) };
  }
  return { verb: verb === "delete" ? "deletecollection" : verb, ...base, name };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function parseResourcePath(
  parts: readonly string[],
): { namespace: string; resource: string; name: string; subresource: string } {
  const isNamespace = parts[0] === "namespaces";
  const namespace = isNamespace ? parts[1] ?? "" : "";
  const isWithin = isNamespace && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2] ?? "");
  const [resource = "", name = "", subresource = ""] = isWithin ? parts.slice(2) : parts;
  return { namespace, resource, name, subresource };
}

function isWatch(query: URLSearchParams): boolean {
  const watch = query.get("watch")?.toLowerCase();
  return watch !== undefined && watch !== "false" && watch !== "0";
}

/**
 * Returns the name that a field selector selects, since a list of one name requires the RBAC
 * permission for that name only.
 */
function selectedName(query: URLSearchParams): string {
  const terms = (query.get("fieldSelector") ?? "").split(",");
  const [, name = ""] = terms.map((term) => /^metadata\.name==?([^=!]*)$/.exec(term)).find((found) => found) ?? [];
  return pathSegmentErrors(name).length === 0 ? name : "";
}
