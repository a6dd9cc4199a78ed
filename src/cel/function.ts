/** Declarations of functions and of the cost of their calls. */
import type { Range } from "./cost.ts";
import type { Outcome } from "./outcome.ts";
import type { CelType } from "./type.ts";
import type { Value } from "./value.ts";

/** A function with all its overloads. */
export interface FunctionDeclaration {
  /** The name, such as `matches` or `sets.contains`. */
  readonly name: string;
  readonly overloads: readonly Overload[];
  /**
   * One implementation for all overloads, such as that of an operator. It checks the types of its
   * operands itself.
   */
  readonly call?: (...values: Value[]) => Value;
  /**
   * The cost of a call of any overload. Kubernetes defines the costs of its own functions by
   * function, so they apply even if no overload was found.
   */
  readonly cost?: CallCost;
  /**
   * The index of the operand that is a pattern; the receiver has index 0. A literal pattern is
   * compiled at plan time.
   */
  readonly patternOperand?: number;
  /**
   * Whether the second of two operands is not evaluated if the first one fails. With more operands,
   * a failure always ends the evaluation.
   */
  readonly stopsEarly?: boolean;
  /** Whether types are not checked again at run time if the checker found the overload. */
  readonly isUnguarded?: boolean;
}

/**
 * Returns the cost of a completed call in cel-go's units. Operands and result may be failures.
 *
 * @param overload The id of the overload, if the checker found it.
 */
export type CallCost = (values: readonly Outcome[], result: Outcome, overload?: string) => number;

/** One signature of a function. */
export interface Overload {
  /** cel-go's id, such as `string_matches`. Cost tables and messages use it. */
  readonly id: string;
  /** Whether it is called on its first parameter: `text.matches(pattern)`. */
  readonly isMember: boolean;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  /**
   * Evaluates the call. The checker has verified the types, or the dispatcher for `dyn` operands.
   *
   * @throws {CelError} If there is no result.
   */
  call(...values: Value[]): Value;
  /**
   * The cost of a completed call if the checker found this overload (cel-go,
   * interpreter/runtimecost.go). @default the function's cost, or 1
   */
  readonly cost?: CallCost;
  /** Estimates the cost of a call. @default 1 (cel-go, checker/cost.go) */
  estimate?(nodes: readonly SizedNode[]): CallEstimate;
}

/** An operand of a call at estimation time. The receiver is the first operand. */
export interface SizedNode {
  readonly type: CelType;
  /** The length of a string or the number of items of a list; `undefined` if unknown. */
  readonly size: Range | undefined;
  /** The value of a literal. */
  readonly literal: Value | undefined;
  /**
   * The items of a list or the keys of a map, by type and by the bounds of the schema; `undefined`
   * for other types.
   */
  readonly items: SizedNode | undefined;
}

/** The estimated cost of a call and the size of its result. */
export interface CallEstimate {
  readonly cost: Range;
  readonly resultSize?: Range;
}
