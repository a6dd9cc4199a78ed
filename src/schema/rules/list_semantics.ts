/** How lists of stored objects compare and add up, those that are sets or maps without regard to order (`k8s.io/apiserver/pkg/cel/common`, valuesunstructured.go). */
import { equals } from "../../cel/comparison.ts";
import { List, type ListSemantics, MapValue, type Value } from "../../cel/value.ts";
import { own } from "../../base/own.ts";
import { celName } from "../_cel_name.ts";
import { isInt64 } from "../go_text.ts";

/**
 * A list of type `atomic`. `a + b` are the items of both.
 *
 * @param restore An item as it comes back from being added: a server stores the values of an expression as JSON in between, if it can.
 */
export function atomicSemantics(restore: (items: readonly Value[]) => readonly Value[]): ListSemantics {
  const semantics: ListSemantics = {
    equal: (a, b) => a.items.length === b.items.length && a.items.every((item, i) => equals(item, b.items[i]!)),
    concat: (a, b) => new List(joined(a.items, restore(b.items)), semantics),
  };
  return semantics;
}

/** Items that fail those that look at them stay so. */
function joined(a: readonly Value[], b: readonly Value[]): readonly Value[] {
  const items: Value[] = [];
  for (const [from, list] of [[0, a], [a.length, b]] as const) {
    for (let i = 0; i < list.length; i++) {
      Object.defineProperty(items, from + i, Object.getOwnPropertyDescriptor(list, i)!);
    }
  }
  return items;
}

/**
 * A list of type `set`. `a + b` is their union: in the order of `a`, then what only `b` has.
 *
 * @param type The type of its items in the schema.
 */
export function setSemantics(type: string | undefined): ListSemantics {
  // A whole number in a set of numbers is looked for as a double, and not found: so the server does it.
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

/** What tells a scalar from others of its type. Times and the like are told apart by nothing: each is another. */
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
 * A list of type `map`. `a + b` merges them: what `b` has under a key that is in `a` takes its place, the rest comes after.
 *
 * @param keys The keys of its items.
 */
export function mapListSemantics(keys: readonly string[]): ListSemantics {
  // The names that rules use are looked for in the JSON itself: a key such as "a-b" is never found there, and all items have the same one.
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
