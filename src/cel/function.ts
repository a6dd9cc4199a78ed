/** How functions are declared, and what their calls cost. */
import type { Range } from "./cost.ts";
import type { Outcome } from "./outcome.ts";
import type { CelType } from "./type.ts";
import type { Value } from "./value.ts";

/** A function: all that is called by one name. */
export interface FunctionDeclaration {
  /** Such as `matches` or `sets.contains`. */
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** One implementation for all overloads, as operators have it: it looks at the values itself, also where all types are known. */
  readonly call?: (...values: Value[]) => Value;
  /** What a call that was made cost where it goes by the name of the function: so Kubernetes counts its own, whether an overload was found or not. */
  readonly cost?: CallCost;
  /** Which operand is a pattern, what it is called on counted as the first: where it is a literal, it must be one when the program is made. */
  readonly patternOperand?: number;
  /** Of two operands the second is not worked out where the first one fails, as always with more than two. */
  readonly stopsEarly?: boolean;
  /** Types are not looked at again at run time where the checker knew the overload. */
  readonly isUnguarded?: boolean;
}

/**
 * What a call that was made cost, in cel-go's units. An operand or a result may have failed.
 *
 * @param overload The overload's id, where the checker knew it.
 */
export type CallCost = (values: readonly Outcome[], result: Outcome, overload?: string) => number;

/** One way to call a function. */
export interface Overload {
  /** cel-go's name of it, such as `string_matches`: cost tables and messages use it. */
  readonly id: string;
  /** Whether it is called on its first parameter: `text.matches(pattern)`. */
  readonly isMember: boolean;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  /**
   * The call itself. The checker has seen to the types, or the dispatcher where they were `dyn`.
   *
   * @throws {CelError} If there is no result.
   */
  call(...values: Value[]): Value;
  /** What a call that was made cost where the checker knew that it means this overload (cel-go, interpreter/runtimecost.go). @default the function's, or 1 */
  readonly cost?: CallCost;
  /** What a call may cost before it is made, where that is not 1 (cel-go, checker/cost.go). */
  estimate?(nodes: readonly SizedNode[]): CallEstimate;
}

/** An argument of a call that has not been made yet; the first one of a member is what it is called on. */
export interface SizedNode {
  readonly type: CelType;
  /** How long a string, how many items a list may be; undefined where nothing is known. */
  readonly size: Range | undefined;
  /** The value where it is a literal. */
  readonly literal: Value | undefined;
  /** What a list holds (of a map: the keys), by its type and by what is known of its schema; undefined where the type has no parts. */
  readonly items: SizedNode | undefined;
}

/** What a call may cost, and how large its result may be. */
export interface CallEstimate {
  readonly cost: Range;
  readonly resultSize?: Range;
}
