/** What a schema must keep to whoever wrote it: mistakes that an API server would refuse, or never notice, are refused where made. */
import { equal, isObject } from "../base/json.ts";
import { checkRules } from "./_check_rules.ts";
import { judge } from "./_judge.ts";
import type { JsonSchema } from "./json_schema.ts";

/** How deep a schema may be, as JSON counts: a property is two levels below its object. An API server reads 10,000, but takes seconds for what has a thousand. */
export const DEEPEST = 1000;

/** How much of a path is shown where it has no end. */
const LONGEST_PATH = 60;

type Sort = "text" | "flag" | "true" | "number" | "count" | "texts" | "list" | "node" | "nodes" | "named nodes" | "any";

// All of them: the compiler sees to it.
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
  true: { is: (value) => value === true, must: "true, or left out" },
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

/** The values of keywords that take one of a few texts. */
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
 * Checks one node; those under it were checked when they were made, save what stands in `allOf`, `anyOf`, `oneOf` and `not`.
 *
 * @param action What is being done, for messages: `make a string schema`.
 * @param node Its keywords.
 * @throws {TypeError} If a keyword is not of its type, or the default is not of the schema.
 * @throws {RangeError} If bounds contradict each other.
 * @throws {SyntaxError} If the pattern is not one of RE2.
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
 * Checks a node and all that are under it, for what an API server would refuse; what only makes no sense is let pass.
 *
 * @param action What is being done, for messages: `make a raw schema`.
 * @param node The node.
 * @throws {TypeError} If a keyword is not of its type, a default is not of its schema, or a node contains itself or is nested too deep.
 * @throws {SyntaxError} If a pattern is not one of RE2.
 */
export function checkTree(action: string, node: JsonSchema): void {
  checkBelow(`Cannot ${action}: `, node, "", new Set());
}

function checkBelow(cannot: string, node: JsonSchema, path: string, above: Set<JsonSchema>): void {
  const here = path === "" ? cannot : `${cannot}${path}: `;
  if (!isObject(node)) throw new TypeError(`${here}it must be a schema: current value is ${show(node)}`);
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
 * The error that says that something is nested too deep.
 *
 * @param cannot What is said before it: `Cannot make a raw schema: `.
 */
export function tooDeep(cannot: string): TypeError {
  return new TypeError(`${cannot}it is nested deeper than ${DEEPEST} levels of JSON: end it with s.anything()`);
}

/** The nodes right below one, by the path that leads there. */
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
    if (!Object.hasOwn(KEYWORDS, key)) throw new TypeError(`${cannot}there is no option "${key}"`);
    const sort = KEYWORDS[key as keyof JsonSchema];
    if (!SORTS[sort].is(value)) {
      const Fault = sort === "count" && typeof value === "number" ? RangeError : TypeError;
      throw new Fault(`${cannot}"${key}" must be ${SORTS[sort].must}: current value is ${show(value)}`);
    }
    const choices = CHOICES[key as keyof JsonSchema];
    if (choices !== undefined && !choices.includes(String(value))) {
      throw new TypeError(
        `${cannot}"${key}" must be one of ${choices.map(show).join(", ")}: current value is ${show(value)}`,
      );
    }
  }
  const { additionalProperties, pattern } = node;
  if (
    additionalProperties !== undefined && typeof additionalProperties !== "boolean" && !isObject(additionalProperties)
  ) {
    throw new TypeError(
      `${cannot}"additionalProperties" must be a schema: current value is ${show(additionalProperties)}`,
    );
  }
  if (node.multipleOf !== undefined && node.multipleOf <= 0) {
    throw new RangeError(`${cannot}"multipleOf" must be above 0: current value is ${node.multipleOf}`);
  }
  if (pattern !== undefined) checkPattern(cannot, pattern);
  checkRules(cannot, node["x-kubernetes-validations"]);
}

function checkPattern(cannot: string, pattern: string): void {
  try {
    judge?.regularExpression(pattern);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SyntaxError(`${cannot}"pattern" must be a regular expression of RE2: ${show(pattern)}: ${reason}`, {
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
    throw new RangeError(`${cannot}no value is between "${least}" ${from} and "${most}" ${to}: swap or change them`);
  }
  for (const [key, bound] of [["exclusiveMinimum", "minimum"], ["exclusiveMaximum", "maximum"]] as const) {
    if (node[key] === undefined || node[bound] !== undefined) continue;
    throw new RangeError(`${cannot}"${key}" says whether "${bound}" itself is allowed: give "${bound}"`);
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

/** What stands in them was made by no builder. */
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

/** https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy and the rules of apiextensions' validation. */
function checkList(cannot: string, node: JsonSchema): void {
  const keys = node["x-kubernetes-list-map-keys"];
  const items = node.items ?? {};
  switch (node["x-kubernetes-list-type"]) {
    case "map":
      if (keys === undefined || keys.length === 0) {
        throw new TypeError(`${cannot}a list of type "map" needs "listMapKeys"`);
      }
      for (const [i, key] of keys.entries()) {
        if (keys.indexOf(key) !== i) throw new TypeError(`${cannot}"listMapKeys" lists "${key}" twice`);
        checkMapKey(cannot, items, key);
      }
      return;
    case "set":
      if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
        throw new TypeError(
          `${cannot}items of a list of type "set" must be scalars, not objects: use "map" with keys`,
        );
      }
      if (items.type === "array" && (items["x-kubernetes-list-type"] ?? "atomic") !== "atomic") {
        throw new TypeError(`${cannot}lists in a list of type "set" must be of type "atomic"`);
      }
  }
  if (keys !== undefined) {
    throw new TypeError(`${cannot}"listMapKeys" is for lists of type "map": add listType: "map"`);
  }
}

function checkMapKey(cannot: string, items: JsonSchema, key: string): void {
  const { properties = {}, required = [] } = items;
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) throw new TypeError(`${cannot}the list's key "${key}" is not a property of its items`);
  if (property.type === "object" || property.type === "array") {
    throw new TypeError(`${cannot}the list's key "${key}" must be a scalar`);
  }
  if (property.nullable === true) throw new TypeError(`${cannot}the list's key "${key}" must not be nullable`);
  if (!required.includes(key) && property.default === undefined) {
    throw new TypeError(`${cannot}the list's key "${key}" may be missing: make it required or give it a default`);
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
