/** `matchConditions` of webhooks: expressions that say for which requests one is asked (`.../webhook/matchconditions`). */
import { CompileError, createEnvironment, DYN, EntryMap, List, type Program, type Value } from "../../cel/mod.ts";
import { CelError } from "../../cel/value.ts";
import { AUTHORIZER, LIBRARIES, RESOURCE_CHECK } from "./authorizer.ts";
import type { Webhook } from "./webhook.ts";

// k8s.io/apiserver/pkg/apis/cel: a quarter of what validations may cost.
const BUDGET = 2_500_000;

/** What conditions are evaluated over: JSON. */
export interface ConditionInput {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
  /** What `authorizer` stands for, and `authorizer.requestResource`. */
  readonly authorizer: Value;
  readonly requestResource: Value;
}

const programs = new Map<string, Program>();
// Expressions come and go with the tests of one process.
const MOST_PROGRAMS = 1000;

/**
 * Compiles a condition.
 *
 * @throws {CompileError} If it is none.
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
  if (programs.size >= MOST_PROGRAMS) programs.clear();
  programs.set(expression, program);
  return program;
}

/**
 * Whether all conditions of a webhook hold.
 *
 * @returns Whether they do; or what is wrong with them, where the webhook's failure policy is to refuse.
 */
export function holds({ matchConditions = [], failurePolicy }: Webhook, input: ConditionInput): boolean | string {
  if (matchConditions.length === 0) return true;
  const variables = {
    object: dynamic(input.object ?? null),
    oldObject: dynamic(input.oldObject ?? null),
    request: dynamic(input.request),
    authorizer: input.authorizer,
    "authorizer.requestResource": input.requestResource,
  };
  const faults: string[] = [];
  let budget = BUDGET;
  for (const { expression } of matchConditions) {
    try {
      const { value, cost } = compileCondition(expression.trim()).evaluate(variables, { costLimit: budget });
      budget -= cost;
      if (value === false) return false;
    } catch (error) {
      if (!(error instanceof CelError) && !(error instanceof CompileError)) throw error;
      faults.push(`expression '${expression}' resulted in error: ${error.message}`);
    }
  }
  if (faults.length === 0) return true;
  if (failurePolicy === "Ignore") return false;
  const distinct = [...new Set(faults)];
  return distinct.length === 1 ? distinct[0] ?? "" : `[${distinct.join(", ")}]`;
}

/** JSON as a value of no declared type. */
function dynamic(value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return new List(value.map(dynamic));
  return new EntryMap(Object.entries(value as object).map(([key, field]): [Value, Value] => [key, dynamic(field)]));
}
