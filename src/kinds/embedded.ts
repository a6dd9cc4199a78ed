/** Types of objects that are part of other objects, such as a claim in a StatefulSet. */

/**
 * `metadata` of a template. It has the fields that controller-gen generates with
 * `generateEmbeddedObjectMeta`; a CustomResourceDefinition drops all others.
 */
export interface EmbeddedObjectMeta {
  /** The name. The controller that creates the object usually generates another one. */
  readonly name?: string | undefined;
  /**
   * The namespace. It is usually omitted, because the object is created in the namespace of its
   * owner.
   */
  readonly namespace?: string | undefined;
  /** Labels of the created object. The selector of its owner must match them. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  /** Annotations of the created object. */
  readonly annotations?: { readonly [key: string]: string } | undefined;
  /** Finalizers of the created object. */
  readonly finalizers?: readonly string[] | undefined;
}

/** An object of a kind as part of another object. */
export type Embedded<Written> = Omit<Written, "metadata"> & { readonly metadata?: EmbeddedObjectMeta | undefined };
