/** Parses the paths of resources (`k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`). */
import { unescape, UrlError } from "../../base/url_escapes.ts";

/** A path below `/api` or `/apis` that names a resource. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** Rest of the path after a proxy subresource, with its slash: `/metrics`. */
  readonly subpath?: string;
  /** Whether the path begins with the deprecated prefix `watch/`. */
  readonly isWatch?: boolean;
}

/**
 * Parses the path of a resource.
 *
 * @param path The path of a URL, not decoded.
 * @returns The parts; `undefined` if the path is not that of a resource.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(resourcePath("/apis/apps/v1/namespaces/shop/deployments/web/status"), {
 *   group: "apps",
 *   version: "v1",
 *   namespace: "shop",
 *   plural: "deployments",
 *   name: "web",
 *   subresource: "status",
 * });
 * ```
 */
export function resourcePath(path: string): ResourcePath | undefined {
  // Decodes the whole path first, so that `%2F` is a separator too.
  const text = decodePath(path);
  const parts = text.split("/").slice(1);
  while (parts.at(-1) === "") parts.pop();
  const [root, ...rest] = parts;
  const [group, version, ...below] = root === "api" ? ["", ...rest] : root === "apis" ? rest : [];
  if (group === undefined || version === undefined || below.length === 0) return undefined;
  if (below[0] !== "watch" || below.length === 1) {
    return withTrailingSlash(parseBelowVersion(group, version, below), text);
  }
  const watched = parseBelowVersion(group, version, below.slice(1));
  return watched && { ...watched, isWatch: true };
}

/** Adds a trailing slash to the subpath of a proxy. */
function withTrailingSlash(path: ResourcePath | undefined, text: string): ResourcePath | undefined {
  if (path?.subresource !== PROXY || !text.endsWith("/")) return path;
  return { ...path, subpath: `${path.subpath ?? ""}/` };
}

/** The subresource whose path continues with the path at the destination. */
const PROXY = "proxy";

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return decodeBytes(path);
  }
}

/**
 * Decodes a path with bytes that are not UTF-8, which messages contain. A path with an invalid
 * escape is returned unchanged.
 */
function decodeBytes(path: string): string {
  try {
    return unescape(path, "path");
  } catch (error) {
    if (error instanceof UrlError) return path;
    throw error;
  }
}

/**
 * Subresources of namespaces, which look like resources in a namespace (`namespaceSubresources` in
 * `k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`).
 */
export const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

function parseBelowVersion(group: string, version: string, parts: readonly string[]): ResourcePath | undefined {
  const [first = "", second, third, fourth, fifth, ...more] = parts;
  if (first !== "namespaces" || third === undefined || (NAMESPACE_SUBRESOURCES.has(third) && group === "")) {
    const below = parts.slice(3);
    if (fourth !== undefined && third !== PROXY) return undefined;
    return {
      group,
      version,
      plural: first,
      ...(second !== undefined && { name: second }),
      ...(third && { subresource: third }),
      ...(below.length > 0 && { subpath: `/${below.join("/")}` }),
    };
  }
  if ((more.length > 0 && fifth !== PROXY) || second === undefined) return undefined;
  return {
    group,
    version,
    namespace: second,
    plural: third,
    ...(fourth !== undefined && { name: fourth }),
    ...(fifth !== undefined && { subresource: fifth }),
    ...(more.length > 0 && { subpath: `/${more.join("/")}` }),
  };
}
