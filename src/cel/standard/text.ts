/** Functions of text, and `size` (cel-go, common/stdlib/standard.go). */
import { addRanges, exactly, multiplyRanges, scaleRange, sizeRange } from "../cost.ts";
import type { CallEstimate, FunctionDeclaration, Overload, SizedNode } from "../library.ts";
import { regularExpression } from "../regular_expression.ts";
import { sizeOf } from "../runtime_type.ts";
import { BOOL, BYTES, type CelType, INT, listOf, mapOf, parameter, STRING } from "../type.ts";
import { CelError, DurationValue, List, MapValue, ObjectValue, Timestamp, type Value } from "../value.ts";

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
    isCheapWhenDispatched: true,
  },
  textTest("contains", "contains_string", (text, part) => text.includes(part), {
    cost: ([text, part]) => Math.ceil(sizeOf(text!) * 0.1) * Math.ceil(sizeOf(part!) * 0.1),
    estimate: ([text, part]) => ({
      cost: multiplyRanges(scaleRange(sizeRange(text!), 0.1), scaleRange(sizeRange(part!), 0.1)),
    }),
  }),
  // cel-go estimates by the end that is asked for, and charges for the whole text.
  textTest("endsWith", "ends_with_string", (text, part) => text.endsWith(part), {
    cost: ([text]) => Math.ceil(sizeOf(text!) * 0.1),
    estimate: ([, part]) => ({ cost: scaleRange(sizeRange(part!), 0.1) }),
  }),
  textTest("startsWith", "starts_with_string", (text, part) => text.startsWith(part), {
    cost: ([text]) => Math.ceil(sizeOf(text!) * 0.1),
    estimate: ([, part]) => ({ cost: scaleRange(sizeRange(part!), 0.1) }),
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
        cost: ([text, pattern]) => Math.ceil((1 + sizeOf(text!)) * 0.1) * Math.ceil(sizeOf(pattern!) * 0.25),
        estimate: matchEstimate,
      },
    ],
    call: matches,
    patternOperand: 1,
    isCheapWhenDispatched: true,
  },
];

function sizes(type: CelType, name: string): readonly Overload[] {
  const shape = { parameters: [type], result: INT, call: size };
  return [{ ...shape, id: `size_${name}`, isMember: false }, { ...shape, id: `${name}_size`, isMember: true }];
}

function size(value?: Value): Value {
  const isSized = typeof value === "string" || value instanceof List || value instanceof MapValue ||
    value instanceof ObjectValue || value instanceof Uint8Array;
  if (isSized) return BigInt(sizeOf(value));
  // cel-go asks times for the function first, which do not tell its name then.
  const isAsked = value instanceof Timestamp || value instanceof DurationValue;
  throw new CelError(isAsked ? "no such overload" : "no such overload: size");
}

function textTest(
  name: string,
  id: string,
  test: (text: string, part: string) => boolean,
  costs: Required<Pick<Overload, "cost" | "estimate">>,
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
    isCheapWhenDispatched: true,
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

function matchEstimate([text, pattern]: readonly SizedNode[]): CallEstimate {
  // An empty text must not make a dear pattern free.
  const ofText = scaleRange(addRanges(sizeRange(text!), exactly(1)), 0.1);
  return { cost: multiplyRanges(ofText, scaleRange(sizeRange(pattern!), 0.25)) };
}
