/** What a path asks for (`k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`). */

/** A path below `/api` or `/apis` that names a resource. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** Whether it begins with `watch/`, which old clients write in place of a query. */
  readonly isWatch?: boolean;
}

/**
 * Reads the path of a resource.
 *
 * @param path The path of a URL, not decoded.
 * @returns Nothing when it names none.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(resourcePath("/apis/apps/v1/namespaces/shop/deployments/web/status"), {
 *   group: "apps", version: "v1", namespace: "shop", plural: "deployments", name: "web", subresource: "status",
 * });
 * ```
 */
export function resourcePath(path: string): ResourcePath | undefined {
  // As a whole: a slash that is written as `%2F` is one too.
  const parts = decoded(path).split("/").slice(1);
  if (parts.at(-1) === "") parts.pop();
  const [root, ...rest] = parts;
  const [group, version, ...below] = root === "api" ? ["", ...rest] : root === "apis" ? rest : [];
  if (group === undefined || version === undefined || below.length === 0) return undefined;
  if (below[0] !== "watch" || below.length === 1) return inVersion(group, version, below);
  const watched = inVersion(group, version, below.slice(1));
  return watched && { ...watched, isWatch: true };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Subresources of namespaces, which look like resources in a namespace. */
const NAMESPACE_PARTS = new Set(["status", "finalize"]);

function inVersion(group: string, version: string, parts: readonly string[]): ResourcePath | undefined {
  const [first = "", second, third, fourth, fifth, ...more] = parts;
  if (first !== "namespaces" || third === undefined || (NAMESPACE_PARTS.has(third) && group === "")) {
    if (fourth !== undefined) return undefined;
    return {
      group,
      version,
      plural: first,
      ...(second !== undefined && { name: second }),
      ...(third && { subresource: third }),
    };
  }
  if (more.length > 0 || second === undefined) return undefined;
  return {
    group,
    version,
    namespace: second,
    plural: third,
    ...(fourth !== undefined && { name: fourth }),
    ...(fifth !== undefined && { subresource: fifth }),
  };
}
