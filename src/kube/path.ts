/** Paths of objects and collections on an API server. */
import type { AnyKind } from "../resource/kind.ts";

/**
 * Returns the path of a collection.
 *
 * @param kind The kind.
 * @param namespace The namespace. @default {all namespaces}
 */
export function collectionPath(kind: AnyKind, namespace?: string): string {
  const base = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  return namespace === undefined || !kind.namespaced
    ? `${base}/${kind.plural}`
    : `${base}/namespaces/${segment(kind, "namespace", namespace)}/${kind.plural}`;
}

/**
 * Encodes a name as one path segment. Rejects names that would change the path. The API server
 * rejects them too.
 */
function segment(kind: AnyKind, field: string, text: string): string {
  if (text === "") throw new TypeError(`Invalid ${field} of ${kind.kind}: it is empty`);
  if (text === "." || text === ".." || /[/%]/.test(text)) {
    throw new TypeError(
      `Invalid ${field} of ${kind.kind}: "${text}" must not be "." or "..", or contain "/" or "%"`,
    );
  }
  return encodeURIComponent(text);
}

/**
 * Returns the path of an object.
 *
 * @param kind The kind.
 * @param name The object's name.
 * @param namespace The object's namespace, if the kind is namespaced.
 * @param subresource A subresource, such as `status`.
 * @throws {TypeError} If the name or the namespace is missing or invalid.
 */
export function objectPath(kind: AnyKind, name: string, namespace?: string, subresource?: string): string {
  if (kind.namespaced && namespace === undefined) {
    throw new TypeError(
      `Missing namespace of ${kind.kind} "${name}": the kind is namespaced. Set metadata.namespace, or the option namespace`,
    );
  }
  const tail = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(kind, namespace)}/${segment(kind, "name", name)}${tail}`;
}

/**
 * Returns an object's kind, namespace and name for messages, such as `Website "shop/web"`.
 *
 * @param kind The kind.
 * @param name The object's name.
 * @param namespace The object's namespace.
 */
export function describe(kind: AnyKind, name?: string, namespace?: string): string {
  const id = [kind.namespaced ? namespace : undefined, name].filter((part) => part !== undefined).join("/");
  return id === "" ? kind.kind : `${kind.kind} "${id}"`;
}
