/**
 * Compiled CEL rules (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel`, compilation.go).
 */
import { CompileError, createEnvironment, type Environment } from "../../cel/mod.ts";
import type { Program } from "../../cel/program.ts";
import { optionalOf } from "../../cel/type.ts";
import { fieldTarget } from "../field_path.ts";
import type { JsonSchema, ValidationRule } from "../json_schema.ts";
import { celType, type DeclaredType, LARGEST_REQUEST, maxElements } from "./declared_type.ts";

/** A compiled rule, or its compile error. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent if there is an error, or the rule is empty. */
  readonly program?: Program;
  /** The compile error, in the words of an API server. */
  readonly error?: string;
  /** Whether the rule uses the old value. */
  readonly usesOldSelf: boolean;
  /** The maximum cost of one evaluation. */
  readonly cost: number;
  readonly message?: CompiledMessage;
  /** The path of the error relative to the value, such as `replicas`. */
  readonly field?: string;
}

/** A compiled `messageExpression`. */
export interface CompiledMessage {
  readonly program?: Program;
  readonly error?: string;
  readonly cost: number;
}

/**
 * Compiles the rules of one node of a schema.
 *
 * @param schema The node.
 * @param type The type that it declares.
 */
export function compileRules(schema: JsonSchema, type: DeclaredType): readonly CompiledRule[] {
  const rules = schema["x-kubernetes-validations"] ?? [];
  const compiler = new Compiler(schema, type);
  return rules.map((rule) => compiler.compile(rule));
}

/**
 * Returns the number of values of a type that fit into one request.
 *
 * @param type The type.
 */
export function maxValues(type: DeclaredType): number {
  // Values are separated by commas.
  return Math.trunc(LARGEST_REQUEST / (type.minBytes + 1));
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

  /** Most rules need only one of the two environments, so each is created on demand. */
  #environment({ optionalOldSelf }: ValidationRule): Environment {
    const self = celType(this.#type, "selfType");
    if (optionalOldSelf) {
      return this.#optional ??= createEnvironment({ variables: { self, oldSelf: optionalOf(self) } });
    }
    return this.#plain ??= createEnvironment({ variables: { self, oldSelf: self } });
  }

  compile(rule: ValidationRule): CompiledRule {
    const failed = { rule, usesOldSelf: false, cost: 0 };
    if (rule.rule.trim() === "") return failed;
    const environment = this.#environment(rule);
    const program = compileOrError(environment, rule.rule, "");
    if (typeof program === "string") return { ...failed, error: program };
    if (program.type.kind !== "bool") return { ...failed, error: "cel expression must evaluate to a bool" };
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
    const program = compileOrError(environment, text, "messageExpression ");
    if (typeof program === "string") return { error: program, cost: 0 };
    if (program.type.kind !== "string") return { error: "messageExpression must evaluate to a string", cost: 0 };
    return { program, cost: this.#cost(program) };
  }

  #cost(program: Program): number {
    // As on the server, the first part of a path is ignored: it stands for the value itself.
    const sizeOf = ([, ...path]: readonly string[]) => {
      const max = maxElements(this.#type, path);
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

function compileOrError(environment: Environment, text: string, prefix: string): Program | string {
  try {
    return environment.compile(text);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return `${prefix}${
      error.stage === "check" ? "compilation failed" : instantiationFailure(prefix)
    }: ${error.message}`;
  }
}

function instantiationFailure(prefix: string): string {
  return prefix === "" ? "program instantiation failed" : "instantiation failed";
}
