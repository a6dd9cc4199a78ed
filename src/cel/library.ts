/** What an environment is made of: the language itself is a library, too. */
import type { FunctionDeclaration } from "./function.ts";
import type { Macro } from "./macro.ts";
import type { Issues } from "./source.ts";
import type { Expression } from "./syntax_tree.ts";
import type { CelType } from "./type.ts";
import type { Value } from "./value.ts";

/** Functions, and constants that stand for types, under one name. */
export interface Library {
  readonly name: string;
  readonly functions: readonly FunctionDeclaration[];
  /** Names that stand for values, such as types. */
  readonly constants?: readonly Constant[];
  /** What is rewritten when an expression is parsed. */
  readonly macros?: readonly Macro[];
  /** Looks at an expression whose types are right, and notes what else is wrong. */
  readonly validate?: (root: Expression, issues: Issues) => void;
}

/** A name that stands for a value. */
export interface Constant {
  readonly name: string;
  readonly type: CelType;
  readonly value: Value;
}
