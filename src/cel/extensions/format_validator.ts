/**
 * Checks literal operands of `format` against a literal format string (cel-go, ext/formatting.go,
 * `stringFormatValidator`).
 */
import type { Issues } from "../source.ts";
import { childrenOf, type Expression, type ListLiteral } from "../syntax_tree.ts";
import { typeName } from "../type.ts";
import { CelError } from "../value.ts";
import { WRONG_TYPE_MESSAGES } from "./format.ts";
import { expandClauses, type Verb } from "./format_clauses.ts";

/** Reports calls of `format` whose values do not match their verbs. */
export function validateFormats(node: Expression, issues: Issues): void {
  if (node.kind === "call" && node.name === "format" && node.target?.kind === "literal") {
    const [values, ...others] = node.operands;
    const text = node.target.value;
    if (values?.kind === "list" && others.length === 0 && typeof text === "string") {
      validate(text, values, node.offset, issues);
    }
  }
  for (const child of childrenOf(node)) validateFormats(child, issues);
}

class OperandError extends CelError {
  override name = "OperandError";
  constructor(message: string, readonly offset: number) {
    super(message);
  }
}

function validate(text: string, values: ListLiteral, offset: number, issues: Issues): void {
  const { items } = values;
  let used = 0;
  try {
    expandClauses(text, items.length, (index, { verb }) => {
      const invalid = invalidOperand(items[index]!, verb);
      if (invalid === undefined) return "";
      throw new OperandError(
        `error during formatting: ${WRONG_TYPE_MESSAGES[verb]}, was given ${typeName(invalid.type)}`,
        invalid.offset,
      );
    }, () => used++);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    issues.add(error instanceof OperandError ? error.offset : offset, error.message);
    return;
  }
  if (items.length > used) {
    issues.add(offset, `too many arguments supplied to string.format (expected ${used}, got ${items.length})`);
  }
}

const ACCEPTED_TYPES: { readonly [verb in Verb]: readonly string[] } = {
  s: ["list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"],
  d: ["int", "uint"],
  f: ["double", "string"],
  e: ["double", "string"],
  b: ["int", "uint", "bool"],
  x: ["int", "uint", "string", "bytes"],
  X: ["int", "uint", "string", "bytes"],
  o: ["int", "uint"],
};

/**
 * Returns the part that a verb does not accept: the operand, or an entry of a literal list or map.
 */
function invalidOperand(node: Expression, verb: Verb): Expression | undefined {
  const { kind } = node.type;
  if (kind !== "dyn" && !ACCEPTED_TYPES[verb].includes(kind)) return node;
  if (verb !== "s" || (node.kind !== "list" && node.kind !== "map")) return undefined;
  for (const child of childrenOf(node)) {
    const invalid = invalidOperand(child, verb);
    if (invalid !== undefined) return invalid;
  }
  return undefined;
}
