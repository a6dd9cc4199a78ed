/** Objects as they are sent to a cluster. */

/** Any object as it is sent to a cluster. */
export interface Manifest {
  /** `group/version`, or the version alone for the core group. */
  readonly apiVersion: string;
  /** In CamelCase, singular. */
  readonly kind: string;
  /** Its name, where it is, and the labels by which all of an operator is found. */
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
  /** Whatever else its kind has: `spec`, `data`, `rules`. */
  readonly [field: string]: unknown;
}

/**
 * The label by which all objects of an operator are found.
 *
 * @param operator The operator's name.
 */
export function labelsOf(operator: string): { readonly [key: string]: string } {
  return { "app.kubernetes.io/name": operator };
}
