/**
 * Match conditions of webhooks: CEL expressions that select requests
 * (`.../webhook/matchconditions`).
 */
import { CompileError, createEnvironment, DYN, EntryMap, List, type Program, type Value } from "../../cel/mod.ts";
import { CelError } from "../../cel/value.ts";
import { AUTHORIZER, LIBRARIES, RESOURCE_CHECK } from "./authorizer.ts";
import type { Webhook } from "./webhook.ts";

// CEL cost limit of `k8s.io/apiserver/pkg/apis/cel`: a quarter of that of validation rules.
const COST_LIMIT = 2_500_000;

/** Variables of conditions, as JSON. */
export interface ConditionInput {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
  /** Values of `authorizer` and `authorizer.requestResource`. */
  readonly authorizer: Value;
  readonly requestResource: Value;
}

/**
 * Compiled expressions. Entries cannot become stale, since a program depends only on its
 * expression.
 */
const programs = new Map<string, Program>();
// Bounds the memory of a process that runs many tests with different expressions.
const MAX_PROGRAMS = 1000;

/**
 * Compiles a condition.
 *
 * @throws {CompileError} If the expression is invalid.
 */
export function compileCondition(expression: string): Program {
  const known = programs.get(expression);
  if (known !== undefined) return known;
  const variables = {
    object: DYN,
    oldObject: DYN,
    request: DYN,
    authorizer: AUTHORIZER,
    "authorizer.requestResource": RESOURCE_CHECK,
  };
  const program = createEnvironment({ variables, libraries: LIBRARIES }).compile(expression);
  if (programs.size >= MAX_PROGRAMS) programs.clear();
  programs.set(expression, program);
  return program;
}

/**
 * Returns whether a request meets all match conditions of a webhook.
 *
 * @returns The result; or an error message if a condition fails and the failure policy is Fail.
 */
export function meetsConditions(
  { matchConditions = [], failurePolicy }: Webhook,
  input: ConditionInput,
): boolean | string {
  if (matchConditions.length === 0) return true;
  const variables = {
    object: toDynamicValue(input.object ?? null),
    oldObject: toDynamicValue(input.oldObject ?? null),
    request: toDynamicValue(input.request),
    authorizer: input.authorizer,
    "authorizer.requestResource": input.requestResource,
  };
  const errors: string[] = [];
  let budget = COST_LIMIT;
  for (const { expression } of matchConditions) {
    try {
      const { value, cost } = compileCondition(expression.trim()).evaluate(variables, { costLimit: budget });
      budget -= cost;
      if (value === false) return false;
    } catch (error) {
      if (!(error instanceof CelError) && !(error instanceof CompileError)) throw error;
      errors.push(`expression '${expression}' resulted in error: ${error.message}`);
    }
  }
  if (errors.length === 0) return true;
  if (failurePolicy === "Ignore") return false;
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? distinct[0] ?? "" : `[${distinct.join(", ")}]`;
}

/** Converts JSON to a CEL value of dynamic type. */
function toDynamicValue(value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return new List(value.map(toDynamicValue));
  return new EntryMap(
    Object.entries(value as object).map(([key, field]): [Value, Value] => [key, toDynamicValue(field)]),
  );
}
