/**
 * Labels on the objects that are installed for an operator. Clusters store them, so they must never
 * change.
 */

/**
 * The label that carries the operator's name. It selects the operator's pods, and is part of
 * selectors that cannot be changed.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(NAME_LABEL, "app.kubernetes.io/name");
 * ```
 */
export const NAME_LABEL = "app.kubernetes.io/name";

/**
 * The label that carries the operator's ID, which distinguishes operators that have the same name.
 * It is never part of a selector.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { operator } from "@op/sdk";
 *
 * const { namespace } = operator({ name: "shop", parts: {} }).manifests({ id: "a1" });
 * assert.equal(namespace[0]?.metadata.labels?.[ID_LABEL], "a1");
 * ```
 */
export const ID_LABEL = "op/operator-id";
