/** Regular expression matches (`k8s.io/apiserver/pkg/cel/library/regex.go`). */
import { sizeRange } from "../cost.ts";
import type { Library } from "../library.ts";
import { regularExpression } from "../regular_expression.ts";
import { type Costs, MATCHING } from "../traversal.ts";
import { INT, listOf, STRING } from "../type.ts";
import { List, type Value } from "../value.ts";
import { matchesOf } from "./_matches.ts";
import { parseOperand } from "./_parsing.ts";

const { cost } = MATCHING;
const estimate: Costs["estimate"] = ([text, pattern]) => ({
  ...MATCHING.estimate([text!, pattern!]),
  resultSize: { min: 0, max: sizeRange(text!).max },
});

/** The library: `find` and `findAll`. */
export const REGEX: Library = {
  name: "kubernetes.regex",
  functions: [
    {
      name: "find",
      patternOperand: 1,
      cost,
      overloads: [{
        id: "string_find_string",
        isMember: true,
        parameters: [STRING, STRING],
        result: STRING,
        call: (text, pattern) => find(text as string, pattern as string, 1)[0] ?? "",
        estimate,
      }],
    },
    {
      name: "findAll",
      patternOperand: 1,
      cost,
      overloads: [
        {
          id: "string_find_all_string",
          isMember: true,
          parameters: [STRING, STRING],
          result: listOf(STRING),
          call: (text, pattern) => new List(find(text as string, pattern as string, Infinity)),
          estimate,
        },
        {
          id: "string_find_all_string_int",
          isMember: true,
          parameters: [STRING, STRING, INT],
          result: listOf(STRING),
          call: (text, pattern, limit) => new List(find(text as string, pattern as string, limitOf(limit!))),
          estimate,
        },
      ],
    },
  ],
};

function find(text: string, pattern: string, limit: number): string[] {
  const expression = parseOperand(() => regularExpression(pattern), (error) => `Illegal regex: ${error}`);
  return matchesOf(expression, text, limit);
}

/** A negative limit means no limit. */
function limitOf(limit: Value): number {
  return (limit as bigint) < 0n ? Infinity : Number(limit);
}
