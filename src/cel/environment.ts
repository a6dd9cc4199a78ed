/** Compiles expressions over declared variables into programs. */
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

/** Thrown if an expression does not compile. */
export class CompileError extends Error {
  override name = "CompileError";

  /**
   * @param message cel-go's messages of the type errors, each with its position, or one message if
   * planning failed.
   * @param stage Where the error was found: `check` while parsing and type checking (an API server
   * prefixes the message with `compilation failed: `), `program` while planning
   * (`program instantiation failed: `).
   */
  constructor(message: string, readonly stage: "check" | "program") {
    super(message);
  }
}

/** Options for {@linkcode createEnvironment}. */
export interface EnvironmentOptions {
  /** The libraries in addition to the language itself. @default the libraries of an API server */
  readonly libraries?: readonly Library[];
  /** The types of the variables, by name. */
  readonly variables: Readonly<Record<string, CelType>>;
}

/** The combined declarations of several libraries. */
export interface Declarations {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly constants: ReadonlyMap<string, Constant>;
  readonly macros: ReadonlyMap<string, Macro>;
  readonly validators: readonly NonNullable<Library["validate"]>[];
}

// Entries cannot become stale, since libraries are not modified.
const declarationsByLibraries = new WeakMap<readonly Library[], Declarations>();

/** Returns the declarations of the language and of libraries. */
export function declarationsOf(libraries: readonly Library[]): Declarations {
  const known = declarationsByLibraries.get(libraries);
  if (known !== undefined) return known;
  const functions = new Map<string, FunctionDeclaration>();
  const constants = new Map<string, Constant>();
  const macros = new Map<string, Macro>();
  for (const library of [STANDARD_LIBRARY, ...libraries]) {
    for (const each of library.functions) functions.set(each.name, mergeDeclarations(functions.get(each.name), each));
    for (const each of library.constants ?? []) constants.set(each.name, each);
    for (const each of library.macros ?? []) macros.set(macroKey(each.name, each.operands, each.isMember), each);
  }
  const validators = [validateLiterals, ...libraries.flatMap(({ validate }) => validate ?? [])];
  const result = { functions, constants, macros, validators };
  declarationsByLibraries.set(libraries, result);
  return result;
}

function mergeDeclarations(before: FunctionDeclaration | undefined, added: FunctionDeclaration): FunctionDeclaration {
  return before === undefined ? added : { ...before, ...added, overloads: [...before.overloads, ...added.overloads] };
}

/** Compiles expressions over declared variables. */
export class Environment {
  readonly #declarations: Declarations;
  readonly #variables: ReadonlyMap<string, CelType>;

  /** Use {@linkcode createEnvironment} instead. */
  constructor(declarations: Declarations, variables: Readonly<Record<string, CelType>>) {
    this.#declarations = declarations;
    this.#variables = new Map(Object.entries(variables));
  }

  /**
   * Compiles an expression.
   *
   * @param text The expression.
   * @throws {CompileError} If it is not a valid expression.
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
