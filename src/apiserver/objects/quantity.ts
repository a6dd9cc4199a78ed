/** Quantities in JSON (`k8s.io/apimachinery/pkg/api/resource.Quantity`, UnmarshalJSON). */
import { Quantity } from "../../base/quantity.ts";

/**
 * Returns a quantity as the server stores it.
 *
 * @param text The quantity. Surrounding white space is allowed.
 * @returns The canonical form.
 * @throws {SyntaxError} If it is not a quantity.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(canonicalQuantity(" 1000m"), "1");
 * assert.equal(canonicalQuantity("1024Mi"), "1Gi");
 * ```
 */
export function canonicalQuantity(text: string): string {
  return Quantity.parse(text.trim()).toString();
}
