/** Values of more than one type. */
import type { Annotations } from "./annotations.ts";
import { seal } from "./_seal.ts";
import type { Schema, WhenDefaulted } from "./schema.ts";

/**
 * An integer or a string, such as a port's number or name, or `25%`.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is neither.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.equal(s.intOrString({ default: "25%" })["x-kubernetes-int-or-string"], true);
 * ```
 */
export function intOrString<const Default extends number | string = never>(
  options: Annotations<number | string> & { readonly pattern?: string; readonly default?: Default } = {},
): Schema<number | string, number | string, WhenDefaulted<Default>> {
  return seal("an int-or-string", {
    // Tools that do not know the keyword understand this; it is the one use of anyOf that a structural schema allows for types.
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true,
    ...options,
  });
}

/**
 * Any JSON, kept as it is: nothing is checked and nothing dropped.
 *
 * @param options Keywords of JSON Schema. `type: "object"` takes only objects.
 * @throws {TypeError} If the default is not of the type.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.anything(), { "x-kubernetes-preserve-unknown-fields": true });
 * ```
 */
export function anything(
  options: Annotations & { readonly type: "object"; readonly default?: never },
): Schema<{ readonly [key: string]: unknown }, { readonly [key: string]: unknown }, "required">;
export function anything<Default = never>(
  options?: Annotations & { readonly default?: Default },
): Schema<unknown, unknown, WhenDefaulted<Default>>;
export function anything(options: Annotations & { readonly type?: "object"; readonly default?: unknown } = {}): Schema {
  return seal("an anything", { ...options, "x-kubernetes-preserve-unknown-fields": true });
}
