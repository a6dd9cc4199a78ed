/**
 * The key of an object among those of its kind: `namespace/name`, or the name if the kind is
 * cluster-scoped.
 */
export type ObjectKey = string;

/**
 * Returns the key of an object.
 *
 * @param metadata The object's metadata.
 */
export function keyOf(metadata: { readonly name: string; readonly namespace?: string | undefined }): ObjectKey {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}
