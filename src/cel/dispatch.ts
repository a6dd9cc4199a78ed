/** Chooses the overload of a call by the values of its operands (cel-go, common/decls/decls.go). */
import type { Callee } from "./call.ts";
import type { FunctionDeclaration, Overload } from "./function.ts";
import { attempt, Failure } from "./outcome.ts";
import { hasType, typeOfValue } from "./runtime_type.ts";
import type { Call } from "./syntax_tree.ts";
import { type CelType, partsOf, typeName } from "./type.ts";
import type { Value } from "./value.ts";

/**
 * Returns the implementation of a call. The checker has narrowed down the overloads; the values
 * decide between the remaining ones.
 */
export function calleeOf(node: Call, declared: FunctionDeclaration): Callee {
  const [overload, ...others] = node.overloads;
  const isKnown = overload !== undefined && others.length === 0;
  const cost = costOf(node, declared);
  if (declared.call !== undefined) {
    const { call } = declared;
    return { cost, call: (values) => attempt(() => call(...values)) };
  }
  if (!isKnown) return { cost, call: (values) => callMatching(declared, values) };
  const operands = node.target === undefined ? node.operands : [node.target, ...node.operands];
  const isSafe = declared.isUnguarded || !operands.some((operand) => needsRuntimeCheck(operand.type));
  return {
    cost,
    call(values) {
      if (isSafe || matches(overload, values)) return attempt(() => overload.call(...values));
      return noSuchOverload(declared, values);
    },
  };
}

/**
 * Returns the implementation of a call whose pattern was compiled at plan time. Its error messages
 * do not contain operand types.
 */
export function compiledCalleeOf(node: Call, declared: FunctionDeclaration): Callee {
  return {
    cost: costOf(node, declared),
    call(values) {
      const overload = matchingOverload(declared, values);
      return overload === undefined ? new Failure("no such overload") : attempt(() => overload.call(...values));
    },
  };
}

/** cel-go knows costs by overload, and charges 1 if only the values decide which one is used. */
function costOf({ overloads }: Call, declared: FunctionDeclaration): Callee["cost"] {
  const overload = overloads.length === 1 ? overloads[0] : undefined;
  const cost = overload?.cost ?? declared.cost;
  return cost === undefined ? () => 1 : (values, result) => cost(values, result, overload?.id);
}

function callMatching(declared: FunctionDeclaration, values: readonly Value[]) {
  const overload = matchingOverload(declared, values);
  return overload === undefined ? noSuchOverload(declared, values) : attempt(() => overload.call(...values));
}

function matchingOverload(declared: FunctionDeclaration, values: readonly Value[]): Overload | undefined {
  return declared.overloads.find((each) => matches(each, values));
}

function matches(overload: Overload, values: readonly Value[]): boolean {
  return values.length === overload.parameters.length &&
    values.every((value, i) => hasType(value, overload.parameters[i]!));
}

function noSuchOverload({ name }: FunctionDeclaration, values: readonly Value[]): Failure {
  return new Failure(`no such overload: ${name}(${values.map((value) => typeName(typeOfValue(value))).join(", ")})`);
}

/** Returns whether values of a type must be checked at run time. */
function needsRuntimeCheck(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "parameter" || partsOf(type).some(needsRuntimeCheck);
}
