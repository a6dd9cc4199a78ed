/** Functions of strings, and `size` (cel-go, common/stdlib/standard.go). */
import { multiplyRanges, scaleRange, sizeRange } from "../cost.ts";
import type { FunctionDeclaration, Overload } from "../function.ts";
import { regularExpression } from "../regular_expression.ts";
import { sizeOf } from "../runtime_type.ts";
import { type Costs, MATCHING, READING, readingCost, TRAVERSAL } from "../traversal.ts";
import { BOOL, BYTES, type CelType, INT, listOf, mapOf, parameter, STRING } from "../type.ts";
import { CelError, DurationValue, List, MapValue, Timestamp, type Value } from "../value.ts";

const A = parameter("A");
const B = parameter("B");
const LIST = listOf(A);
const MAP = mapOf(A, B);

/** The functions. */
export const TEXT_FUNCTIONS: readonly FunctionDeclaration[] = [
  {
    name: "size",
    overloads: [
      ...sizes(BYTES, "bytes"),
      ...sizes(LIST, "list"),
      ...sizes(MAP, "map"),
      ...sizes(STRING, "string"),
    ],
    call: size,
  },
  textTest("contains", "contains_string", (text, part) => text.includes(part), {
    cost: ([text, part]) => readingCost(text!) * readingCost(part!),
    estimate: ([text, part]) => ({
      cost: multiplyRanges(scaleRange(sizeRange(text!), TRAVERSAL), scaleRange(sizeRange(part!), TRAVERSAL)),
    }),
  }),
  // cel-go estimates the cost from the suffix, but charges for the whole string.
  textTest("endsWith", "ends_with_string", (text, part) => text.endsWith(part), {
    cost: READING.cost,
    estimate: ([, part]) => ({ cost: scaleRange(sizeRange(part!), TRAVERSAL) }),
  }),
  textTest("startsWith", "starts_with_string", (text, part) => text.startsWith(part), {
    cost: READING.cost,
    estimate: ([, part]) => ({ cost: scaleRange(sizeRange(part!), TRAVERSAL) }),
  }),
  {
    name: "matches",
    overloads: [
      { id: "matches", isMember: false, parameters: [STRING, STRING], result: BOOL, call: matches },
      {
        id: "matches_string",
        isMember: true,
        parameters: [STRING, STRING],
        result: BOOL,
        call: matches,
        ...MATCHING,
      },
    ],
    call: matches,
    patternOperand: 1,
  },
];

function sizes(type: CelType, name: string): readonly Overload[] {
  const shape = { parameters: [type], result: INT, call: size };
  return [{ ...shape, id: `size_${name}`, isMember: false }, { ...shape, id: `${name}_size`, isMember: true }];
}

function size(value?: Value): Value {
  const isSized = typeof value === "string" || value instanceof List || value instanceof MapValue ||
    value instanceof Uint8Array;
  if (isSized) return BigInt(sizeOf(value));
  // cel-go calls the methods of timestamps and durations first, and those errors do not name the
  // function.
  const hasMethods = value instanceof Timestamp || value instanceof DurationValue;
  throw new CelError(hasMethods ? "no such overload" : "no such overload: size");
}

function textTest(
  name: string,
  id: string,
  test: (text: string, part: string) => boolean,
  costs: Costs,
): FunctionDeclaration {
  return {
    name,
    overloads: [{
      id,
      isMember: true,
      parameters: [STRING, STRING],
      result: BOOL,
      call(text, part) {
        if (typeof text !== "string" || typeof part !== "string") throw new CelError("no such overload");
        return test(text, part);
      },
      ...costs,
    }],
    isUnguarded: true,
  };
}

function matches(text?: Value, pattern?: Value): Value {
  if (typeof text !== "string") throw new CelError("no such overload: matches");
  if (typeof pattern !== "string") throw new CelError("no such overload");
  try {
    return regularExpression(pattern).test(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new CelError(error.message) : error;
  }
}
