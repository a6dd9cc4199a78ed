/** Lists, and objects with arbitrary keys. */
import { type Keywords, toJsonSchema } from "./keywords.ts";
import { checkItem } from "./_builder_arguments.ts";
import { seal } from "./_seal.ts";
import type { AlwaysThere, Presence, Schema, WhenDefaulted } from "./schema.ts";

/** Options of {@linkcode array}. */
export interface ArrayOptions<Item, Written = Item, Default = readonly Written[]> extends Keywords<readonly Written[]> {
  /** The value that the server sets if it is omitted. It must match the schema. */
  readonly default?: Default;
  /** Minimum number of items. */
  readonly minItems?: number;
  /** Maximum number of items. Without it, the estimated cost of CEL rules on the list is high. */
  readonly maxItems?: number;
  /**
   * The merge strategy of server-side apply: an `"atomic"` list is replaced as a whole, a `"set"`
   * has no duplicates, and items of a `"map"` are identified by `listMapKeys`. @default {"atomic"}
   */
  readonly listType?: "atomic" | "set" | "map";
  /**
   * Properties that identify the items of a list of type `"map"`. Each must be required or have a
   * default.
   */
  readonly listMapKeys?: readonly MapKey<Item>[];
}

/**
 * Names of an item's properties. For items without properties, the type is the compiler's error
 * message.
 */
export type MapKey<Item> = [Item] extends [object] ? keyof Item & string : "only items that are objects have keys";

/** Options of {@linkcode map}. */
export interface MapOptions<Written, Default = { readonly [key: string]: Written }>
  extends Keywords<{ readonly [key: string]: Written }> {
  /** The value that the server sets if it is omitted. It must match the schema. */
  readonly default?: Default;
  /** Minimum number of keys. */
  readonly minProperties?: number;
  /** Maximum number of keys. Without it, the estimated cost of CEL rules on the map is high. */
  readonly maxProperties?: number;
  /**
   * The ownership of fields under server-side apply: each key separately, or the map as a whole.
   * @default {"granular"}
   */
  readonly mapType?: "atomic" | "granular";
}

/**
 * Builds the schema of a list.
 *
 * @param items The schema of the items.
 * @param options Keywords of JSON Schema, and the list type of Kubernetes.
 * @throws {TypeError} If the list type does not allow the items, or the default does not match the
 * schema.
 * @throws {RangeError} If the bounds allow no length.
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
  checkItem("define an array schema", "items", items);
  return seal("define an array schema", { ...toJsonSchema("define an array schema", options), type: "array", items });
}

/**
 * Builds the schema of an object with arbitrary keys.
 *
 * @param values The schema of the values.
 * @param options Keywords of JSON Schema, and the map type of Kubernetes.
 * @throws {TypeError} If the default does not match the schema.
 * @throws {RangeError} If the bounds allow no size.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.map(s.integer()), {
 *   type: "object",
 *   additionalProperties: { type: "integer" },
 * });
 * ```
 */
export function map<Read, Written, When extends Presence, Default extends { readonly [key: string]: Written } = never>(
  values: AlwaysThere<Read, Written, When, "values of a map cannot be optional">,
  options: MapOptions<NoInfer<Written>, Default> = {},
): Schema<{ readonly [key: string]: Read }, { readonly [key: string]: Written }, WhenDefaulted<Default>> {
  checkItem("define a map schema", "values", values);
  return seal("define a map schema", {
    ...toJsonSchema("define a map schema", options),
    type: "object",
    additionalProperties: values,
  });
}
