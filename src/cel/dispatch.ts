/** Which overload a call means, where the values tell (cel-go, common/decls/decls.go). */
import type { Callee } from "./call.ts";
import type { FunctionDeclaration, Overload } from "./library.ts";
import { attempt, Failure } from "./outcome.ts";
import { hasType, typeOfValue } from "./runtime_type.ts";
import type { Call } from "./syntax_tree.ts";
import { type CelType, partsOf, typeName } from "./type.ts";
import type { Value } from "./value.ts";

/** What a call does. The checker has narrowed down the overloads; what it left open is decided by the values. */
export function calleeOf(node: Call, declared: FunctionDeclaration): Callee {
  const [overload, ...others] = node.overloads;
  const isKnown = overload !== undefined && others.length === 0;
  const cost = isKnown ? costOf(overload) : dispatchedCost(declared);
  if (declared.call !== undefined) {
    const { call } = declared;
    return { cost, call: (values) => attempt(() => call(...values)) };
  }
  if (!isKnown) return { cost, call: (values) => callMatching(declared, values) };
  const operands = node.target === undefined ? node.operands : [node.target, ...node.operands];
  const isSafe = declared.isUnguarded || !operands.some((operand) => isOpen(operand.type));
  return {
    cost,
    call(values) {
      if (isSafe || matches(overload, values)) return attempt(() => overload.call(...values));
      return noSuchOverload(declared, values);
    },
  };
}

function costOf(overload: Overload): Callee["cost"] {
  return overload.cost === undefined ? () => 1 : (values, result) => overload.cost!(values, result);
}

function dispatchedCost(declared: FunctionDeclaration): Callee["cost"] {
  if (declared.isCheapWhenDispatched) return () => 1;
  return (values, result) => declared.overloads.find((each) => matches(each, values))?.cost?.(values, result) ?? 1;
}

function callMatching(declared: FunctionDeclaration, values: readonly Value[]) {
  const overload = declared.overloads.find((each) => matches(each, values));
  return overload === undefined ? noSuchOverload(declared, values) : attempt(() => overload.call(...values));
}

function matches(overload: Overload, values: readonly Value[]): boolean {
  return values.length === overload.parameters.length &&
    values.every((value, i) => hasType(value, overload.parameters[i]!));
}

function noSuchOverload({ name }: FunctionDeclaration, values: readonly Value[]): Failure {
  return new Failure(`no such overload: ${name}(${values.map((value) => typeName(typeOfValue(value))).join(", ")})`);
}

/** Whether the checker let through what only the values can tell. */
function isOpen(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "parameter" || partsOf(type).some(isOpen);
}
