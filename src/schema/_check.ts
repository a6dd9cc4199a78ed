/**
 * Validates schemas when they are built: options that an API server would reject, or silently
 * ignore, throw an error.
 */
import { equal, isObject } from "../base/json.ts";
import { checkRules } from "./_check_rules.ts";
import { declarationChecks } from "./_load_declaration_checks.ts";
import type { JsonSchema } from "./json_schema.ts";

/**
 * The deepest nesting of a schema in levels of JSON; a property is two levels below its object. An
 * API server accepts 10,000 levels, but takes seconds for a thousand.
 */
export const MAX_DEPTH = 1000;

/** The maximum length of a path in the message about a schema that is nested too deeply. */
const MAX_PATH_LENGTH = 60;

/** The type of a keyword's value. */
type KeywordType =
  | "string"
  | "boolean"
  | "true"
  | "number"
  | "count"
  | "strings"
  | "list"
  | "schema"
  | "schemas"
  | "schemas by name"
  | "any";

// The type makes the compiler report missing keywords.
const KEYWORDS: { readonly [Keyword in keyof Required<JsonSchema>]: KeywordType } = {
  type: "string",
  title: "string",
  description: "string",
  format: "string",
  default: "any",
  example: "any",
  externalDocs: "any",
  enum: "list",
  nullable: "boolean",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "boolean",
  exclusiveMaximum: "boolean",
  multipleOf: "number",
  minLength: "count",
  maxLength: "count",
  pattern: "string",
  items: "schema",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "boolean",
  properties: "schemas by name",
  required: "strings",
  additionalProperties: "any",
  minProperties: "count",
  maxProperties: "count",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
  "x-kubernetes-preserve-unknown-fields": "true",
  "x-kubernetes-embedded-resource": "boolean",
  "x-kubernetes-int-or-string": "boolean",
  "x-kubernetes-list-type": "string",
  "x-kubernetes-list-map-keys": "strings",
  "x-kubernetes-map-type": "string",
  "x-kubernetes-validations": "any",
};

const TYPES: {
  readonly [Type in KeywordType]: { readonly is: (value: unknown) => boolean; readonly description: string };
} = {
  string: { is: (value) => typeof value === "string", description: "a string" },
  boolean: { is: (value) => typeof value === "boolean", description: "true or false" },
  true: { is: (value) => value === true, description: "true or omitted" },
  number: { is: (value) => typeof value === "number", description: "a number" },
  count: { is: (value) => Number.isInteger(value) && Number(value) >= 0, description: "an integer of 0 or more" },
  strings: { is: (value) => isListOf(value, (item) => typeof item === "string"), description: "a list of strings" },
  list: { is: Array.isArray, description: "a list" },
  schema: { is: isObject, description: "a schema" },
  schemas: { is: (value) => isListOf(value, isObject), description: "a list of schemas" },
  "schemas by name": {
    is: (value) => isObject(value) && Object.values(value).every(isObject),
    description: "schemas by name",
  },
  any: { is: () => true, description: "" },
};

function isListOf(value: unknown, is: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

/** The allowed values of keywords with a fixed set of strings. */
const CHOICES: { readonly [Keyword in keyof JsonSchema]: readonly string[] } = {
  type: ["string", "integer", "number", "boolean", "array", "object"],
  "x-kubernetes-list-type": ["atomic", "set", "map"],
  "x-kubernetes-map-type": ["atomic", "granular"],
};

const BOUNDS = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
  ["minProperties", "maxProperties"],
] as const;

/**
 * Validates one node. Nested nodes were validated when they were built, except those in `allOf`,
 * `anyOf`, `oneOf` and `not`.
 *
 * @param action The action in messages: `define a string schema`.
 * @param node Its keywords.
 * @throws {TypeError} If a keyword has the wrong type, or the default does not match the schema.
 * @throws {RangeError} If bounds contradict each other.
 * @throws {SyntaxError} If the pattern is not a valid RE2 expression.
 */
export function checkNode(action: string, node: JsonSchema): void {
  const prefix = `Cannot ${action}: `;
  checkKeywords(prefix, node);
  checkBounds(prefix, node);
  checkEnum(prefix, node);
  checkCombinations(prefix, node);
  checkList(prefix, node);
  checkDefault(prefix, node);
}

/**
 * Validates a node and all nested nodes. It throws an error only for keywords that an API server
 * would reject, not for keywords that have no effect.
 *
 * @param action The action in messages: `define a raw schema`.
 * @param node The node.
 * @throws {TypeError} If a keyword has the wrong type, a default does not match its schema, or a
 * node contains itself or is nested too deeply.
 * @throws {SyntaxError} If a pattern is not a valid RE2 expression.
 */
export function checkTree(action: string, node: JsonSchema): void {
  checkNested(`Cannot ${action}: `, node, "", new Set());
}

function checkNested(prefix: string, node: JsonSchema, path: string, ancestors: Set<JsonSchema>): void {
  const here = path === "" ? prefix : `${prefix}${path}: `;
  if (!isObject(node)) throw new TypeError(`${here}it must be a schema, got ${quote(node)}`);
  if (ancestors.has(node)) throw new TypeError(`${here}it contains itself`);
  if (ancestors.size > MAX_DEPTH) throw nestingError(`${prefix}${path.slice(0, MAX_PATH_LENGTH)}...: `);
  ancestors.add(node);
  checkKeywords(here, node);
  for (const [step, child] of childrenOf(node)) {
    checkNested(prefix, child, path === "" ? step : `${path}.${step}`, ancestors);
  }
  checkList(here, node);
  checkDefault(here, node);
  ancestors.delete(node);
}

/**
 * Returns the error for a schema that is nested too deeply.
 *
 * @param prefix The prefix of the message: `Cannot define a raw schema: `.
 */
export function nestingError(prefix: string): TypeError {
  return new TypeError(`${prefix}it is nested deeper than ${MAX_DEPTH} levels of JSON. Use s.anything() at some level`);
}

/** Returns the child nodes with the paths that lead to them. */
function childrenOf(node: JsonSchema): [string, JsonSchema][] {
  const children: [string, JsonSchema][] = [];
  for (const key of ["items", "not", "additionalProperties"] as const) {
    const child = node[key];
    if (typeof child === "object") children.push([key, child]);
  }
  for (const key of ["allOf", "anyOf", "oneOf"] as const) {
    for (const [i, child] of (node[key] ?? []).entries()) children.push([`${key}[${i}]`, child]);
  }
  for (const [name, child] of Object.entries(node.properties ?? {})) children.push([`properties[${name}]`, child]);
  return children;
}

function checkKeywords(prefix: string, node: JsonSchema): void {
  for (const [key, value] of Object.entries(node)) {
    if (!Object.hasOwn(KEYWORDS, key)) throw new TypeError(`${prefix}unknown option "${key}"`);
    const type = KEYWORDS[key as keyof JsonSchema];
    if (!TYPES[type].is(value)) {
      const ErrorClass = type === "count" && typeof value === "number" ? RangeError : TypeError;
      throw new ErrorClass(`${prefix}"${key}" must be ${TYPES[type].description}, got ${quote(value)}`);
    }
    const choices = CHOICES[key as keyof JsonSchema];
    if (choices !== undefined && !choices.includes(String(value))) {
      throw new TypeError(
        `${prefix}"${key}" must be one of ${choices.map(quote).join(", ")}, got ${quote(value)}`,
      );
    }
  }
  const { additionalProperties, pattern } = node;
  if (
    additionalProperties !== undefined && typeof additionalProperties !== "boolean" && !isObject(additionalProperties)
  ) {
    throw new TypeError(
      `${prefix}"additionalProperties" must be a schema, got ${quote(additionalProperties)}`,
    );
  }
  if (node.multipleOf !== undefined && node.multipleOf <= 0) {
    throw new RangeError(`${prefix}"multipleOf" must be above 0, got ${node.multipleOf}`);
  }
  if (pattern !== undefined) checkPattern(prefix, pattern);
  checkRules(prefix, node["x-kubernetes-validations"]);
}

function checkPattern(prefix: string, pattern: string): void {
  try {
    declarationChecks?.regularExpression(pattern);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SyntaxError(`${prefix}"pattern" must be a valid RE2 regular expression: ${quote(pattern)}: ${reason}`, {
      cause,
    });
  }
}

function checkBounds(prefix: string, node: JsonSchema): void {
  for (const [least, most] of BOUNDS) {
    const [from, to] = [node[least], node[most]];
    if (from === undefined || to === undefined) continue;
    const isExclusive = least === "minimum" && (node.exclusiveMinimum === true || node.exclusiveMaximum === true);
    if (from < to || (from === to && !isExclusive)) continue;
    throw new RangeError(
      `${prefix}no value is between "${least}" ${from} and "${most}" ${to}. Change one of the bounds`,
    );
  }
  for (const [key, bound] of [["exclusiveMinimum", "minimum"], ["exclusiveMaximum", "maximum"]] as const) {
    if (node[key] === undefined || node[bound] !== undefined) continue;
    throw new RangeError(`${prefix}"${key}" has no effect without "${bound}". Add "${bound}"`);
  }
}

function checkEnum(prefix: string, node: JsonSchema): void {
  const values = node.enum;
  if (values === undefined) return;
  if (values.length === 0) throw new TypeError(`${prefix}"enum" must list at least one value`);
  const { enum: _, default: __, ...rest } = node;
  for (const [i, value] of values.entries()) {
    if (values.slice(0, i).some((earlier) => equal(earlier, value))) {
      throw new TypeError(`${prefix}"enum" lists ${quote(value)} twice`);
    }
    const error = declarationChecks?.valueError(rest, "enum", value);
    if (error !== undefined) throw new TypeError(`${prefix}${error}`);
  }
}

/** Validates combinations, whose nodes are plain JSON Schema and not built by a builder. */
function checkCombinations(prefix: string, node: JsonSchema): void {
  const { allOf, anyOf, oneOf, not } = node;
  for (
    const [step, child] of childrenOf({
      ...allOf && { allOf },
      ...anyOf && { anyOf },
      ...oneOf && { oneOf },
      ...not && { not },
    })
  ) {
    checkNested(prefix, child, step, new Set());
  }
}

/**
 * Validates list types:
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy and the
 * validation of apiextensions.
 */
function checkList(prefix: string, node: JsonSchema): void {
  const keys = node["x-kubernetes-list-map-keys"];
  const items = node.items ?? {};
  switch (node["x-kubernetes-list-type"]) {
    case "map":
      if (keys === undefined || keys.length === 0) {
        throw new TypeError(`${prefix}a list of type "map" requires "listMapKeys"`);
      }
      for (const [i, key] of keys.entries()) {
        if (keys.indexOf(key) !== i) throw new TypeError(`${prefix}"listMapKeys" lists "${key}" twice`);
        checkMapKey(prefix, items, key);
      }
      return;
    case "set":
      if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
        throw new TypeError(
          `${prefix}items of a list of type "set" must be scalars, not objects. Use the list type "map" with keys`,
        );
      }
      if (items.type === "array" && (items["x-kubernetes-list-type"] ?? "atomic") !== "atomic") {
        throw new TypeError(`${prefix}a list in a list of type "set" must be of type "atomic"`);
      }
  }
  if (keys !== undefined) {
    throw new TypeError(`${prefix}"listMapKeys" requires a list of type "map". Add listType: "map"`);
  }
}

function checkMapKey(prefix: string, items: JsonSchema, key: string): void {
  const { properties = {}, required = [] } = items;
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) throw new TypeError(`${prefix}the list map key "${key}" is not a property of its items`);
  if (property.type === "object" || property.type === "array") {
    throw new TypeError(`${prefix}the list map key "${key}" must be a scalar`);
  }
  if (property.nullable === true) throw new TypeError(`${prefix}the list map key "${key}" must not be nullable`);
  if (!required.includes(key) && property.default === undefined) {
    throw new TypeError(
      `${prefix}the list map key "${key}" may be missing. Make the property required, or add a default`,
    );
  }
}

function checkDefault(prefix: string, node: JsonSchema): void {
  if (node.default === undefined) return;
  const error = declarationChecks?.valueError(node, "default", node.default);
  if (error !== undefined) throw new TypeError(`${prefix}${error}`);
}

function quote(value: unknown): string {
  return JSON.stringify(value);
}
