/** Sums, extremes and places in lists (`k8s.io/apiserver/pkg/cel/library/lists.go`). */
import { compare, entryAt, isEqual, keysOf } from "../comparison.ts";
import { addRanges, exactly, multiplyRanges, scaleRange, sizeRange } from "../cost.ts";
import type { FunctionDeclaration, Library, Overload, SizedNode } from "../library.ts";
import { OPERATORS } from "../standard/operators.ts";
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
import { CelError, DurationValue, List, MapValue, ObjectValue, Uint, type Value } from "../value.ts";
import { type Costs, TRAVERSAL } from "./_costs.ts";

const A = parameter("A");
const add = OPERATORS.find(({ name }) => name === "_+_")!.call!;

/** Types with an order, in the order in which overloads are looked for. */
const ORDERED: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];
/** Types that add up, and what nothing of them comes to. */
const SUMMABLE: readonly (readonly [CelType, Value])[] = [
  [INT, 0n],
  [UINT, new Uint(0n)],
  [DOUBLE, 0],
  [DURATION, new DurationValue(0n)],
];

const COSTS: Required<Costs> = { cost: ([list]) => traversalCost(list!), estimate };

/** `isSorted`, `sum`, `min`, `max`, `indexOf` and `lastIndexOf`. */
export const LISTS: Library = {
  name: "kubernetes.lists",
  functions: [
    { name: "isSorted", overloads: ORDERED.map((type) => of(type, `${type.kind}_is_sorted_bool`, BOOL, isSorted)) },
    {
      name: "sum",
      overloads: SUMMABLE.map(([type, zero]) =>
        of(
          type,
          `${type.kind}_sum_${type.kind}`,
          type,
          (list) => list.items.reduce((sum, item) => add(sum, item), zero),
        )
      ),
    },
    extreme("max", (order) => order < 0),
    extreme("min", (order) => order > 0),
    place("indexOf", "index_of", (list, isWanted) => list.items.findIndex(isWanted)),
    place("lastIndexOf", "last_index_of", (list, isWanted) => list.items.findLastIndex(isWanted)),
  ],
};

function of(type: CelType, id: string, result: CelType, call: (list: List) => Value): Overload {
  return {
    id: `list_${id}`,
    isMember: true,
    parameters: [listOf(type)],
    result,
    call: (list) => call(list as List),
    ...COSTS,
  };
}

function extreme(name: string, isBehind: (order: number) => boolean): FunctionDeclaration {
  const call = (list: List) => {
    const [first, ...others] = list.items;
    if (first === undefined) throw new CelError(`${name} called on empty list`);
    return others.reduce((best, item) => isBehind(orderOf(best, item)) ? item : best, first);
  };
  return { name, overloads: ORDERED.map((type) => of(type, `${type.kind}_${name}_${type.kind}`, type, call)) };
}

function place(
  name: string,
  id: string,
  find: (list: List, isWanted: (item: Value) => boolean) => number,
): FunctionDeclaration {
  return {
    name,
    overloads: [{
      id: `list_a_${id}_int`,
      isMember: true,
      parameters: [listOf(A), A],
      result: INT,
      call: (list, wanted) => BigInt(find(list as List, (item) => isSame(item, wanted!))),
      ...COSTS,
    }],
  };
}

function isSorted(list: List): boolean {
  return list.items.every((item, i) => i === 0 || orderOf(list.items[i - 1]!, item) <= 0);
}

/** Values without an order, such as NaN, count as in place. */
function orderOf(a: Value, b: Value): number {
  try {
    return compare(a, b);
  } catch (error) {
    if (error instanceof CelError) return 0;
    throw error;
  }
}

/** Values that cannot be compared are not the same. */
function isSame(a: Value, b: Value): boolean {
  try {
    return isEqual(a, b);
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

/** For each item 1, and for each character of text in it a tenth more. */
function estimate([list]: readonly SizedNode[]): { cost: { min: number; max: number } } {
  const { items } = list!;
  // A text, which has places too.
  if (items === undefined) return { cost: scaleRange(sizeRange(list!), TRAVERSAL) };
  const isText = items.type.kind === "string" || items.type.kind === "bytes";
  const each = isText ? addRanges(exactly(1), scaleRange(sizeRange(items), TRAVERSAL)) : exactly(1);
  return { cost: multiplyRanges(sizeRange(list!), each) };
}

/** What it costs to look at all of a value. */
function traversalCost(value: Value): number {
  if (typeof value === "string") return Math.floor(byteLength(value) * TRAVERSAL);
  if (value instanceof Uint8Array) return Math.floor(value.length * TRAVERSAL);
  if (value instanceof List) return value.items.reduce<number>((sum, item) => sum + traversalCost(item), 0);
  if (!(value instanceof MapValue || value instanceof ObjectValue)) return 1;
  let sum = 0;
  for (const key of keysOf(value)) sum += traversalCost(key) + traversalCost(entryAt(value, key) ?? null);
  return sum;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
