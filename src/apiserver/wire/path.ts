/** What a path asks for (`k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`). */
import { Fault, unescape } from "../../base/url_escapes.ts";

/** A path below `/api` or `/apis` that names a resource. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** What follows a subresource that hands it on, with its slash: `/metrics`. */
  readonly subpath?: string;
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
  const text = decoded(path);
  const parts = text.split("/").slice(1);
  while (parts.at(-1) === "") parts.pop();
  const [root, ...rest] = parts;
  const [group, version, ...below] = root === "api" ? ["", ...rest] : root === "apis" ? rest : [];
  if (group === undefined || version === undefined || below.length === 0) return undefined;
  if (below[0] !== "watch" || below.length === 1) return handedOn(inVersion(group, version, below), text);
  const watched = inVersion(group, version, below.slice(1));
  return watched && { ...watched, isWatch: true };
}

/** A path that ends in a slash hands that on, too. */
function handedOn(path: ResourcePath | undefined, text: string): ResourcePath | undefined {
  if (path?.subresource !== PROXY || !text.endsWith("/")) return path;
  return { ...path, subpath: `${path.subpath ?? ""}/` };
}

/** The subresource below which there are the paths of what is reached by it. */
const PROXY = "proxy";

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return bytesDecoded(path);
  }
}

/** The same where some bytes are no UTF-8, which messages show. A path with an escape that is none is left as it is. */
function bytesDecoded(path: string): string {
  try {
    return unescape(path, "path");
  } catch (error) {
    if (error instanceof Fault) return path;
    throw error;
  }
}

/** Subresources of namespaces, which look like resources in a namespace. */
const NAMESPACE_PARTS = new Set(["status", "finalize"]);

function inVersion(group: string, version: string, parts: readonly string[]): ResourcePath | undefined {
  const [first = "", second, third, fourth, fifth, ...more] = parts;
  if (first !== "namespaces" || third === undefined || (NAMESPACE_PARTS.has(third) && group === "")) {
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
