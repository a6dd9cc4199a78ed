/** Types of objects inside others: the metadata of a template, a claim in a StatefulSet. */

/**
 * `metadata` of a template. It has the fields that controller-gen generates with
 * `generateEmbeddedObjectMeta`; a CustomResourceDefinition drops all others.
 */
export interface EmbeddedObjectMeta {
  /** Name. The controller that creates the object usually generates another one. */
  readonly name?: string | undefined;
  /** Namespace. Usually omitted, since the object is created in the namespace of its owner. */
  readonly namespace?: string | undefined;
  /** Labels of the created object. The selector of its owner must match them. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  /** Annotations of the created object. */
  readonly annotations?: { readonly [key: string]: string } | undefined;
  /** Finalizers of the created object. */
  readonly finalizers?: readonly string[] | undefined;
}

/** An object of a kind inside another object. */
export type Embedded<Written> = Omit<Written, "metadata"> & { readonly metadata?: EmbeddedObjectMeta | undefined };
