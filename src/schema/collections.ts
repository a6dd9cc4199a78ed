/** Lists, and objects whose keys are free. */
import { type Keywords, lowered } from "./keywords.ts";
import { checkItem } from "./_parts.ts";
import { seal } from "./_seal.ts";
import type { AlwaysThere, Presence, Schema, WhenDefaulted } from "./schema.ts";

/** Options of {@linkcode array}. */
export interface ArrayOptions<Item, Written = Item, Default = readonly Written[]> extends Keywords<readonly Written[]> {
  /** What the server fills in where nothing stands; it must be a value of the schema. */
  readonly default?: Default;
  /** Least number of items. */
  readonly minItems?: number;
  /** Greatest number of items. Rules on a list without one cost much. */
  readonly maxItems?: number;
  /**
   * Who may own what under server-side apply, and which items are one: `"atomic"` is replaced as a whole, a `"set"` has no value twice, in a
   * `"map"` items are told apart by `listMapKeys`. @default {"atomic"}
   */
  readonly listType?: "atomic" | "set" | "map";
  /** Properties that tell the items of a list of type `"map"` apart: each required or with a default. */
  readonly listMapKeys?: readonly MapKey<Item>[];
}

/** Names of an item's properties; where it has none, the sentence that the compiler shows. */
export type MapKey<Item> = [Item] extends [object] ? keyof Item & string : "only items that are objects have keys";

/** Options of {@linkcode map}. */
export interface MapOptions<Written, Default = { readonly [key: string]: Written }>
  extends Keywords<{ readonly [key: string]: Written }> {
  /** What the server fills in where nothing stands; it must be a value of the schema. */
  readonly default?: Default;
  /** Least number of keys. */
  readonly minProperties?: number;
  /** Greatest number of keys. Rules on a map without one cost much. */
  readonly maxProperties?: number;
  /** Who may own what under server-side apply: each key by itself, or all of it as a whole. @default {"granular"} */
  readonly mapType?: "atomic" | "granular";
}

/**
 * A list.
 *
 * @param items The schema of every item.
 * @param options Keywords of JSON Schema, and Kubernetes' kind of list.
 * @throws {TypeError} If the kind of list does not go with the items, or the default is not of the schema.
 * @throws {RangeError} If the bounds leave no length.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.array(s.string(), { listType: "set" }), {
 *   type: "array",
 *   items: { type: "string" },
 *   "x-kubernetes-list-type": "set",
 * });
 * ```
 */
export function array<Read, Written, When extends Presence, Default extends readonly Written[] = never>(
  items: AlwaysThere<Read, Written, When, "items of a list cannot be optional">,
  options: ArrayOptions<Read, NoInfer<Written>, Default> = {},
): Schema<readonly Read[], readonly Written[], WhenDefaulted<Default>> {
  checkItem("make an array schema", "items", items);
  return seal("make an array schema", { ...lowered("make an array schema", options), type: "array", items });
}

/**
 * An object with any keys, all of whose values are alike.
 *
 * @param values The schema of every value.
 * @param options Keywords of JSON Schema, and Kubernetes' kind of map.
 * @throws {TypeError} If the default is not of the schema.
 * @throws {RangeError} If the bounds leave no size.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.map(s.integer()), { type: "object", additionalProperties: { type: "integer" } });
 * ```
 */
export function map<Read, Written, When extends Presence, Default extends { readonly [key: string]: Written } = never>(
  values: AlwaysThere<Read, Written, When, "values of a map cannot be optional">,
  options: MapOptions<NoInfer<Written>, Default> = {},
): Schema<{ readonly [key: string]: Read }, { readonly [key: string]: Written }, WhenDefaulted<Default>> {
  checkItem("make a map schema", "values", values);
  return seal("make a map schema", {
    ...lowered("make a map schema", options),
    type: "object",
    additionalProperties: values,
  });
}
