/**
 * Validation of a JSON value against a structural schema, with the verdicts, paths and words of an API server
 * (`k8s.io/kube-openapi/pkg/validation/validate` and `k8s.io/apiextensions-apiserver/pkg/apiserver/validation`), but for an object's
 * faults in the order of its schema, where the server's order is chance.
 */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import {
  type FieldError,
  goNumber,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { hasFormat, isKnownFormat } from "./string_formats.ts";

/** Options for {@linkcode validate}. */
export interface ValidateOptions {
  /** The value that is there now: faults in parts that do not change are let pass (KEP-4008, ratcheting). Absent on create. */
  readonly old?: unknown;
  /** What all paths begin with, such as `status`. */
  readonly path?: string;
}

/** What a check found: its faults, and how many checks were made, by which the nearest alternative of an `anyOf` is chosen. */
interface Result {
  faults: FieldError[];
  checks: number;
}

/** The value that was there, when it is known which it was. */
type Old = { readonly value: unknown } | undefined;

/**
 * Validates a value.
 *
 * @param schema The schema.
 * @param value The value.
 * @param options Additional options.
 * @returns What is wrong with it; empty when it is valid.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = { type: "object", properties: { replicas: { type: "integer", maximum: 20 } } } as const;
 * assert.deepEqual(validate(schema, { replicas: 21 }), [{
 *   reason: "FieldValueInvalid",
 *   field: "replicas",
 *   message: "Invalid value: 21: replicas in body should be less than or equal to 20",
 * }]);
 * ```
 */
export function validate(schema: JsonSchema, value: unknown, options: ValidateOptions = {}): FieldError[] {
  const { faults } = ratcheted(schema, value, "", options.old === undefined ? undefined : { value: options.old });
  const prefix = options.path;
  if (prefix === undefined) return faults;
  return faults.map((fault) => ({
    ...fault,
    field: fault.field === NOWHERE || fault.field === "" ? prefix : `${prefix}.${fault.field}`,
  }));
}

// The path of faults that concern a value as a whole, printed so by the server when it has none.
const NOWHERE = "<nil>";

function ratcheted(schema: JsonSchema, value: unknown, path: string, old: Old): Result {
  const result = check(schema, value, path, old);
  if (result.faults.length > 0 && old !== undefined && equal(old.value, value)) result.faults = [];
  return result;
}

function check(schema: JsonSchema, value: unknown, path: string, old: Old): Result {
  const result: Result = { faults: [], checks: 0 };
  if (value === null || value === undefined) {
    checkNull(schema, path, result);
    checkEnum(schema, value, path, result);
    return result;
  }
  // What is counted, and how often, is the server's: by it the nearest alternative is told.
  result.checks = 4;
  checkType(schema, value, path, result);
  checkCombinations(schema, value, path, old, result);
  if (typeof value === "string") checkString(schema, value, path, result);
  else if (typeof value === "number") checkNumber(schema, value, path, result);
  else if (Array.isArray(value)) checkList(schema, value, path, old, result);
  checkEnum(schema, value, path, result);
  if (isObject(value)) checkObject(schema, value, path, old, result);
  return result;
}

function add(result: Result, ...faults: FieldError[]): void {
  for (const fault of faults) {
    if (!result.faults.some((known) => known.field === fault.field && known.message === fault.message)) {
      result.faults.push(fault);
    }
  }
}

function merge(result: Result, other: Result): void {
  result.checks += other.checks;
  if (other.faults.length > 0) add(result, ...other.faults);
}

/** A path as a fault names it: the value as a whole has none. */
function at(path: string): string {
  return path === "" ? NOWHERE : path;
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema["x-kubernetes-int-or-string"]) return ["integer", "string"];
  return schema.type === undefined ? [] : [schema.type];
}

function checkNull(schema: JsonSchema, path: string, result: Result): void {
  const types = typesOf(schema);
  if (types.length === 0 || schema.nullable) result.checks++;
  else {
    add(result, typeInvalid(at(path), "null", `${path} in body must be of type ${types.join(",")}: "null"`));
  }
}

function checkType(schema: JsonSchema, value: unknown, path: string, result: Result): void {
  const types = typesOf(schema);
  if (types.length === 0) return;
  const actual = typeOf(value);
  const isNumeric = types.includes("number") || types.includes("integer");
  const isFormatted = typeof value === "string" && !isNumeric && schema.format !== undefined &&
    isKnownFormat(schema.format);
  const isRight = isFormatted || types.includes(actual) || (actual === "integer" && types.includes("number"));
  result.checks += isRight ? 2 : 1;
  if (isRight) return;
  add(result, typeInvalid(at(path), actual, `${path} in body must be of type ${types.join(",")}: "${actual}"`));
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkEnum(schema: JsonSchema, value: unknown, path: string, result: Result): void {
  const { enum: values } = schema;
  if (values === undefined || values.length === 0 || values.some((each) => equal(each, value))) return;
  add(result, notSupported(at(path), value, values));
}

function checkString(schema: JsonSchema, value: string, path: string, result: Result): void {
  result.checks++;
  const fault = stringFault(schema, value, path);
  if (fault !== undefined) add(result, fault);
  const { format } = schema;
  if (format === undefined || !isKnownFormat(format)) return;
  result.checks++;
  if (hasFormat(format, value)) return;
  add(result, typeInvalid(at(path), value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`));
}

function stringFault(schema: JsonSchema, value: string, path: string): FieldError | undefined {
  const { maxLength, minLength, pattern } = schema;
  const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length;
  if (maxLength !== undefined && length > maxLength) return tooLong(at(path), maxLength);
  if (minLength !== undefined && length < minLength) {
    return invalid(at(path), value, `${path} in body should be at least ${minLength} chars long`);
  }
  if (pattern !== undefined && pattern !== "" && !regularExpression(pattern).test(value)) {
    return invalid(at(path), value, `${path} in body should match '${pattern}'`);
  }
  return undefined;
}

/**
 * A pattern of a schema, which is RE2, as a regular expression of JavaScript: groups are named otherwise, `\A`, `\z` and `(?i)` at the
 * front are not known there.
 *
 * @param pattern The pattern.
 * @throws {SyntaxError} If it is not one.
 */
export function regularExpression(pattern: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(pattern);
  const source = (flags ? pattern.slice(flags[0].length) : pattern)
    .replaceAll("(?P<", "(?<").replace(/^\\A/, "^").replace(/\\z$/, "$");
  const all = new Set(["u", ...(flags?.[1] ?? "")]);
  try {
    return new RegExp(source, [...all].join(""));
  } catch {
    // RE2 takes escapes of any punctuation, which "u" refuses.
    all.delete("u");
    return new RegExp(source, [...all].join(""));
  }
}

const INT32 = { low: -(2 ** 31), high: 2 ** 31 - 1 };

function fitsInteger(value: number, format: string | undefined): boolean {
  if (!Number.isInteger(value) || Math.abs(value) > 2 ** 63) return false;
  return format !== "int32" || (value >= INT32.low && value <= INT32.high);
}

function checkNumber(schema: JsonSchema, value: number, path: string, result: Result): void {
  result.checks += 2;
  const { type, format, multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum } = schema;
  if (type === "integer" && !fitsInteger(value, format)) {
    const known = format === "int32" || format === "int64" ? `with format ${format}` : "(default format)";
    add(result, invalid(NOWHERE, "", `Checked value must be of type integer ${known} in ${path}`));
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    add(result, invalid(at(path), value, `${path} in body should be a multiple of ${goNumber(multipleOf)}`));
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    const words = exclusiveMaximum ? "less than" : "less than or equal to";
    add(result, invalid(at(path), value, `${path} in body should be ${words} ${goNumber(maximum)}`));
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    const words = exclusiveMinimum ? "greater than" : "greater than or equal to";
    add(result, invalid(at(path), value, `${path} in body should be ${words} ${goNumber(minimum)}`));
  }
}

function isMultiple(value: number, factor: number): boolean {
  const times = factor < 1 ? 1 / factor * value : value / factor;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

function checkList(schema: JsonSchema, value: readonly unknown[], path: string, old: Old, result: Result): void {
  const { items, minItems, maxItems, uniqueItems } = schema;
  if (items !== undefined) {
    value.forEach((item, i) => merge(result, ratcheted(items, item, `${path}[${i}]`, oldItem(schema, item, old))));
  }
  if (minItems !== undefined && value.length < minItems) {
    add(result, invalid(at(path), value.length, `${path} in body should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && value.length > maxItems) add(result, tooMany(at(path), value.length, maxItems));
  if (uniqueItems && value.some((item, i) => value.slice(0, i).some((other) => equal(item, other)))) {
    add(result, invalid(at(path), "", `${path} in body shouldn't contain duplicates`));
  }
  result.checks += 2;
}

/** Which item of the old list this one was: only the keys of a list of type "map" tell. */
function oldItem(schema: JsonSchema, item: unknown, old: Old): Old {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (schema["x-kubernetes-list-type"] !== "map" || keys === undefined) return undefined;
  if (!Array.isArray(old?.value) || !isObject(item)) return undefined;
  const same = old.value.find((other) =>
    isObject(other) && keys.every((key) => equal(own(other, key), own(item, key)))
  );
  return same === undefined ? undefined : { value: same };
}

function checkObject(
  schema: JsonSchema,
  value: Record<string, unknown>,
  path: string,
  old: Old,
  result: Result,
): void {
  const { properties, additionalProperties, minProperties, maxProperties } = schema;
  const size = Object.keys(value).length;
  if (minProperties !== undefined && size < minProperties) {
    add(result, invalid(at(path), size, `${path} in body should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && size > maxProperties) add(result, tooMany(at(path), size, maxProperties));
  for (const key of Object.keys(value)) {
    if (own(properties, key) !== undefined) continue;
    if (additionalProperties === false) {
      add(result, invalid(at(path), "", `${path}.${key} in body is a forbidden property`));
    } else if (isObject(additionalProperties)) {
      merge(result, ratcheted(additionalProperties, value[key], `${path}.${key}`, oldKey(key, path, old)));
    }
  }
  for (const [key, property] of Object.entries(properties ?? {})) {
    if (!Object.hasOwn(value, key) || value[key] === undefined) continue;
    merge(result, ratcheted(property, value[key], path === "" ? key : `${path}.${key}`, oldKey(key, path, old)));
  }
  for (const key of schema.required ?? []) {
    if (own(value, key) === undefined) add(result, required(path === "" ? key : `${path}.${key}`));
  }
  result.checks++;
}

function oldKey(key: string, path: string, old: Old): Old {
  if (path === "" && (key === "kind" || key === "apiVersion")) return undefined;
  if (!isObject(old?.value) || own(old.value, key) === undefined) return undefined;
  return { value: old.value[key] };
}

function checkCombinations(schema: JsonSchema, value: unknown, path: string, old: Old, result: Result): void {
  const { anyOf, oneOf, allOf, not } = schema;
  if (anyOf !== undefined && anyOf.length > 0) checkAnyOf(anyOf, value, path, old, result);
  if (oneOf !== undefined && oneOf.length > 0) checkOneOf(oneOf, value, path, old, result);
  if (allOf !== undefined && allOf.length > 0) checkAllOf(allOf, value, path, old, result);
  if (not !== undefined && check(not, value, path, old).faults.length === 0) {
    add(result, invalid(NOWHERE, "", `"${path}" must not validate the schema (not)`));
  }
}

function checkAnyOf(schemas: readonly JsonSchema[], value: unknown, path: string, old: Old, result: Result): void {
  const results = schemas.map((schema) => check(schema, value, path, old));
  const valid = results.find(({ faults }) => faults.length === 0);
  if (valid !== undefined) return merge(result, valid);
  add(result, invalid(NOWHERE, "", `"${path}" must validate at least one schema (anyOf)`));
  merge(result, nearest(results));
}

function checkOneOf(schemas: readonly JsonSchema[], value: unknown, path: string, old: Old, result: Result): void {
  const results = schemas.map((schema) => check(schema, value, path, old));
  const valid = results.filter(({ faults }) => faults.length === 0);
  const [first] = valid;
  if (valid.length === 1 && first !== undefined) return merge(result, first);
  const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
  add(result, invalid(NOWHERE, "", `"${path}" must validate one and only one schema (oneOf). ${found}`));
  if (valid.length === 0) merge(result, nearest(results));
}

function checkAllOf(schemas: readonly JsonSchema[], value: unknown, path: string, old: Old, result: Result): void {
  const results = schemas.map((schema) => check(schema, value, path, old));
  for (const each of results) merge(result, each);
  const valid = results.filter(({ faults }) => faults.length === 0).length;
  if (valid === schemas.length) return;
  const none = valid === 0 ? ". None validated" : "";
  add(result, invalid(NOWHERE, "", `"${path}" must validate all the schemas (allOf)${none}`));
}

/** The result that got furthest; the first of those that got equally far. */
function nearest(results: readonly Result[]): Result {
  return results.reduce((best, each) => each.checks > best.checks ? each : best);
}
