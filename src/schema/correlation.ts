/**
 * Correlates new values with old ones, so that unchanged invalid values remain allowed (KEP-4008,
 * ratcheting; `k8s.io/apiserver/pkg/cel/common`, equality.go and maplist.go).
 */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import type { JsonSchema } from "./json_schema.ts";

/** A value and its old value. List items can be correlated only by their keys. */
export class Correlation {
  readonly #schema: JsonSchema;
  readonly #value: unknown;
  readonly #old: unknown;
  readonly #children: Map<string | number, Correlation> = new Map();
  #oldItems: KeyedList | undefined;
  #isSame: boolean | undefined;

  /**
   * @param schema The schema of both.
   * @param value The new value.
   * @param old The old value.
   */
  constructor(schema: JsonSchema, value: unknown, old: unknown) {
    this.#schema = schema;
    this.#value = value;
    this.#old = old;
  }

  /** Returns the correlation of a field, if the schema declares it and the old value has it. */
  key(key: string): Correlation | undefined {
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    if (!isObject(this.#value) || !isObject(this.#old)) return undefined;
    const [value, old] = [own(this.#value, key), own(this.#old, key)];
    if (value === undefined || old === undefined) return undefined;
    const schema = own(this.#schema.properties, key) ?? this.#schema.additionalProperties;
    return isObject(schema) ? this.#child(key, schema, value, old) : undefined;
  }

  /** Returns the correlation of an item, if the list has keys. */
  index(index: number): Correlation | undefined {
    const known = this.#children.get(index);
    if (known !== undefined) return known;
    const { items } = this.#schema;
    if (items === undefined || !Array.isArray(this.#value) || !Array.isArray(this.#old)) return undefined;
    const value: unknown = this.#value[index];
    this.#oldItems ??= new KeyedList(this.#schema, this.#old);
    const old = this.#oldItems.get(value);
    return old === undefined ? undefined : this.#child(index, items, value, old);
  }

  #child(key: string | number, schema: JsonSchema, value: unknown, old: unknown): Correlation {
    const child = new Correlation(schema, value, old);
    this.#children.set(key, child);
    return child;
  }

  /**
   * Whether the value is unchanged. The order of items with keys does not matter. A field that the
   * schema does not declare counts as changed.
   */
  get isSame(): boolean {
    return this.#isSame ??= this.#compare();
  }

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old];
    if (Array.isArray(value)) return Array.isArray(old) && this.#compareLists(value, old);
    if (!isObject(value)) return equal(value, old);
    if (!isObject(old)) return false;
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    if (keys.length !== Object.values(old).filter((each) => each !== undefined).length) return false;
    return keys.every((key) => this.key(key)?.isSame ?? false);
  }

  #compareLists(value: readonly unknown[], old: readonly unknown[]): boolean {
    if (value.length !== old.length) return false;
    if (keysOf(this.#schema) === undefined) return equal(value, old);
    return value.every((_, i) => this.index(i)?.isSame ?? false);
  }
}

/** A list whose items are found by their keys. Lookups in a list without keys find no item. */
export class KeyedList {
  readonly #keys: readonly string[] | undefined;
  readonly #list: readonly unknown[];
  #items: Map<string, unknown> | undefined;

  /**
   * @param schema The schema of the list.
   * @param list The list; `undefined` means empty.
   */
  constructor(schema: JsonSchema, list: readonly unknown[] = []) {
    this.#keys = keysOf(schema);
    this.#list = list;
  }

  /** Returns the first item with the same keys as another item. */
  get(item: unknown): unknown {
    const keys = this.#keys;
    const wanted = keys && keyOf(keys, item);
    if (keys === undefined || wanted === undefined) return undefined;
    if (this.#items === undefined) {
      this.#items = new Map();
      for (const each of this.#list) {
        const key = keyOf(keys, each);
        if (key !== undefined && !this.#items.has(key)) this.#items.set(key, each);
      }
    }
    return this.#items.get(wanted);
  }
}

function keysOf(schema: JsonSchema): readonly string[] | undefined {
  if (schema.type !== "array" || schema["x-kubernetes-list-type"] !== "map") return undefined;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return keys.length === 0 ? undefined : keys;
}

/** Returns all keys of an item as one string, or `undefined` if one is missing or not a scalar. */
function keyOf(keys: readonly string[], item: unknown): string | undefined {
  if (!isObject(item)) return undefined;
  let key = "";
  for (const each of keys) {
    const value = own(item, each);
    if (value === undefined || value === null || typeof value === "object") return undefined;
    key += `${typeof value}:${JSON.stringify(value)},`;
  }
  return key;
}
