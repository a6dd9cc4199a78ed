/** What stands inside another object: a template's metadata, a claim in a StatefulSet. */

/**
 * `metadata` of a template. Whoever makes an object of it gives it the rest, and a CustomResourceDefinition keeps no more than this: what
 * controller-gen writes with `generateEmbeddedObjectMeta`.
 */
export interface EmbeddedObjectMeta {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly labels?: { readonly [key: string]: string } | undefined;
  readonly annotations?: { readonly [key: string]: string } | undefined;
  readonly finalizers?: readonly string[] | undefined;
}

/** A kind's object inside another. */
export type Embedded<Written> = Omit<Written, "metadata"> & { readonly metadata?: EmbeddedObjectMeta | undefined };
