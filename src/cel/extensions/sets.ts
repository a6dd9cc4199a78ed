/** Lists as sets: `sets.contains` and others (cel-go, ext/sets.go). */
import { contains, containsIfKnown } from "../comparison.ts";
import { addRanges, exactly, multiplyRanges, scaleRange, sizeRange } from "../cost.ts";
import type { FunctionDeclaration } from "../function.ts";
import type { Library } from "../library.ts";
import { sizeOf } from "../runtime_type.ts";
import { BOOL, listOf, parameter } from "../type.ts";
import type { List } from "../value.ts";

/** The library. */
export const SETS_LIBRARY: Library = {
  name: "cel.lib.ext.sets",
  functions: [
    comparison("contains", 1, hasAll),
    comparison("equivalent", 2, (a, b) => hasAll(a, b) && hasAll(b, a)),
    comparison("intersects", 1, (a, b) => a.items.some((item) => containsIfKnown(b, item))),
  ],
};

function comparison(name: string, factor: number, test: (a: List, b: List) => boolean): FunctionDeclaration {
  const list = listOf(parameter("T"));
  return {
    name: `sets.${name}`,
    overloads: [{
      id: `list_sets_${name}_list`,
      isMember: false,
      parameters: [list, list],
      result: BOOL,
      call: (a, b) => test(a as List, b as List),
      cost: ([a, b]) => 1 + sizeOf(a!) * sizeOf(b!) * factor,
      estimate: ([a, b]) => ({
        cost: addRanges(scaleRange(multiplyRanges(sizeRange(a!), sizeRange(b!)), factor), exactly(1)),
      }),
    }],
  };
}

function hasAll(list: List, wanted: List): boolean {
  return wanted.items.every((item) => contains(list, item));
}
