/** What expressions may use, and the way from their text to a program. */
import { check } from "./checker.ts";
import type { FunctionDeclaration } from "./function.ts";
import type { Constant, Library } from "./library.ts";
import type { Macro } from "./macro.ts";
import { macroKey, parse } from "./parser.ts";
import { plan, PlanError } from "./plan.ts";
import { Program } from "./program.ts";
import { Issues } from "./source.ts";
import { STANDARD_LIBRARY } from "./standard/mod.ts";
import type { CelType } from "./type.ts";
import { validateLiterals } from "./validators.ts";

/** An expression does not compile. */
export class CompileError extends Error {
  override name = "CompileError";

  /**
   * @param message What cel-go tells: each mistake with its place, or one sentence where the program cannot be made.
   * @param stage Where it was found: `check` in the text (an API server puts `compilation failed: ` before the message), `program` in what is known before
   * there are values (`program instantiation failed: `).
   */
  constructor(message: string, readonly stage: "check" | "program") {
    super(message);
  }
}

/** Options for {@linkcode createEnvironment}. */
export interface EnvironmentOptions {
  /** What there is besides the language itself. @default what an API server has */
  readonly libraries?: readonly Library[];
  /** The types of the variables, by name. */
  readonly variables: Readonly<Record<string, CelType>>;
}

/** What libraries come to together. */
export interface Declarations {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly constants: ReadonlyMap<string, Constant>;
  readonly macros: ReadonlyMap<string, Macro>;
  readonly validators: readonly NonNullable<Library["validate"]>[];
}

// Libraries do not change: lists of them that are the same have the same declarations.
const declared = new WeakMap<readonly Library[], Declarations>();

/** What libraries have, and the language. */
export function declarationsOf(libraries: readonly Library[]): Declarations {
  const known = declared.get(libraries);
  if (known !== undefined) return known;
  const functions = new Map<string, FunctionDeclaration>();
  const constants = new Map<string, Constant>();
  const macros = new Map<string, Macro>();
  for (const library of [STANDARD_LIBRARY, ...libraries]) {
    for (const each of library.functions) functions.set(each.name, merged(functions.get(each.name), each));
    for (const each of library.constants ?? []) constants.set(each.name, each);
    for (const each of library.macros ?? []) macros.set(macroKey(each.name, each.operands, each.isMember), each);
  }
  const validators = [validateLiterals, ...libraries.flatMap(({ validate }) => validate ?? [])];
  const made = { functions, constants, macros, validators };
  declared.set(libraries, made);
  return made;
}

function merged(before: FunctionDeclaration | undefined, added: FunctionDeclaration): FunctionDeclaration {
  return before === undefined ? added : { ...before, ...added, overloads: [...before.overloads, ...added.overloads] };
}

/** Compiles expressions over some variables. */
export class Environment {
  readonly #declarations: Declarations;
  readonly #variables: ReadonlyMap<string, CelType>;

  /** Made by {@linkcode createEnvironment}. */
  constructor(declarations: Declarations, variables: Readonly<Record<string, CelType>>) {
    this.#declarations = declarations;
    this.#variables = new Map(Object.entries(variables));
  }

  /**
   * A program of an expression.
   *
   * @param text The expression.
   * @throws {CompileError} If it is none.
   */
  compile(text: string): Program {
    const issues = new Issues(text);
    const { functions, constants, macros } = this.#declarations;
    const parsed = parse(text, macros, issues);
    if (parsed !== undefined) check(parsed.root, { functions, constants, variables: this.#variables }, issues);
    if (parsed !== undefined && issues.size === 0) {
      for (const validate of this.#declarations.validators) validate(parsed.root, issues);
    }
    if (parsed === undefined || issues.size > 0) throw new CompileError(issues.toString(), "check");
    try {
      return new Program(parsed.root, plan(parsed.root, functions), parsed.ids);
    } catch (error) {
      throw error instanceof PlanError ? new CompileError(error.message, "program") : error;
    }
  }
}
