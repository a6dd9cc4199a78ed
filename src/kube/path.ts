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
    : `${base}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}`;
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
  if (name === "") throw new TypeError(`Cannot address a ${kind.kind}: its name is empty`);
  if (kind.namespaced && namespace === undefined) {
    throw new TypeError(`Cannot address ${kind.kind} "${name}": the kind is namespaced, so a namespace must be given`);
  }
  const tail = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}${tail}`;
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
