/** Libraries: the building blocks of an environment. The language itself is one of them. */
import type { FunctionDeclaration } from "./function.ts";
import type { Macro } from "./macro.ts";
import type { Issues } from "./source.ts";
import type { Expression } from "./syntax_tree.ts";
import type { CelType } from "./type.ts";
import type { Value } from "./value.ts";

/** A set of functions, constants and macros. */
export interface Library {
  readonly name: string;
  readonly functions: readonly FunctionDeclaration[];
  /** Names that stand for values, such as types. */
  readonly constants?: readonly Constant[];
  /** Calls that the parser rewrites. */
  readonly macros?: readonly Macro[];
  /** Validates an expression after type checking, and adds the errors to the issues. */
  readonly validate?: (root: Expression, issues: Issues) => void;
}

/** A name that stands for a value. */
export interface Constant {
  readonly name: string;
  readonly type: CelType;
  readonly value: Value;
}
