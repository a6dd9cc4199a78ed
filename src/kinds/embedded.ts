/** What stands inside another object: a template's metadata, a claim in a StatefulSet. */

/**
 * `metadata` of a template. Whoever makes an object of it gives it the rest, and a CustomResourceDefinition keeps no more than this: what
 * controller-gen writes with `generateEmbeddedObjectMeta`.
 */
export interface EmbeddedObjectMeta {
  /** What is made of it is mostly called otherwise: by whoever makes it. */
  readonly name?: string | undefined;
  /** Mostly left out: what is made is where its maker is. */
  readonly namespace?: string | undefined;
  /** Labels of what is made: the selector of its maker has to find them. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  /** Annotations of what is made. */
  readonly annotations?: { readonly [key: string]: string } | undefined;
  /** Finalizers of what is made. */
  readonly finalizers?: readonly string[] | undefined;
}

/** A kind's object inside another. */
export type Embedded<Written> = Omit<Written, "metadata"> & { readonly metadata?: EmbeddedObjectMeta | undefined };
