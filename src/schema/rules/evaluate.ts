/**
 * Evaluates CEL rules on values (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel`,
 * validation.go).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { Program } from "../../cel/program.ts";
import { CelError, Optional, type Value } from "../../cel/value.ts";
import { type Correlation, KeyedList } from "../correlation.ts";
import { duplicate, type FieldError, forbidden, invalid, OMITTED, required } from "../field_error.ts";
import { goQuote } from "../go_text.ts";
import type { JsonSchema, ValidationRule } from "../json_schema.ts";
import type { CompiledMessage, CompiledRule } from "./compiled_rule.ts";
import { withTypeAndMetadata } from "./declared_type.ts";
import { celValue } from "./json_value.ts";
import { CALL_LIMIT, MAX_MESSAGE_LENGTH, OBJECT_BUDGET } from "./limits.ts";
import { type RuleNode, ruleNode } from "./rule_node.ts";

/** Options for {@linkcode brokenRules}. */
export interface BrokenRulesOptions {
  /** The old value; `undefined` on create. */
  readonly old?: unknown;
  /** The correlation with the old value. Errors in unchanged parts are ignored. @default {none} */
  readonly correlation?: Correlation;
  /**
   * Whether the value is a whole object, so that rules may access its kind, version and name.
   * @default {false}
   */
  readonly isResource?: boolean;
  /** The path of the value. @default {a whole object} */
  readonly path?: string;
  /** Receives the ignored errors, which an API server reports as warnings. */
  readonly warn?: (error: FieldError) => void;
}

/**
 * Evaluates the rules of a schema on an otherwise valid value.
 *
 * @param schema The schema. It must not be modified later, because its rules are compiled only
 * once.
 * @param value The value.
 * @param options Additional options.
 */
export function brokenRules(schema: JsonSchema, value: unknown, options: BrokenRulesOptions = {}): FieldError[] {
  const node = ruleNode(schema, options.isResource ?? false);
  if (node === undefined) return [];
  const evaluation = new Evaluation(options.warn);
  evaluation.check(node, options.path ?? "", value, options.old, { current: options.correlation, nearest: undefined });
  return evaluation.errors;
}

/**
 * The position where a value is compared with its old value: its own, or that of the nearest
 * ancestor with a correlation.
 */
interface Position {
  readonly current: Correlation | undefined;
  readonly nearest: Correlation | undefined;
}

function keyPosition(position: Position, key: string): Position {
  const { current, nearest } = position;
  if (current === undefined) return position;
  // The version of the old object is unknown after conversion.
  if (nearest === undefined && (key === "apiVersion" || key === "kind")) return NO_CORRELATION;
  return { current: current.key(key), nearest: current };
}

const NO_CORRELATION: Position = { current: undefined, nearest: undefined };

function indexPosition(position: Position, index: number): Position {
  return position.current === undefined
    ? position
    : { current: position.current.index(index), nearest: position.current };
}

class Evaluation {
  readonly errors: FieldError[] = [];
  readonly #warn: ((error: FieldError) => void) | undefined;
  /** The remaining cost budget. It is negative once no further rule may be evaluated. */
  #budget = OBJECT_BUDGET;

  constructor(warn: ((error: FieldError) => void) | undefined) {
    this.#warn = warn;
  }

  check(node: RuleNode, path: string, value: unknown, old: unknown, position: Position): void {
    if (value === null || value === undefined || this.#budget < 0) return;
    if (node.hasOwnRules) this.#checkHere(node, path, value, old ?? undefined, position);
    if (Array.isArray(value)) this.#checkItems(node, path, value, old, position);
    else if (isObject(value)) this.#checkFields(node, path, value, old, position);
  }

  #checkItems({ items, schema }: RuleNode, path: string, value: unknown[], old: unknown, position: Position): void {
    if (items === undefined) return;
    const before = new KeyedList(schema, Array.isArray(old) ? old : []);
    for (const [i, item] of value.entries()) {
      this.check(items, `${path}[${i}]`, item, before.get(item), indexPosition(position, i));
      if (this.#budget < 0) return;
    }
  }

  #checkFields(node: RuleNode, path: string, value: Record<string, unknown>, old: unknown, position: Position): void {
    const before = isObject(old) ? old : {};
    const { values, properties } = node;
    for (const key of Object.keys(value)) {
      const property = properties.get(key);
      const here = keyPosition(position, key);
      if (values !== undefined) this.check(values, `${path}[${key}]`, value[key], own(before, key), here);
      if (property !== undefined) {
        this.check(property, path === "" ? key : `${path}.${key}`, value[key], own(before, key), here);
      }
      if (this.#budget < 0) return;
    }
  }

  #checkHere(node: RuleNode, path: string, value: unknown, old: unknown, position: Position): void {
    const { type = "" } = node.schema;
    const field = path === "" ? "<nil>" : path;
    if (node.rules === undefined) {
      const detail = "failed to convert to declType for CEL validation rules";
      this.errors.push(invalid(field, type, `rule compiler initialization error: ${detail}`));
      return;
    }
    if (this.#budget <= 0) return this.#end(invalid(field, type, OUT_OF_BUDGET));
    const values = valuesOf(node.isResource ? withTypeAndMetadata(node.schema) : node.schema, value, old);
    for (const compiled of node.rules) {
      if (compiled.usesOldSelf && old === undefined && !compiled.rule.optionalOldSelf) continue;
      this.#evaluate(compiled, { path, field, type, value, values, position });
      if (this.#budget < 0) return;
    }
  }

  #end(error: FieldError): void {
    this.errors.push(error);
    this.#budget = -1;
  }

  #evaluate(compiled: CompiledRule, at: Evaluated): void {
    const { rule, program, error } = compiled;
    const { field, type } = at;
    const broken = (detail: string): FieldError => ({ ...invalid(field, type, detail), rule: rule.rule });
    if (error !== undefined) return void this.errors.push(broken(`rule compile error: ${error}`));
    if (program === undefined) return;
    const { value, failure, cost } = evaluateProgram(
      program,
      rule.optionalOldSelf ? at.values.optional : at.values.plain,
    );
    if (cost > this.#budget) return this.#end(broken(OUT_OF_BUDGET));
    this.#budget -= cost;
    if (failure === undefined) {
      if (value !== true) this.#report(compiled, at);
    } else if (failure.startsWith("no such overload")) {
      const detail = "call arguments did not match a supported operator, function or macro signature for rule";
      this.errors.push(broken(`'${failure}': ${detail}: ${nameOf(rule)}`));
    } else if (failure.startsWith(TOO_EXPENSIVE)) {
      this.#end(
        broken(
          `'${failure}': no further validation rules will be run due to call cost exceeds limit for rule: ${
            nameOf(rule)
          }`,
        ),
      );
    } else this.errors.push(broken(`${failure} evaluating rule: ${nameOf(rule)}`));
  }

  /** Reports a failed rule, with its own message if it has one. */
  #report(compiled: CompiledRule, at: Evaluated): void {
    const { rule, message, field: below, usesOldSelf } = compiled;
    const field = below === undefined ? at.field : at.path === "" ? below : `${at.path}.${below}`;
    const add = (error: FieldError) => {
      const withRule = { ...error, rule: rule.rule };
      const { current, nearest } = at.position;
      const isSame = current === undefined ? nearest?.isSame : current.isSame;
      if (!usesOldSelf && isSame) this.#warn?.(withRule);
      else this.errors.push(withRule);
    };
    const evaluated = message === undefined ? undefined : this.#message(message, rule, at.values);
    if (evaluated?.isEnd) {
      add(invalid(field, at.type, evaluated.text));
      this.#budget = -1;
      return;
    }
    const value = at.type === "object" || at.type === "array" ? OMITTED : at.value;
    const detail = evaluated?.text ?? (rule.message ? rule.message.trim() : `failed rule: ${nameOf(rule)}`);
    add(errorFor(rule, field, value, detail));
  }

  /** Evaluates a message expression; returns `undefined` if there is no printable result. */
  #message({ program }: CompiledMessage, rule: ValidationRule, values: Values): Message | undefined {
    if (program === undefined) return undefined;
    // As on the server, a message expression accesses the old value as a plain value, never as an
    // optional.
    const { value, failure, cost } = evaluateProgram(program, values.plain);
    if (cost > this.#budget) {
      const detail = "messageExpression evaluation failed due to running out of cost budget";
      return { text: `${detail}, no further validation rules will be run`, isEnd: true };
    }
    if (failure?.startsWith(TOO_EXPENSIVE)) {
      const detail = "no further validation rules will be run due to call cost exceeds limit for messageExpression";
      return { text: `${detail}: ${goQuote(rule.messageExpression ?? "")}`, isEnd: true };
    }
    this.#budget -= cost;
    const text = typeof value === "string" ? value.trim() : "";
    if (text === "" || text.includes("\n") || new TextEncoder().encode(text).length > MAX_MESSAGE_LENGTH) {
      return undefined;
    }
    return { text, isEnd: false };
  }
}

const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";
const TOO_EXPENSIVE = "operation cancelled: actual cost limit exceeded";

/** An evaluated value and its position. */
interface Evaluated {
  readonly path: string;
  /** The path of the error. */
  readonly field: string;
  /** The type in the schema. */
  readonly type: string;
  readonly value: unknown;
  readonly values: Values;
  readonly position: Position;
}

interface Message {
  readonly text: string;
  /** Whether no further rule may be evaluated. */
  readonly isEnd: boolean;
}

/**
 * `self` and `oldSelf`, converted lazily, so that a failed conversion affects only the rules that
 * use the value.
 */
interface Values {
  readonly plain: Readonly<Record<string, Value>>;
  /** The same with an optional old value. */
  readonly optional: Readonly<Record<string, Value>>;
}

function valuesOf(schema: JsonSchema, value: unknown, old: unknown): Values {
  let self: Value | undefined;
  let oldSelf: Value | undefined;
  const plain = {
    get self() {
      return self ??= celValue(value, schema);
    },
    get oldSelf() {
      return oldSelf ??= celValue(old, schema);
    },
  };
  const optional = {
    get self() {
      return plain.self;
    },
    get oldSelf() {
      return old === undefined ? Optional.NONE : new Optional(plain.oldSelf);
    },
  };
  return { plain, optional };
}

interface Outcome {
  readonly value?: Value;
  /** The error message, if the evaluation failed. */
  readonly failure?: string;
  readonly cost: number;
}

function evaluateProgram(program: Program, values: Readonly<Record<string, Value>>): Outcome {
  try {
    return program.evaluate(values, { costLimit: CALL_LIMIT });
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { failure: error.message, cost: error.cost ?? 0 };
  }
}

/** Returns the name of a rule in messages. */
function nameOf({ rule, message }: ValidationRule): string {
  return message ? message.trim() : rule.trim();
}

function errorFor({ reason }: ValidationRule, field: string, value: unknown, detail: string): FieldError {
  switch (reason) {
    case "FieldValueForbidden":
      return forbidden(field, detail);
    case "FieldValueRequired":
      return required(field, detail);
    case "FieldValueDuplicate":
      return duplicate(field, value);
    default:
      return invalid(field, value, detail);
  }
}
