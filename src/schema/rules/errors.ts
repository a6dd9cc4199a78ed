/**
 * Validates the CEL rules of a schema without values
 * (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`, validation.go and
 * cel_validation.go).
 */
import { isObject } from "../../base/json.ts";
import { isKnownValid } from "../_marks.ts";
import { UNLIMITED } from "../../cel/cost.ts";
import {
  type FieldError,
  forbidden,
  internal,
  invalid,
  notSupported,
  required,
  type SchemaError,
} from "../field_error.ts";
import { fieldTarget } from "../field_path.ts";
import { quotedRule } from "../go_schema.ts";
import type { JsonSchema, ValidationRule } from "../json_schema.ts";
import { type CompiledRule, compileRules, maxValues } from "./compiled_rule.ts";
import { type DeclaredType, declaredType } from "./declared_type.ts";
import { RULE_LIMIT, SCHEMA_LIMIT } from "./limits.ts";

/** Options for {@linkcode ruleErrors}. */
export interface RuleErrorsOptions {
  /**
   * Other errors of the schema. Rules at and above their positions are not compiled, because errors
   * in them could be consequences. @default {none}
   */
  readonly others?: readonly FieldError[];
  /** Whether rules are not compiled, as in a schema that is not structural. @default {false} */
  readonly skipsCompilation?: boolean;
  /**
   * Whether the schema is unchanged. Its rules may then exceed the cost limit of a single rule.
   * @default {false}
   */
  readonly isUnchanged?: boolean;
}

/**
 * Validates the rules of a schema: their fields, types and estimated costs.
 *
 * @param schema The schema of a whole object.
 * @param path The path of the schema.
 * @param options Additional options.
 * @returns The errors, each with its rule.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const spec = {
 *   type: "object",
 *   properties: { size: { type: "integer" } },
 *   "x-kubernetes-validations": [{ rule: "self.siez > 0" }],
 * } as const;
 * const [error] = ruleErrors({ type: "object", properties: { spec } }, "schema");
 * assert.equal(error?.field, "schema.properties[spec].x-kubernetes-validations[0].rule");
 * assert.match(error?.message ?? "", /undefined field 'siez'/);
 * ```
 */
export function ruleErrors(schema: JsonSchema, path: string, options: RuleErrorsOptions = {}): SchemaError[] {
  const { others = [], isUnchanged = false, skipsCompilation = false } = options;
  const validator = new RuleValidator(others, isUnchanged);
  validator.visit(schema, { path, isResource: true, maxCount: 1, isCompiled: !skipsCompilation });
  return [...validator.fieldErrors, ...validator.compileErrors, ...validator.totalErrors(path)];
}

/** The position of a node. */
interface Position {
  readonly path: string;
  readonly isResource: boolean;
  /** The maximum number of values; `undefined` if unbounded. */
  readonly maxCount: number | undefined;
  /** The first ancestor below which values have no correlation. */
  readonly uncorrelated?: string;
  /**
   * Whether rules are compiled. Those in value validations are not, because they are not allowed
   * there.
   */
  readonly isCompiled: boolean;
}

/** A rule with a considerable share of the total cost. */
interface ExpensiveRule {
  readonly path: string;
  readonly cost: number;
  readonly rule: ValidationRule;
}

class RuleValidator {
  readonly fieldErrors: FieldError[] = [];
  readonly compileErrors: SchemaError[] = [];
  readonly #invalidPaths: string[];
  readonly #isUnchanged: boolean;
  readonly #expensive: ExpensiveRule[] = [];
  #total = 0;

  constructor(others: readonly FieldError[], isUnchanged: boolean) {
    this.#invalidPaths = others.map(({ field }) => field);
    this.#isUnchanged = isUnchanged;
  }

  visit(schema: JsonSchema, position: Position): void {
    const { additionalProperties, properties = {}, items, not, allOf = [], oneOf = [], anyOf = [] } = schema;
    const { path, isCompiled } = position;
    const maxCount = maxChildren(schema, position.maxCount);
    if (isObject(additionalProperties)) {
      this.#visitChild(additionalProperties, `${path}.additionalProperties`, position, maxCount);
    }
    for (const [key, property] of Object.entries(properties)) {
      this.#visitChild(property, `${path}.properties[${key}]`, position, maxCount);
    }
    const alternatives: [string, JsonSchema][] = [
      ...(not === undefined ? [] : [["not", not] as [string, JsonSchema]]),
      ...allOf.map((each, i): [string, JsonSchema] => [`allOf[${i}]`, each]),
      ...oneOf.map((each, i): [string, JsonSchema] => [`oneOf[${i}]`, each]),
      ...anyOf.map((each, i): [string, JsonSchema] => [`anyOf[${i}]`, each]),
    ];
    for (const [key, each] of alternatives) {
      this.visit(each, { ...position, path: `${path}.${key}`, isResource: false, isCompiled: false });
    }
    if (items !== undefined) {
      const isMap = schema["x-kubernetes-list-type"] === "map";
      const below = isMap ? position : { ...position, uncorrelated: position.uncorrelated ?? path };
      this.#visitChild(items, `${path}.items`, below, maxCount);
    }
    const rules = schema["x-kubernetes-validations"] ?? [];
    if (rules.length === 0) return;
    rules.forEach((rule, i) => this.#checkFields(schema, rule, `${path}.x-kubernetes-validations[${i}]`));
    if (isCompiled && !this.#invalidPaths.some((invalidPath) => isWithin(path, invalidPath))) {
      this.#compile(schema, position);
    }
  }

  #visitChild(schema: JsonSchema, path: string, position: Position, maxCount: number | undefined): void {
    // Schemas that are known to be valid have no rules.
    if (isKnownValid(schema)) return;
    this.visit(schema, { ...position, path, maxCount, isResource: schema["x-kubernetes-embedded-resource"] ?? false });
  }

  #addFieldError(rule: ValidationRule, error: FieldError): void {
    this.fieldErrors.push({ ...error, rule: rule.rule });
    this.#invalidPaths.push(error.field);
  }

  #checkFields(schema: JsonSchema, rule: ValidationRule, path: string): void {
    const { message = "", messageExpression = "", reason, fieldPath = "" } = rule;
    const add = (error: FieldError) => this.#addFieldError(rule, error);
    if (rule.rule.trim() === "") add(required(`${path}.rule`, "rule is not specified"));
    else if (message !== "" && message.trim() === "") {
      add(invalid(`${path}.message`, message, "must be non-empty if specified"));
    } else if (hasLineBreak(message.trim())) add(invalid(`${path}.message`, message, "must not contain line breaks"));
    else if (hasLineBreak(rule.rule.trim()) && message.trim() === "") {
      add(required(`${path}.message`, "message must be specified if rule contains line breaks"));
    }
    if (messageExpression !== "" && messageExpression.trim() === "") {
      add(required(`${path}.messageExpression`, "messageExpression must be non-empty if specified"));
    }
    if (reason !== undefined && !REASONS.includes(reason)) add(notSupported(`${path}.reason`, reason, REASONS));
    if (fieldPath === "") return;
    if (fieldPath.trim() === "") add(invalid(`${path}.fieldPath`, fieldPath, "must be non-empty if specified"));
    if (hasLineBreak(fieldPath)) add(invalid(`${path}.fieldPath`, fieldPath, "must not contain line breaks"));
    if (!isPath(schema, fieldPath)) add(invalid(`${path}.fieldPath`, fieldPath, "must be a valid path"));
  }

  #compile(schema: JsonSchema, position: Position): void {
    const path = `${position.path}.x-kubernetes-validations`;
    const type = declaredType(schema, position.isResource);
    if (type === undefined) {
      const detail = "failed to construct type information for x-kubernetes-validations rules: " +
        "unable to convert structural schema to CEL declarations";
      this.compileErrors.push(internal(path, `internal error: ${detail}`));
      return;
    }
    for (const [i, compiled] of compileRules(schema, type).entries()) {
      this.#checkCompiled(compiled, `${path}[${i}]`, position, type);
    }
  }

  #checkCompiled(compiled: CompiledRule, path: string, position: Position, type: DeclaredType): void {
    const { rule, error, message } = compiled;
    const add = (error: SchemaError) => this.compileErrors.push({ ...error, rule: rule.rule });
    const cost = saturatedProduct(compiled.cost, position.maxCount ?? maxValues(type));
    const limit = this.#isUnchanged ? Infinity : RULE_LIMIT;
    if (cost > limit) {
      const detail = overBudgetMessage("estimated rule cost", cost, RULE_LIMIT);
      add({ ...forbidden(`${path}.rule`, detail), isTooExpensive: true });
    }
    this.#count(`${path}.rule`, cost, rule);
    if (error !== undefined) add(errorWithRule(`${path}.rule`, rule, error));
    if (message?.error !== undefined) add(errorWithRule(`${path}.messageExpression`, rule, message.error));
    else if (message !== undefined) {
      if (message.cost > limit) {
        const detail = overBudgetMessage("estimated messageExpression cost", message.cost, RULE_LIMIT);
        add({ ...forbidden(`${path}.messageExpression`, detail), isTooExpensive: true });
      }
      this.#count(`${path}.messageExpression`, message.cost, rule);
    }
    if (compiled.usesOldSelf) {
      if (position.uncorrelated === undefined) return;
      const detail =
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${position.uncorrelated}`;
      add(invalid(`${path}.rule`, rule.rule, detail));
    } else if (rule.optionalOldSelf !== undefined) {
      const detail = "may not be set if oldSelf is not used in rule";
      add(invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail));
    }
  }

  #count(path: string, cost: number, rule: ValidationRule): void {
    this.#total = Math.min(this.#total + cost, UNLIMITED);
    // Only rules with at least one percent of the limit are reported.
    if (cost >= SCHEMA_LIMIT / 100) this.#expensive.push({ path, cost, rule });
  }

  /** Reports a total cost above the limit, with the four most expensive rules. */
  totalErrors(path: string): SchemaError[] {
    if (this.#total <= SCHEMA_LIMIT) return [];
    const detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const reported = this.#expensive.toSorted((a, b) => b.cost - a.cost).slice(0, 4);
    const subject = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...reported.map((each) => ({ ...forbidden(each.path, detail), rule: each.rule.rule, isTooExpensive: true })),
      forbidden(path, overBudgetMessage(subject, this.#total, SCHEMA_LIMIT)),
    ];
  }
}

/** Returns the maximum number of children of a number of values. */
function maxChildren(schema: JsonSchema, maxCount: number | undefined): number | undefined {
  const { type, additionalProperties, maxProperties, maxItems } = schema;
  const isMap = type === "object" && additionalProperties !== undefined;
  const bound = isMap ? maxProperties : type === "array" ? maxItems : 1;
  return bound === undefined || maxCount === undefined ? undefined : saturatedProduct(maxCount, Math.max(0, bound));
}

function saturatedProduct(a: number, b: number): number {
  return Math.min(a * b, UNLIMITED);
}

function isWithin(path: string, field: string): boolean {
  return field.startsWith(path) &&
    (field.length === path.length || field[path.length] === "." || field[path.length] === "[");
}

const REASONS: readonly string[] = [
  "FieldValueDuplicate",
  "FieldValueForbidden",
  "FieldValueInvalid",
  "FieldValueRequired",
];

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text);
}

function isPath(schema: JsonSchema, path: string): boolean {
  try {
    fieldTarget(path, schema);
    return true;
  } catch {
    return false;
  }
}

function errorWithRule(field: string, rule: ValidationRule, detail: string): SchemaError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${quotedRule(rule)}: ${detail}`, detail };
}

function overBudgetMessage(subject: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100" : factor < 1.5 ? factor.toFixed(6) : factor.toFixed(1);
  return `${subject} exceeds budget by factor of ${shown}x (try simplifying the rule, or adding maxItems, maxProperties, and ` +
    "maxLength where arrays, maps, and strings are declared)";
}
