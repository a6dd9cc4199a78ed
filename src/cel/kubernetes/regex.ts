/** Looking for what matches a pattern (`k8s.io/apiserver/pkg/cel/library/regex.go`). */
import { addRanges, exactly, multiplyRanges, scaleRange, sizeRange } from "../cost.ts";
import type { Library } from "../library.ts";
import { regularExpression } from "../regular_expression.ts";
import { sizeOf } from "../runtime_type.ts";
import { INT, listOf, STRING } from "../type.ts";
import { List, type Value } from "../value.ts";
import { type Costs, PATTERN, TRAVERSAL } from "./_costs.ts";
import { matchesOf } from "./_matches.ts";
import { parsed } from "./_parsing.ts";

const COSTS: Required<Costs> = {
  cost: ([text, pattern]) => Math.ceil((1 + sizeOf(text!)) * TRAVERSAL) * Math.ceil(sizeOf(pattern!) * PATTERN),
  estimate([text, pattern]) {
    // An empty text is looked at too.
    const looking = scaleRange(addRanges(sizeRange(text!), exactly(1)), TRAVERSAL);
    const steps = scaleRange(sizeRange(pattern!), PATTERN);
    return { cost: multiplyRanges(looking, steps), resultSize: { min: 0, max: sizeRange(text!).max } };
  },
};

/** `find` and `findAll`. */
export const REGEX: Library = {
  name: "kubernetes.regex",
  functions: [
    {
      name: "find",
      patternOperand: 1,
      overloads: [{
        id: "string_find_string",
        isMember: true,
        parameters: [STRING, STRING],
        result: STRING,
        call: (text, pattern) => find(text as string, pattern as string, 1)[0] ?? "",
        ...COSTS,
      }],
    },
    {
      name: "findAll",
      patternOperand: 1,
      overloads: [
        {
          id: "string_find_all_string",
          isMember: true,
          parameters: [STRING, STRING],
          result: listOf(STRING),
          call: (text, pattern) => new List(find(text as string, pattern as string, Infinity)),
          ...COSTS,
        },
        {
          id: "string_find_all_string_int",
          isMember: true,
          parameters: [STRING, STRING, INT],
          result: listOf(STRING),
          call: (text, pattern, most) => new List(find(text as string, pattern as string, limitOf(most!))),
          ...COSTS,
        },
      ],
    },
  ],
};

function find(text: string, pattern: string, most: number): string[] {
  const expression = parsed(() => regularExpression(pattern), (fault) => `Illegal regex: ${fault}`);
  return matchesOf(expression, text, most);
}

/** Less than none is all. */
function limitOf(most: Value): number {
  return (most as bigint) < 0n ? Infinity : Number(most);
}
