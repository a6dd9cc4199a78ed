/** Sums, minimums, maximums and indexes of lists (`k8s.io/apiserver/pkg/cel/library/lists.go`). */
import { compareIfPossible, isKnownEqual } from "../comparison.ts";
import { addRanges, exactly, multiplyRanges, scaleRange, sizeRange } from "../cost.ts";
import type { FunctionDeclaration, Overload, SizedNode } from "../function.ts";
import type { Library } from "../library.ts";
import { add } from "../standard/arithmetic.ts";
import { type Costs, TRAVERSAL, walkingCost } from "../traversal.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  parameter,
  STRING,
  TIMESTAMP,
  UINT,
} from "../type.ts";
import { CelError, DurationValue, type List, Uint, type Value } from "../value.ts";

const A = parameter("A");

/** Types with an order, in the order in which overloads are matched. */
const ORDERED: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];
/** Types with a sum, and the sum of no items. */
const SUMMABLE: readonly (readonly [CelType, Value])[] = [
  [INT, 0n],
  [UINT, new Uint(0n)],
  [DOUBLE, 0],
  [DURATION, new DurationValue(0n)],
];

const cost: Costs["cost"] = ([list]) => walkingCost(list!);

/** The library: `isSorted`, `sum`, `min`, `max`, `indexOf` and `lastIndexOf`. */
export const LISTS: Library = {
  name: "kubernetes.lists",
  functions: [
    {
      name: "isSorted",
      cost,
      overloads: ORDERED.map((type) => overloadFor(type, `${type.kind}_is_sorted_bool`, BOOL, isSorted)),
    },
    {
      name: "sum",
      cost,
      overloads: SUMMABLE.map(([type, zero]) =>
        overloadFor(
          type,
          `${type.kind}_sum_${type.kind}`,
          type,
          (list) => list.items.reduce((sum, item) => add(sum, item), zero),
        )
      ),
    },
    extremum("max", (order) => order < 0),
    extremum("min", (order) => order > 0),
    indexFunction("indexOf", "index_of", (list, isWanted) => list.items.findIndex(isWanted)),
    indexFunction("lastIndexOf", "last_index_of", (list, isWanted) => list.items.findLastIndex(isWanted)),
  ],
};

function overloadFor(type: CelType, id: string, result: CelType, call: (list: List) => Value): Overload {
  return {
    id: `list_${id}`,
    isMember: true,
    parameters: [listOf(type)],
    result,
    call: (list) => call(list as List),
    estimate,
  };
}

function extremum(name: string, isReplaced: (order: number) => boolean): FunctionDeclaration {
  const call = (list: List) => {
    const [first, ...others] = list.items;
    if (first === undefined) throw new CelError(`${name} called on empty list`);
    return others.reduce((best, item) => isReplaced(compareIfPossible(best, item)) ? item : best, first);
  };
  return {
    name,
    cost,
    overloads: ORDERED.map((type) => overloadFor(type, `${type.kind}_${name}_${type.kind}`, type, call)),
  };
}

function indexFunction(
  name: string,
  id: string,
  find: (list: List, isWanted: (item: Value) => boolean) => number,
): FunctionDeclaration {
  return {
    name,
    cost,
    overloads: [{
      id: `list_a_${id}_int`,
      isMember: true,
      parameters: [listOf(A), A],
      result: INT,
      call: (list, wanted) => BigInt(find(list as List, (item) => isKnownEqual(item, wanted!))),
      estimate,
    }],
  };
}

function isSorted(list: List): boolean {
  return list.items.every((item, i) => i === 0 || compareIfPossible(list.items[i - 1]!, item) <= 0);
}

/** Estimates 1 for each item, and 0.1 for each character of string items. */
function estimate([list]: readonly SizedNode[]): { cost: { min: number; max: number } } {
  const { items } = list!;
  // The operand is a string: `indexOf` is also a function of strings.
  if (items === undefined) return { cost: scaleRange(sizeRange(list!), TRAVERSAL) };
  const isText = items.type.kind === "string" || items.type.kind === "bytes";
  const each = isText ? addRanges(exactly(1), scaleRange(sizeRange(items), TRAVERSAL)) : exactly(1);
  return { cost: multiplyRanges(sizeRange(list!), each) };
}
