/** How the finalizers begin that an operator puts on objects. Clusters store them, so this never changes. */
import type { AnyKind } from "./kind.ts";

/**
 * Returns the domain of the names that an operator stores in objects of a kind: the kind's group, or `<operator>.op` for kinds of Kubernetes.
 *
 * @param operator The operator's name.
 * @param kind The kind.
 */
export function storedDomain(operator: string, { group }: Pick<AnyKind, "group">): string {
  // Groups of Kubernetes itself are not ours to make names in; one without a dot is no domain.
  return !group.includes(".") || group.endsWith(".k8s.io") ? `${operator}.op` : group;
}

/**
 * Returns how the finalizers of an operator's controllers of a kind begin, unless they have names of their own. An operator's name has no dot, so that the
 * prefix of one operator is never the beginning of another one's. (A name so long that it is cut does not begin so.)
 *
 * @param operator The operator's name.
 * @param kind The kind.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { finalizerPrefix } from "@op/sdk/definitions";
 *
 * assert.equal(finalizerPrefix("shop", { group: "shop.example.com" }), "shop.example.com/shop.");
 * assert.equal(finalizerPrefix("shop", { group: "apps" }), "shop.op/shop.");
 * ```
 */
export function finalizerPrefix(operator: string, kind: Pick<AnyKind, "group">): string {
  return `${storedDomain(operator, kind)}/${operator}.`;
}
