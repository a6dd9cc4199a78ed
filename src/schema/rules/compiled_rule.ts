/** CEL rules, compiled (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel`, compilation.go). */
import { CompileError, createEnvironment, type Environment } from "../../cel/mod.ts";
import type { Program } from "../../cel/program.ts";
import { optionalOf } from "../../cel/type.ts";
import { fieldTarget } from "../field_path.ts";
import type { JsonSchema, ValidationRule } from "../json_schema.ts";
import { celType, type DeclaredType, LARGEST_REQUEST, mostElements } from "./declared_type.ts";

/** A rule, ready to be evaluated, or why it is not. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent where there is an error, and where the rule is empty. */
  readonly program?: Program;
  /** What is wrong with the rule, in the words of an API server. */
  readonly error?: string;
  /** Whether it looks at what was there before. */
  readonly usesOldSelf: boolean;
  /** The most that one evaluation may cost. */
  readonly cost: number;
  readonly message?: CompiledMessage;
  /** Where its fault stands below the value, such as `replicas`. */
  readonly field?: string;
}

/** A `messageExpression`. */
export interface CompiledMessage {
  readonly program?: Program;
  readonly error?: string;
  readonly cost: number;
}

/**
 * Compiles the rules of one node of a schema.
 *
 * @param schema The node.
 * @param type What it declares.
 */
export function compileRules(schema: JsonSchema, type: DeclaredType): readonly CompiledRule[] {
  const rules = schema["x-kubernetes-validations"] ?? [];
  const compiler = new Compiler(schema, type);
  return rules.map((rule) => compiler.compile(rule));
}

/**
 * How often a value of a type may be in one request, where nothing else bounds it.
 *
 * @param type The type.
 */
export function mostValues(type: DeclaredType): number {
  // Between two values there is a comma.
  return Math.trunc(LARGEST_REQUEST / (type.leastBytes + 1));
}

class Compiler {
  readonly #schema: JsonSchema;
  readonly #type: DeclaredType;
  #plain: Environment | undefined;
  #optional: Environment | undefined;

  constructor(schema: JsonSchema, type: DeclaredType) {
    this.#schema = schema;
    this.#type = type;
  }

  /** Most rules need one of the two, so each is made when asked for. */
  #environment({ optionalOldSelf }: ValidationRule): Environment {
    const self = celType(this.#type, "selfType");
    if (optionalOldSelf) {
      return this.#optional ??= createEnvironment({ variables: { self, oldSelf: optionalOf(self) } });
    }
    return this.#plain ??= createEnvironment({ variables: { self, oldSelf: self } });
  }

  compile(rule: ValidationRule): CompiledRule {
    const nothing = { rule, usesOldSelf: false, cost: 0 };
    if (rule.rule.trim() === "") return nothing;
    const environment = this.#environment(rule);
    const program = compiled(environment, rule.rule, "");
    if (typeof program === "string") return { ...nothing, error: program };
    if (program.type.kind !== "bool") return { ...nothing, error: "cel expression must evaluate to a bool" };
    const { messageExpression = "", fieldPath = "" } = rule;
    const message = messageExpression === "" ? undefined : this.#message(environment, messageExpression);
    const field = fieldPath === "" || message?.error !== undefined ? undefined : this.#field(fieldPath);
    return {
      rule,
      program,
      usesOldSelf: program.usesVariable("oldSelf"),
      cost: this.#cost(program),
      ...(message && { message }),
      ...(field && { field }),
    };
  }

  #message(environment: Environment, text: string): CompiledMessage {
    const program = compiled(environment, text, "messageExpression ");
    if (typeof program === "string") return { error: program, cost: 0 };
    if (program.type.kind !== "string") return { error: "messageExpression must evaluate to a string", cost: 0 };
    return { program, cost: this.#cost(program) };
  }

  #cost(program: Program): number {
    // Whatever a path begins with is taken for the value itself: so the server does it.
    const sizeOf = ([, ...path]: readonly string[]) => {
      const max = mostElements(this.#type, path);
      return max === undefined ? undefined : { min: 0, max };
    };
    return program.estimateCost({ sizeOf }).max;
  }

  #field(path: string): string | undefined {
    try {
      return fieldTarget(path, this.#schema).field;
    } catch {
      return undefined;
    }
  }
}

function compiled(environment: Environment, text: string, what: string): Program | string {
  try {
    return environment.compile(text);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return `${what}${error.stage === "check" ? "compilation failed" : instantiation(what)}: ${error.message}`;
  }
}

function instantiation(what: string): string {
  return what === "" ? "program instantiation failed" : "instantiation failed";
}
