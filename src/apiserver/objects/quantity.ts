/** Amounts as they stand in JSON (`k8s.io/apimachinery/pkg/api/resource.Quantity`, UnmarshalJSON). */
import { Quantity } from "../../base/quantity.ts";

/**
 * An amount as the server stores it, without the space around it.
 *
 * @param text The quantity.
 * @returns The same amount, in its canonical form.
 * @throws {SyntaxError} If it is none.
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
