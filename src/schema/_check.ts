/** What a schema must keep to whoever wrote it: mistakes that an API server would refuse, or never notice, are refused where made. */
import { equal } from "../base/json.ts";
import type { JsonSchema } from "./json_schema.ts";
import { prune } from "./prune.ts";
import { regularExpression, validate } from "./validate.ts";

// All of them: the compiler sees to it.
const KEYWORDS: { readonly [Keyword in keyof Required<JsonSchema>]: true } = {
  type: true,
  title: true,
  description: true,
  format: true,
  default: true,
  example: true,
  enum: true,
  nullable: true,
  minimum: true,
  maximum: true,
  exclusiveMinimum: true,
  exclusiveMaximum: true,
  multipleOf: true,
  minLength: true,
  maxLength: true,
  pattern: true,
  items: true,
  minItems: true,
  maxItems: true,
  uniqueItems: true,
  properties: true,
  required: true,
  additionalProperties: true,
  minProperties: true,
  maxProperties: true,
  allOf: true,
  anyOf: true,
  oneOf: true,
  not: true,
  "x-kubernetes-preserve-unknown-fields": true,
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-int-or-string": true,
  "x-kubernetes-list-type": true,
  "x-kubernetes-list-map-keys": true,
  "x-kubernetes-map-type": true,
  "x-kubernetes-validations": true,
};

const COUNTS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"] as const;
const BOUNDS = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
  ["minProperties", "maxProperties"],
] as const;

/**
 * Checks one node; those under it were checked when they were made.
 *
 * @param what The builder, for messages: `a string`.
 * @param node Its keywords.
 * @throws {TypeError} If a keyword is not of its type, or the default is not of the schema.
 * @throws {RangeError} If bounds contradict each other.
 * @throws {SyntaxError} If the pattern cannot be read.
 */
export function checkNode(what: string, node: JsonSchema): void {
  for (const key of Object.keys(node)) {
    if (!Object.hasOwn(KEYWORDS, key)) throw new TypeError(`Cannot make ${what} schema: there is no option "${key}"`);
  }
  checkNumbers(what, node);
  checkBounds(what, node);
  checkPattern(what, node);
  checkEnum(what, node);
  checkList(what, node);
  if (node.default === undefined) return;
  const fault = faultOf(node, "default", node.default);
  if (fault !== undefined) throw new TypeError(`Cannot make ${what} schema: ${fault}`);
}

function checkNumbers(what: string, node: JsonSchema): void {
  for (const key of ["minimum", "maximum", "multipleOf"] as const) {
    const value: unknown = node[key];
    if (value === undefined || typeof value === "number") continue;
    throw new TypeError(`Cannot make ${what} schema: "${key}" must be a number: current value is ${show(value)}`);
  }
  for (const key of COUNTS) {
    const value: unknown = node[key];
    if (value === undefined || (Number.isInteger(value) && Number(value) >= 0)) continue;
    throw new RangeError(
      `Cannot make ${what} schema: "${key}" must be an integer of 0 or more: current value is ${show(value)}`,
    );
  }
  if (node.multipleOf !== undefined && node.multipleOf <= 0) {
    throw new RangeError(
      `Cannot make ${what} schema: "multipleOf" must be above 0: current value is ${node.multipleOf}`,
    );
  }
}

function checkBounds(what: string, node: JsonSchema): void {
  for (const [least, most] of BOUNDS) {
    const [from, to] = [node[least], node[most]];
    if (from === undefined || to === undefined) continue;
    const open = least === "minimum" && (node.exclusiveMinimum === true || node.exclusiveMaximum === true);
    if (from < to || (from === to && !open)) continue;
    throw new RangeError(
      `Cannot make ${what} schema: no value is between "${least}" ${from} and "${most}" ${to}: swap or change them`,
    );
  }
  for (const [key, bound] of [["exclusiveMinimum", "minimum"], ["exclusiveMaximum", "maximum"]] as const) {
    if (node[key] === undefined || node[bound] !== undefined) continue;
    throw new RangeError(
      `Cannot make ${what} schema: "${key}" says whether "${bound}" itself is allowed: give "${bound}"`,
    );
  }
}

// What JavaScript has and RE2, with which an API server matches, leaves out, because it takes more than linear time.
const NOT_IN_RE2 = /\(\?(?:=|!|<=|<!)|\\(?:[1-9]|k<)/;

function checkPattern(what: string, { pattern }: JsonSchema): void {
  if (pattern === undefined) return;
  if (NOT_IN_RE2.test(pattern.replaceAll("\\\\", ""))) {
    throw new SyntaxError(
      `Cannot make ${what} schema: "${pattern}" has lookaround or a backreference, which RE2 of the API server lacks`,
    );
  }
  try {
    regularExpression(pattern);
  } catch (cause) {
    throw new SyntaxError(
      `Cannot make ${what} schema: "${pattern}" is not a pattern: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    );
  }
}

function checkEnum(what: string, node: JsonSchema): void {
  const values = node.enum;
  if (values === undefined) return;
  if (!Array.isArray(values) || values.length === 0) {
    throw new TypeError(`Cannot make ${what} schema: "enum" must list at least one value`);
  }
  for (const [i, value] of values.entries()) {
    if (values.slice(0, i).some((earlier) => equal(earlier, value))) {
      throw new TypeError(`Cannot make ${what} schema: "enum" lists ${show(value)} twice`);
    }
    const { enum: _, default: __, ...rest } = node;
    const fault = faultOf(rest, "enum", value);
    if (fault !== undefined) throw new TypeError(`Cannot make ${what} schema: ${fault}`);
  }
}

/** https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy and the rules of apiextensions' validation. */
function checkList(what: string, node: JsonSchema): void {
  const keys = node["x-kubernetes-list-map-keys"];
  const items = node.items ?? {};
  switch (node["x-kubernetes-list-type"]) {
    case "map":
      if (keys === undefined || keys.length === 0) {
        throw new TypeError(`Cannot make ${what} schema: a list of type "map" needs "listMapKeys"`);
      }
      for (const key of keys) checkMapKey(what, items, key);
      return;
    case "set":
      if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
        throw new TypeError(
          `Cannot make ${what} schema: items of a list of type "set" must be scalars, not objects: use "map" with keys`,
        );
      }
      if (items.type === "array" && (items["x-kubernetes-list-type"] ?? "atomic") !== "atomic") {
        throw new TypeError(`Cannot make ${what} schema: lists in a list of type "set" must be of type "atomic"`);
      }
  }
  if (keys !== undefined) {
    throw new TypeError(`Cannot make ${what} schema: "listMapKeys" is for lists of type "map": add listType: "map"`);
  }
}

function checkMapKey(what: string, items: JsonSchema, key: string): void {
  const { properties = {}, required = [] } = items;
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) {
    throw new TypeError(`Cannot make ${what} schema: the list's key "${key}" is not a property of its items`);
  }
  if (property.type === "object" || property.type === "array") {
    throw new TypeError(`Cannot make ${what} schema: the list's key "${key}" must be a scalar`);
  }
  if (property.nullable === true) {
    throw new TypeError(`Cannot make ${what} schema: the list's key "${key}" must not be nullable`);
  }
  if (!required.includes(key) && property.default === undefined) {
    throw new TypeError(
      `Cannot make ${what} schema: the list's key "${key}" may be missing: make it required or give it a default`,
    );
  }
}

/**
 * What is wrong with a value, or nothing, in the words of an API server. A default is looked at as it stands: the server fills in what has a
 * default below it, but refuses it when it is incomplete otherwise, or has fields that are not in the schema.
 */
function faultOf(schema: JsonSchema, key: "default" | "enum", value: unknown): string | undefined {
  const around: JsonSchema = { type: "object", properties: { [key]: schema } };
  const [fault] = validate(around, { [key]: value });
  if (fault !== undefined) return `${fault.field}: ${fault.message.replace(" in body ", " ")}`;
  const [dropped] = prune(around, { [key]: value }).dropped;
  return dropped === undefined ? undefined : `${dropped}: it is not in the schema`;
}

function show(value: unknown): string {
  return JSON.stringify(value);
}
