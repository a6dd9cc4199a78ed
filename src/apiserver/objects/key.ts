/** Keys of objects in their collections. */
import type { StoredObject } from "./objects.ts";

/** Returns the key of an object with a namespace and a name. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** Returns the key of a stored object. */
export function keyOfObject({ metadata }: StoredObject): string {
  return keyOf(metadata.namespace, metadata.name);
}
