/** Objects as they are sent to a cluster. */
import { ID_LABEL, NAME_LABEL } from "../base/installed_labels.ts";

/** An object as it is sent to a cluster. */
export interface Manifest {
  /** `group/version`, or only the version for the core group. */
  readonly apiVersion: string;
  /** The kind, in CamelCase and singular. */
  readonly kind: string;
  /** Name, namespace, and the labels that identify the operator. */
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
  /** Other fields of the kind: `spec`, `data`, `rules`. */
  readonly [field: string]: unknown;
}

/**
 * Returns the labels that all objects of an operator have.
 *
 * @param operator The operator's name.
 */
export function labelsOf(operator: string): { readonly [key: string]: string } {
  return { [NAME_LABEL]: operator };
}

/**
 * Returns an object with the label that identifies the installation. Pod templates and selectors do
 * not change, because a Deployment's selector is immutable.
 *
 * @param manifest The object.
 * @param id The operator's ID.
 */
export function withId<M extends { readonly metadata: { readonly labels?: { readonly [key: string]: string } } }>(
  manifest: M,
  id: string,
): M {
  const { metadata } = manifest;
  return { ...manifest, metadata: { ...metadata, labels: { ...metadata.labels, [ID_LABEL]: id } } };
}
