/** Which objects of a kind a cache has, and which parts of them. */

/** A selection of the objects of a kind. */
export interface Selection {
  /** Label selector, such as `app=web,tier!=cache`. */
  readonly labelSelector?: string | undefined;
  /** Field selector, such as `metadata.name=web`. */
  readonly fieldSelector?: string | undefined;
  /** Namespaces to watch. @default {those of the operator} */
  readonly namespaces?: readonly string[] | undefined;
  /** Whether the cache has only metadata. The server omits the rest. */
  readonly metadataOnly?: boolean | undefined;
  /** Whether the cache has all entries of `managedFields`. */
  readonly managedFields?: boolean | undefined;
}

/**
 * Returns a string that is the same for equal selections, so that they share a watch.
 *
 * @param selection The selection.
 */
export function selectionKey(selection: Selection): string {
  const { labelSelector, fieldSelector, namespaces, metadataOnly, managedFields } = selection;
  return JSON.stringify([
    labelSelector ?? "",
    fieldSelector ?? "",
    namespaces === undefined ? null : [...new Set(namespaces)].sort(),
    metadataOnly ?? false,
    managedFields ?? false,
  ]);
}

/**
 * Returns a label selector.
 *
 * @param labels Labels that objects must have, or a label selector.
 */
export function labelSelectorOf(labels: string | { readonly [label: string]: string }): string {
  return typeof labels === "string"
    ? labels
    : Object.entries(labels).map(([label, value]) => `${label}=${value}`).join(",");
}
