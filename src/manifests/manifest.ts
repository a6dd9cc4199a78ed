/** Objects as they are sent to a cluster. */

/** Any object as it is sent to a cluster. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
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
