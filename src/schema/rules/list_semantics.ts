/**
 * Comparison and concatenation of lists in stored objects. Sets and maps ignore the order
 * (`k8s.io/apiserver/pkg/cel/common`, valuesunstructured.go).
 */
import { equals } from "../../cel/comparison.ts";
import { List, type ListSemantics, MapValue, type Value } from "../../cel/value.ts";
import { own } from "../../base/own.ts";
import { celName } from "../_cel_name.ts";
import { isInt64 } from "../go_text.ts";

/**
 * A list of type `atomic`. `a + b` concatenates the items.
 *
 * @param restore Converts the items that are appended. The server converts values of expressions to
 * JSON and back, if it can.
 */
export function atomicSemantics(restore: (items: readonly Value[]) => readonly Value[]): ListSemantics {
  const semantics: ListSemantics = {
    equal: (a, b) => a.items.length === b.items.length && a.items.every((item, i) => equals(item, b.items[i]!)),
    concat: (a, b) => new List(concatenate(a.items, restore(b.items)), semantics),
  };
  return semantics;
}

/** Concatenates two lists. Items whose conversion failed still throw when they are accessed. */
function concatenate(a: readonly Value[], b: readonly Value[]): readonly Value[] {
  const items: Value[] = [];
  for (const [from, list] of [[0, a], [a.length, b]] as const) {
    for (let i = 0; i < list.length; i++) {
      Object.defineProperty(items, from + i, Object.getOwnPropertyDescriptor(list, i)!);
    }
  }
  return items;
}

/**
 * A list of type `set`. `a + b` is the union: the items of `a`, then those that only `b` has.
 *
 * @param type The type of its items in the schema.
 */
export function setSemantics(type: string | undefined): ListSemantics {
  // As on the server, an integer in a set of numbers is looked up as a double, and so never found.
  const identity = (item: Value) =>
    type === "number" && typeof item === "number" && isInt64(item) ? {} : identityOf(item);
  const semantics: ListSemantics = {
    equal(a, b) {
      if (a.items.length !== b.items.length) return false;
      const mine = new Set(a.items.map(identity));
      return b.items.every((item) => mine.has(identityOf(item)));
    },
    concat(a, b) {
      const items = [...a.items];
      const seen = new Set(items.map(identity));
      for (const item of b.items) {
        const theirs = identityOf(item);
        if (seen.has(theirs)) continue;
        seen.add(theirs);
        items.push(item);
      }
      return new List(items, semantics);
    },
  };
  return semantics;
}

/**
 * Returns the identity of a scalar among values of its type. Times and similar values are all
 * distinct.
 */
function identityOf(value: Value): unknown {
  switch (typeof value) {
    case "string":
      return `s${value}`;
    case "bigint":
      return `i${value}`;
    case "number":
      return `d${value}`;
    case "boolean":
      return value;
    default:
      return {};
  }
}

/**
 * A list of type `map`. `a + b` merges the lists: items of `b` replace those of `a` with the same
 * keys; the others are appended.
 *
 * @param keys The keys of its items.
 */
export function mapListSemantics(keys: readonly string[]): ListSemantics {
  // As on the server, the CEL names are looked up in the JSON: a key such as "a-b" is never found,
  // so it is equal in all items.
  const names = keys.map((key) => celName(key) ?? key);
  function keyOf(item: Value): unknown {
    if (!(item instanceof MapValue) || !("raw" in item)) return {};
    const raw = item.raw as Readonly<Record<string, unknown>>;
    return JSON.stringify(names.map((name) => own(raw, name) ?? null));
  }
  const semantics: ListSemantics = {
    equal(a, b) {
      if (a.items.length !== b.items.length) return false;
      const mine = new Map(a.items.map((item) => [keyOf(item), item]));
      return b.items.every((item) => {
        const same = mine.get(keyOf(item));
        return same !== undefined && equals(same, item);
      });
    },
    concat(a, b) {
      const items = [...a.items];
      const places = new Map(items.map((item, i) => [keyOf(item), i]));
      for (const item of b.items) {
        const place = places.get(keyOf(item));
        if (place === undefined) items.push(item);
        else items[place] = item;
      }
      return new List(items, semantics);
    },
  };
  return semantics;
}
