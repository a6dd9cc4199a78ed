/** The prefix of an operator's finalizers. Clusters store them, so it must never change. */
import type { AnyKind } from "./kind.ts";

/**
 * Returns the domain of the names that an operator stores in objects of a kind: the kind's group,
 * or `<operator>.op` for Kubernetes' own kinds.
 *
 * @param operator The operator's name.
 * @param kind The kind.
 */
export function storedDomain(operator: string, { group }: Pick<AnyKind, "group">): string {
  // Names in Kubernetes' own groups are not ours to define, and a group without a dot is not a
  // domain.
  return !group.includes(".") || group.endsWith(".k8s.io") ? `${operator}.op` : group;
}

/**
 * Returns the prefix of the finalizers of an operator's controllers for a kind. Controllers with
 * the option `finalizer` do not use it. An operator's name contains no dot, so the prefix of one
 * operator is never a prefix of another's. A name that is too long is shortened and does not have
 * this prefix.
 *
 * @param operator The operator's name.
 * @param kind The kind.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(finalizerPrefix("shop", { group: "shop.example.com" }), "shop.example.com/shop.");
 * assert.equal(finalizerPrefix("shop", { group: "apps" }), "shop.op/shop.");
 * ```
 */
export function finalizerPrefix(operator: string, kind: Pick<AnyKind, "group">): string {
  return `${storedDomain(operator, kind)}/${operator}.`;
}
