/** Which objects of a kind a live copy holds, and how much of them. */

/** A choice among the objects of a kind, in the API's own words. */
export interface Selection {
  /** As the API has it: `app=web,tier!=cache`. */
  readonly labelSelector?: string | undefined;
  /** As the API has it: `metadata.name=web`. */
  readonly fieldSelector?: string | undefined;
  /** Namespaces to look at; all that the operator looks at where it is left out. */
  readonly namespaces?: readonly string[] | undefined;
  /** Whether only the metadata is held: the server leaves the rest out. */
  readonly metadataOnly?: boolean | undefined;
  /** Whether all of `managedFields` is held. */
  readonly managedFields?: boolean | undefined;
}

/**
 * A selection as text: two that choose the same are the same text, so that they share one watch.
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
 * Labels that must have these values, as the API has it.
 *
 * @param labels The labels, or the API's own text.
 */
export function labelSelectorOf(labels: string | { readonly [label: string]: string }): string {
  return typeof labels === "string"
    ? labels
    : Object.entries(labels).map(([label, value]) => `${label}=${value}`).join(",");
}
