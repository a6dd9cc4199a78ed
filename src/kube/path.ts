/** Where objects live on an API server. */
import type { AnyKind } from "../resource/kind.ts";

/**
 * The path of a kind's collection.
 *
 * @param kind The kind.
 * @param namespace A namespace; all of them where it is left out.
 */
export function collectionPath(kind: AnyKind, namespace?: string): string {
  const base = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  return namespace === undefined || !kind.namespaced
    ? `${base}/${kind.plural}`
    : `${base}/namespaces/${segment(kind, "namespace", namespace)}/${kind.plural}`;
}

/** What would lead to another path is no name; the rule is the API server's own (path segment names). */
function segment(kind: AnyKind, what: string, text: string): string {
  if (text === "") throw new TypeError(`Cannot address a ${kind.kind}: its ${what} is empty`);
  if (text === "." || text === ".." || /[/%]/.test(text)) {
    throw new TypeError(
      `Cannot address a ${kind.kind}: "${text}" is no ${what}: it must not be ".", ".." or have "/" or "%" in it`,
    );
  }
  return encodeURIComponent(text);
}

/**
 * The path of an object.
 *
 * @param kind The kind.
 * @param name The object's name.
 * @param namespace Its namespace; none for a kind that is cluster-wide.
 * @param subresource Such as `status`.
 * @throws {TypeError} If the kind is namespaced and no namespace is given, or the name is empty.
 */
export function objectPath(kind: AnyKind, name: string, namespace?: string, subresource?: string): string {
  if (kind.namespaced && namespace === undefined) {
    throw new TypeError(
      `Cannot address ${kind.kind} "${name}": the kind is namespaced: set metadata.namespace, or the option namespace`,
    );
  }
  const tail = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(kind, namespace)}/${segment(kind, "name", name)}${tail}`;
}

/**
 * An object as people write it: `Website "shop/web"`.
 *
 * @param kind The kind.
 * @param name Its name.
 * @param namespace Its namespace.
 */
export function describe(kind: AnyKind, name?: string, namespace?: string): string {
  const place = [kind.namespaced ? namespace : undefined, name].filter((part) => part !== undefined).join("/");
  return place === "" ? kind.kind : `${kind.kind} "${place}"`;
}
