/** An object's place among those of its kind: `namespace/name`, or the name alone where the kind is cluster-wide. */
export type ObjectKey = string;

/**
 * The key of an object.
 *
 * @param metadata The object's metadata.
 */
export function keyOf(metadata: { readonly name: string; readonly namespace?: string | undefined }): ObjectKey {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}
