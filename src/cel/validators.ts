/** Validates literals after type checking (cel-go, cel/validator.go). */
import type { Issues } from "./source.ts";
import { childrenOf, type Expression } from "./syntax_tree.ts";
import { parseDuration, parseTimestamp } from "./time.ts";
import { regularExpression } from "./regular_expression.ts";
import { formatType, isEquivalentType } from "./type.ts";
import { FIRST_SECOND, LAST_SECOND } from "./time.ts";
import type { Value } from "./value.ts";

/**
 * Reports invalid literals of patterns, timestamps and durations, and aggregates of literals of
 * mixed types.
 */
export function validateLiterals(root: Expression, issues: Issues): void {
  validateAggregates(root, issues, false);
  validateOperands(root, issues);
}

const TESTS: { readonly [name: string]: (value: Value) => boolean } = {
  duration: (value) => typeof value === "string" && parseDuration(value) !== undefined,
  timestamp: isTimestamp,
  matches: (value) => typeof value === "string" && isPattern(value),
};

function validateOperands(node: Expression, issues: Issues): void {
  if (node.kind === "call") {
    const operand = node.operands[0];
    const test = TESTS[node.name];
    if (test !== undefined && operand?.kind === "literal" && !test(operand.value)) {
      issues.add(operand.offset, `invalid ${node.name} argument`);
    }
  }
  for (const child of childrenOf(node)) validateOperands(child, issues);
}

function isTimestamp(value: Value): boolean {
  const seconds = typeof value === "bigint" ? value : parseTimestamp(value as string)?.seconds;
  return seconds !== undefined && seconds >= FIRST_SECOND && seconds <= LAST_SECOND;
}

function isPattern(text: string): boolean {
  try {
    regularExpression(text);
    return true;
  } catch {
    return false;
  }
}

/** @param isExempt Whether the node is an operand of `format`, which accepts mixed types. */
function validateAggregates(node: Expression, issues: Issues, isExempt: boolean): void {
  if (!isExempt && node.kind === "list") {
    const items = node.items.map((item, i) => ({
      item,
      type: node.optionals.includes(i) ? typeInOptional(item) : item.type,
    }));
    const other = items.find(({ type }) => !isEquivalentType(items[0]!.type, type));
    if (other !== undefined) mismatch(issues, other.item, items[0]!.type, other.type);
  }
  if (!isExempt && node.kind === "map") {
    const entries = node.entries.map((entry) => ({
      ...entry,
      type: entry.isOptional ? typeInOptional(entry.value) : entry.value.type,
    }));
    const [first, ...others] = entries;
    for (const { key, value, type } of others) {
      if (!isEquivalentType(first!.key.type, key.type)) mismatch(issues, key, first!.key.type, key.type);
      if (!isEquivalentType(first!.type, type)) mismatch(issues, value, first!.type, type);
    }
  }
  const isFormatted = isExempt || (node.kind === "call" && node.name === "format");
  for (const child of childrenOf(node)) validateAggregates(child, issues, isFormatted);
}

function typeInOptional(node: Expression) {
  return node.type.kind === "optional" ? node.type.of : node.type;
}

function mismatch(
  issues: Issues,
  node: Expression,
  wanted: Parameters<typeof formatType>[0],
  found: Parameters<typeof formatType>[0],
) {
  issues.add(node.offset, `expected type '${formatType(wanted)}' but found '${formatType(found)}'`);
}
