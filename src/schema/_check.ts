/**
 * Validates schemas when they are built: options that an API server would reject, or silently
 * ignore, throw an error.
 */
import { equal, isObject } from "../base/json.ts";
import { checkRules } from "./_check_rules.ts";
import { judge } from "./_judge.ts";
import type { JsonSchema } from "./json_schema.ts";

/**
 * The deepest nesting of a schema in levels of JSON; a property is two levels below its object. An
 * API server accepts 10,000 levels, but takes seconds for a thousand.
 */
export const DEEPEST = 1000;

/** The longest part of an endless path that a message shows. */
const LONGEST_PATH = 60;

type Sort = "text" | "flag" | "true" | "number" | "count" | "texts" | "list" | "node" | "nodes" | "named nodes" | "any";

// The type makes the compiler report missing keywords.
const KEYWORDS: { readonly [Keyword in keyof Required<JsonSchema>]: Sort } = {
  type: "text",
  title: "text",
  description: "text",
  format: "text",
  default: "any",
  example: "any",
  externalDocs: "any",
  enum: "list",
  nullable: "flag",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "flag",
  exclusiveMaximum: "flag",
  multipleOf: "number",
  minLength: "count",
  maxLength: "count",
  pattern: "text",
  items: "node",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "flag",
  properties: "named nodes",
  required: "texts",
  additionalProperties: "any",
  minProperties: "count",
  maxProperties: "count",
  allOf: "nodes",
  anyOf: "nodes",
  oneOf: "nodes",
  not: "node",
  "x-kubernetes-preserve-unknown-fields": "true",
  "x-kubernetes-embedded-resource": "flag",
  "x-kubernetes-int-or-string": "flag",
  "x-kubernetes-list-type": "text",
  "x-kubernetes-list-map-keys": "texts",
  "x-kubernetes-map-type": "text",
  "x-kubernetes-validations": "any",
};

const SORTS: { readonly [S in Sort]: { readonly is: (value: unknown) => boolean; readonly must: string } } = {
  text: { is: (value) => typeof value === "string", must: "a string" },
  flag: { is: (value) => typeof value === "boolean", must: "true or false" },
  true: { is: (value) => value === true, must: "true or omitted" },
  number: { is: (value) => typeof value === "number", must: "a number" },
  count: { is: (value) => Number.isInteger(value) && Number(value) >= 0, must: "an integer of 0 or more" },
  texts: { is: (value) => isListOf(value, (item) => typeof item === "string"), must: "a list of strings" },
  list: { is: Array.isArray, must: "a list" },
  node: { is: isObject, must: "a schema" },
  nodes: { is: (value) => isListOf(value, isObject), must: "a list of schemas" },
  "named nodes": { is: (value) => isObject(value) && Object.values(value).every(isObject), must: "schemas by name" },
  any: { is: () => true, must: "" },
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
  const cannot = `Cannot ${action}: `;
  checkKeywords(cannot, node);
  checkBounds(cannot, node);
  checkEnum(cannot, node);
  checkCombinations(cannot, node);
  checkList(cannot, node);
  checkDefault(cannot, node);
}

/**
 * Validates a node and all nested nodes. Only what an API server would reject throws an error, not
 * what is merely pointless.
 *
 * @param action The action in messages: `define a raw schema`.
 * @param node The node.
 * @throws {TypeError} If a keyword has the wrong type, a default does not match its schema, or a
 * node contains itself or is nested too deeply.
 * @throws {SyntaxError} If a pattern is not a valid RE2 expression.
 */
export function checkTree(action: string, node: JsonSchema): void {
  checkBelow(`Cannot ${action}: `, node, "", new Set());
}

function checkBelow(cannot: string, node: JsonSchema, path: string, above: Set<JsonSchema>): void {
  const here = path === "" ? cannot : `${cannot}${path}: `;
  if (!isObject(node)) throw new TypeError(`${here}it must be a schema, got ${show(node)}`);
  if (above.has(node)) throw new TypeError(`${here}it contains itself`);
  if (above.size > DEEPEST) throw tooDeep(`${cannot}${path.slice(0, LONGEST_PATH)}...: `);
  above.add(node);
  checkKeywords(here, node);
  for (const [step, child] of childrenOf(node)) {
    checkBelow(cannot, child, path === "" ? step : `${path}.${step}`, above);
  }
  checkList(here, node);
  checkDefault(here, node);
  above.delete(node);
}

/**
 * Returns the error for a schema that is nested too deeply.
 *
 * @param cannot The prefix of the message: `Cannot define a raw schema: `.
 */
export function tooDeep(cannot: string): TypeError {
  return new TypeError(`${cannot}it is nested deeper than ${DEEPEST} levels of JSON. Use s.anything() at some level`);
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

function checkKeywords(cannot: string, node: JsonSchema): void {
  for (const [key, value] of Object.entries(node)) {
    if (!Object.hasOwn(KEYWORDS, key)) throw new TypeError(`${cannot}unknown option "${key}"`);
    const sort = KEYWORDS[key as keyof JsonSchema];
    if (!SORTS[sort].is(value)) {
      const Fault = sort === "count" && typeof value === "number" ? RangeError : TypeError;
      throw new Fault(`${cannot}"${key}" must be ${SORTS[sort].must}, got ${show(value)}`);
    }
    const choices = CHOICES[key as keyof JsonSchema];
    if (choices !== undefined && !choices.includes(String(value))) {
      throw new TypeError(
        `${cannot}"${key}" must be one of ${choices.map(show).join(", ")}, got ${show(value)}`,
      );
    }
  }
  const { additionalProperties, pattern } = node;
  if (
    additionalProperties !== undefined && typeof additionalProperties !== "boolean" && !isObject(additionalProperties)
  ) {
    throw new TypeError(
      `${cannot}"additionalProperties" must be a schema, got ${show(additionalProperties)}`,
    );
  }
  if (node.multipleOf !== undefined && node.multipleOf <= 0) {
    throw new RangeError(`${cannot}"multipleOf" must be above 0, got ${node.multipleOf}`);
  }
  if (pattern !== undefined) checkPattern(cannot, pattern);
  checkRules(cannot, node["x-kubernetes-validations"]);
}

function checkPattern(cannot: string, pattern: string): void {
  try {
    judge?.regularExpression(pattern);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SyntaxError(`${cannot}"pattern" must be a valid RE2 regular expression: ${show(pattern)}: ${reason}`, {
      cause,
    });
  }
}

function checkBounds(cannot: string, node: JsonSchema): void {
  for (const [least, most] of BOUNDS) {
    const [from, to] = [node[least], node[most]];
    if (from === undefined || to === undefined) continue;
    const open = least === "minimum" && (node.exclusiveMinimum === true || node.exclusiveMaximum === true);
    if (from < to || (from === to && !open)) continue;
    throw new RangeError(
      `${cannot}no value is between "${least}" ${from} and "${most}" ${to}. Change one of the bounds`,
    );
  }
  for (const [key, bound] of [["exclusiveMinimum", "minimum"], ["exclusiveMaximum", "maximum"]] as const) {
    if (node[key] === undefined || node[bound] !== undefined) continue;
    throw new RangeError(`${cannot}"${key}" has no effect without "${bound}". Add "${bound}"`);
  }
}

function checkEnum(cannot: string, node: JsonSchema): void {
  const values = node.enum;
  if (values === undefined) return;
  if (values.length === 0) throw new TypeError(`${cannot}"enum" must list at least one value`);
  const { enum: _, default: __, ...rest } = node;
  for (const [i, value] of values.entries()) {
    if (values.slice(0, i).some((earlier) => equal(earlier, value))) {
      throw new TypeError(`${cannot}"enum" lists ${show(value)} twice`);
    }
    const fault = judge?.valueFault(rest, "enum", value);
    if (fault !== undefined) throw new TypeError(`${cannot}${fault}`);
  }
}

/** Validates combinations, whose nodes are plain JSON Schema and not built by a builder. */
function checkCombinations(cannot: string, node: JsonSchema): void {
  const { allOf, anyOf, oneOf, not } = node;
  for (
    const [step, child] of childrenOf({
      ...allOf && { allOf },
      ...anyOf && { anyOf },
      ...oneOf && { oneOf },
      ...not && { not },
    })
  ) {
    checkBelow(cannot, child, step, new Set());
  }
}

/**
 * Validates list types:
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy and the
 * validation of apiextensions.
 */
function checkList(cannot: string, node: JsonSchema): void {
  const keys = node["x-kubernetes-list-map-keys"];
  const items = node.items ?? {};
  switch (node["x-kubernetes-list-type"]) {
    case "map":
      if (keys === undefined || keys.length === 0) {
        throw new TypeError(`${cannot}a list of type "map" requires "listMapKeys"`);
      }
      for (const [i, key] of keys.entries()) {
        if (keys.indexOf(key) !== i) throw new TypeError(`${cannot}"listMapKeys" lists "${key}" twice`);
        checkMapKey(cannot, items, key);
      }
      return;
    case "set":
      if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
        throw new TypeError(
          `${cannot}items of a list of type "set" must be scalars, not objects. Use the list type "map" with keys`,
        );
      }
      if (items.type === "array" && (items["x-kubernetes-list-type"] ?? "atomic") !== "atomic") {
        throw new TypeError(`${cannot}a list in a list of type "set" must be of type "atomic"`);
      }
  }
  if (keys !== undefined) {
    throw new TypeError(`${cannot}"listMapKeys" requires a list of type "map". Add listType: "map"`);
  }
}

function checkMapKey(cannot: string, items: JsonSchema, key: string): void {
  const { properties = {}, required = [] } = items;
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) throw new TypeError(`${cannot}the list map key "${key}" is not a property of its items`);
  if (property.type === "object" || property.type === "array") {
    throw new TypeError(`${cannot}the list map key "${key}" must be a scalar`);
  }
  if (property.nullable === true) throw new TypeError(`${cannot}the list map key "${key}" must not be nullable`);
  if (!required.includes(key) && property.default === undefined) {
    throw new TypeError(
      `${cannot}the list map key "${key}" may be missing. Make the property required, or add a default`,
    );
  }
}

function checkDefault(cannot: string, node: JsonSchema): void {
  if (node.default === undefined) return;
  const fault = judge?.valueFault(node, "default", node.default);
  if (fault !== undefined) throw new TypeError(`${cannot}${fault}`);
}

function show(value: unknown): string {
  return JSON.stringify(value);
}
