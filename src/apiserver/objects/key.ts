/** Under which key an object is kept in its collection. */
import type { StoredObject } from "./objects.ts";

/** Where an object is kept in its collection. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** The key of a stored object. */
export function keyOfObject({ metadata }: StoredObject): string {
  return keyOf(metadata.namespace, metadata.name);
}
