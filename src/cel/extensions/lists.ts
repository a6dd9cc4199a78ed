/** Functions of lists: `slice`, `flatten`, `sort` and others (cel-go, ext/lists.go, version 3). */
import { goTypeOf } from "../go_type.ts";
import { compareIfPossible, isEqual, isOrdered } from "../comparison.ts";
import { addRanges, exactly, multiplyRanges, type Range, scaleRange, sizeRange, UNLIMITED } from "../cost.ts";
import type { CallEstimate, FunctionDeclaration, Overload, SizedNode } from "../function.ts";
import type { Library } from "../library.ts";
import { Abort, type Outcome } from "../outcome.ts";
import { type Macro, MacroError, map as mapMacro } from "../macro.ts";
import { sizeOf, typeOfValue } from "../runtime_type.ts";
import { noSuchOverload } from "../standard/arithmetic.ts";
import type { Costs } from "../traversal.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  parameter,
  partsOf,
  type SimpleType,
  STRING,
  TIMESTAMP,
  typeName,
  UINT,
} from "../type.ts";
import { CelError, DurationValue, List, Timestamp, Uint, type Value } from "../value.ts";

const T = parameter("T");
const LIST = listOf(T);
const SORTABLE: readonly SimpleType[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];
// A call plus the list that it builds.
const BASE_COST = 11;
const SORT_BY = "@sortByAssociatedKeys";

const FLATTEN_COSTS: Costs = {
  cost([list, depth = 1n]) {
    if (typeof depth !== "bigint") {
      throw new Abort(`internal error: interface conversion: ref.Val is ${goTypeOf(depth)}, not types.Int`);
    }
    return allocationCost(Number(depth), sizeOf(list!));
  },
  estimate: ([list, depth]) => estimateFor(depth === undefined ? 1 : literalOr(depth, UNLIMITED), sizeRange(list!)),
};

/** The library. */
export const LISTS_LIBRARY: Library = {
  name: "cel.lib.ext.lists",
  functions: [
    single(
      "slice",
      member("list_slice", [LIST, INT, INT], LIST, slice, {
        cost: (_, result) => allocationCost(1, sizeOf(result)),
        estimate: ([list, start, end]) => {
          const last = literalOr(end!, sizeRange(list!).max);
          return estimateFor(1, exactly(wrapUint64(last - literalOr(start!, 0))));
        },
      }),
    ),
    {
      name: "flatten",
      overloads: [
        member("list_flatten", [listOf(LIST)], LIST, (list) => flatten(list!, 1n), FLATTEN_COSTS),
        member("list_flatten_int", [listOf(DYN), INT], listOf(DYN), flattenBy, FLATTEN_COSTS),
      ],
      isUnguarded: true,
    },
    {
      name: "sort",
      overloads: SORTABLE.map((type) =>
        member(`list_${typeName(type)}_sort`, [listOf(type)], listOf(type), sort, {
          cost: ([list]) => selfComparisonCost(list!),
          estimate: ([list]) => sortEstimate(list!, type),
        })
      ),
      call: (list) => {
        if (!(list instanceof List)) throw noSuchOverload(list!, "sort");
        return sort(list);
      },
    },
    {
      name: SORT_BY,
      overloads: SORTABLE.map((type) =>
        member(`list_${typeName(type)}_sortByAssociatedKeys`, [LIST, listOf(type)], LIST, sortBy, {
          cost: ([, keys]) => selfComparisonCost(keys!),
          estimate: ([, keys]) => sortEstimate(keys!, type),
        })
      ),
      call: (list, keys) => {
        if (!(list instanceof List)) throw noSuchOverload(list!, SORT_BY);
        return sortBy(list, keys);
      },
    },
    single("lists.range", {
      id: "lists_range",
      isMember: false,
      parameters: [INT],
      result: listOf(INT),
      call: (count) => new List(Array.from({ length: Math.max(0, Number(count)) }, (_, i) => BigInt(i))),
      cost: (_, result) => allocationCost(1, sizeOf(result)),
      estimate: ([count]) => estimateFor(1, exactly(literalOr(count!, UNLIMITED))),
    }),
    single(
      "reverse",
      member("list_reverse", [LIST], LIST, (list) => new List((list as List).items.toReversed()), {
        cost: (_, result) => allocationCost(1, sizeOf(result)),
        estimate: ([list]) => estimateFor(1, sizeRange(list!)),
      }),
    ),
    single(
      "distinct",
      member("list_distinct", [LIST], LIST, distinct, {
        cost: ([list]) => selfComparisonCost(list!),
        estimate: ([list]) => estimateFor(2, multiplyRanges(sizeRange(list!), sizeRange(list!))),
      }),
    ),
  ],
  macros: [sortByMacro()],
};

function single(name: string, overload: Overload): FunctionDeclaration {
  return { name, overloads: [overload] };
}

function member(
  id: string,
  parameters: readonly CelType[],
  result: CelType,
  call: (...values: Value[]) => Value,
  costs: Costs,
): Overload {
  return { id, isMember: true, parameters, result, call, ...costs };
}

function slice(list?: Value, start?: Value, end?: Value): Value {
  const { items } = list as List;
  const [from, to] = [start as bigint, end as bigint];
  const call = `cannot slice(${from}, ${to})`;
  if (from < 0n || to < 0n) throw new CelError(`${call}, negative indexes not supported`);
  if (from > to) throw new CelError(`${call}, start index must be less than or equal to end index`);
  if (BigInt(items.length) < to) throw new CelError(`${call}, list is length ${items.length}`);
  return new List(items.slice(Number(from), Number(to)));
}

function flattenBy(list?: Value, depth?: Value): Value {
  if (typeof depth !== "bigint" || !(list instanceof List)) {
    const [a, b] = [list, depth].map((value) => typeText(value!));
    throw new CelError(`no such overload: ${a}.flatten(${b})`);
  }
  return flatten(list, depth);
}

function flatten(list: Value, depth: bigint): Value {
  if (!(list instanceof List)) throw new CelError(`no such overload: ${typeText(list)}.flatten()`);
  if (depth < 0n) throw new CelError("level must be non-negative");
  return new List(flattenItems(list, depth));
}

function typeText(value: Value): string {
  const type = typeOfValue(value);
  const parts = type.kind === "list" || type.kind === "map" ? partsOf(type) : [];
  return parts.length === 0 ? typeName(type) : `${typeName(type)}(${parts.map(typeName).join(", ")})`;
}

function flattenItems(list: List, depth: bigint): readonly Value[] {
  return list.items.flatMap((item) => item instanceof List && depth > 0n ? flattenItems(item, depth - 1n) : [item]);
}

function sort(list?: Value): Value {
  return sortBy(list, list);
}

function sortBy(list?: Value, keys?: Value): Value {
  const { items } = list as List;
  const sortKeys = (keys as List).items;
  if (items.length !== sortKeys.length) {
    throw new CelError(
      `${SORT_BY}() expected a list of the same size as the associated keys list, but got ${items.length} and ${sortKeys.length} elements respectively`,
    );
  }
  const [first] = sortKeys;
  if (first === undefined) return list!;
  if (!isOrdered(first)) throw new CelError("list elements must be comparable");
  const { kind } = typeOfValue(first);
  const isMixed = sortKeys.length > 1 && sortKeys.some((key) => typeOfValue(key).kind !== kind);
  if (isMixed) throw new CelError("list elements must have the same type");
  const order = sortKeys.map((_, i) => i).sort((i, j) => compareIfPossible(sortKeys[i]!, sortKeys[j]!));
  return new List(order.map((i) => items[i]!));
}

function distinct(list?: Value): Value {
  const found: Value[] = [];
  for (const item of (list as List).items) {
    if (!found.some((other) => isEqual(item, other))) found.push(item);
  }
  return new List(found);
}

function allocationCost(factor: number, size: number): number {
  return Math.trunc(size * factor) + BASE_COST;
}

/**
 * Returns the cost of comparing each item with every other one. cel-go does not expect an operand
 * that is not a list, and aborts the whole evaluation.
 */
function selfComparisonCost(list: Outcome): number {
  if (!(list instanceof List)) {
    const isAdder = typeof list === "string" || typeof list === "bigint" || typeof list === "number" ||
      list instanceof Uint || list instanceof Uint8Array || list instanceof Timestamp || list instanceof DurationValue;
    const missing = isAdder ? "Contains" : "Add";
    throw new Abort(
      `internal error: interface conversion: ${goTypeOf(list)} is not traits.Lister: missing method ${missing}`,
    );
  }
  const size = sizeOf(list);
  const [first] = list.items;
  const isLong = typeof first === "string" || first instanceof Uint8Array;
  return allocationCost(isLong ? 2.1 : 2, size * size);
}

function estimateFor(factor: number, size: Range): CallEstimate {
  return { cost: addRanges(scaleRange(size, factor), exactly(BASE_COST)), resultSize: size };
}

function sortEstimate(node: SizedNode, type: CelType): CallEstimate {
  const size = sizeRange(node);
  return estimateFor(type === STRING || type === BYTES ? 2.1 : 2, multiplyRanges(size, size));
}

/** Returns the value of an integer literal (at least 0), or else the given default. */
function literalOr(node: SizedNode, otherwise: number): number {
  return typeof node.literal === "bigint" ? Math.max(0, Number(node.literal)) : otherwise;
}

/** Wraps a negative difference around as uint64 arithmetic does. */
function wrapUint64(value: number): number {
  return value < 0 ? value + UNLIMITED + 1 : value;
}

/** `list.sortBy(x, key)`: the list is evaluated once and sorted by the list of its keys. */
function sortByMacro(): Macro {
  const input = "@__sortBy_input__";
  return {
    name: "sortBy",
    isMember: true,
    operands: 2,
    expand(site, operands, target) {
      if (!["list", "select", "identifier", "comprehension", "call"].includes(target!.kind)) {
        throw new MacroError(
          "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
          target!.offset,
        );
      }
      const keys = mapMacro(site, operands, site.identifier(input));
      return site.bind(input, target!, site.memberCall(SORT_BY, site.identifier(input), keys));
    },
  };
}
