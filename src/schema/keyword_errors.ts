/**
 * Validates a value against the keywords of a structural schema, in the words of an API server
 * (`k8s.io/kube-openapi/pkg/validation/validate`,
 * `k8s.io/apiextensions-apiserver/pkg/apiserver/validation`). Errors of an object are in the order
 * of its schema; the server's order is random.
 */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { regularExpression } from "../cel/regular_expression.ts";
import type { Correlation } from "./correlation.ts";
import { type FieldError, invalid, notSupported, required, tooLong, tooMany, typeInvalid } from "./field_error.ts";
import { goJson, goQuote, isInt64 } from "./go_text.ts";
import type { JsonSchema } from "./json_schema.ts";
import { type Finding, isNearlyInteger, numberFindings } from "./number_errors.ts";
import { hasFormat, isKnownFormat } from "./string_formats.ts";

/**
 * Validates a value against the keywords of a schema.
 *
 * @param schema The schema.
 * @param value The value.
 * @param old The correlation with the old value. Errors in unchanged parts are ignored.
 * @returns The errors. Their paths start at the value; an error of the value itself is at `<nil>`.
 */
export function keywordErrors(schema: JsonSchema, value: unknown, old?: Correlation): FieldError[] {
  const result = new Result();
  check(schema, value, "", old, result);
  return result.findings.map(({ error }) => error);
}

/** The path that the server reports for errors of the value itself. */
export const NO_FIELD = "<nil>";

/**
 * The result of a validation. Of the failed alternatives of an `anyOf`, the one with the most
 * checks is reported.
 */
class Result {
  findings: Finding[] = [];
  checks = 0;

  add(detail: string, error: FieldError): void {
    if (!this.findings.some((known) => known.detail === detail)) this.findings.push({ detail, error });
  }

  merge(other: Result): void {
    this.checks += other.checks;
    for (const { detail, error } of other.findings) this.add(detail, error);
  }
}

function check(schema: JsonSchema, value: unknown, path: string, old: Correlation | undefined, result: Result): void {
  const before = result.findings.length;
  if (value === null || value === undefined) {
    checkNull(schema, path, result);
    checkEnum(schema, value, path, result);
  } else checkValue(schema, value, path, old, result);
  if (result.findings.length > before && old?.isSame) result.findings.length = before;
}

function checkValue(schema: JsonSchema, value: unknown, path: string, old: Correlation | undefined, result: Result) {
  // Counts checks exactly as the server does: the count selects the alternative to report.
  result.checks += 4;
  const types = typesOf(schema);
  const format = formatOf(schema, types);
  checkType(types, format, value, path, result);
  checkCombinations(schema, value, path, result);
  if (typeof value === "string") checkString(schema, format, value, path, result);
  else if (typeof value === "number") {
    result.checks += 2;
    for (const each of numberFindings(schema, types, format, value, path, fieldAt(path))) {
      result.add(each.detail, each.error);
    }
  } else if (Array.isArray(value)) checkList(schema, value, path, old, result);
  checkEnum(schema, value, path, result);
  if (isObject(value)) checkObject(schema, value, path, old, result);
}

/** Returns the path of an error: without a leading dot, and `<nil>` for the value itself. */
function fieldAt(path: string): string {
  if (path === "" || path === ".") return NO_FIELD;
  return path.startsWith(".") ? path.slice(1) : path;
}

const INT_OR_STRING = ["integer", "string"];
const SINGLE_TYPES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ["string", "integer", "number", "boolean", "array", "object"].map((type) => [type, [type]]),
);

function typesOf({ type, "x-kubernetes-int-or-string": isIntOrString }: JsonSchema): readonly string[] {
  if (isIntOrString) return INT_OR_STRING;
  return type === undefined ? [] : SINGLE_TYPES[type] ?? [type];
}

/** Returns the format to check. A format that is unknown for the type is only an annotation. */
function formatOf({ format }: JsonSchema, types: readonly string[]): string {
  if (format === undefined) return "";
  switch (types.length === 1 ? types[0] : "string") {
    case "string":
      return isKnownFormat(format) ? format : "";
    case "integer":
      return format === "int32" || format === "int64" ? format : "";
    case "number":
      return format === "float" || format === "double" ? format : "";
    default:
      return "";
  }
}

function checkNull(schema: JsonSchema, path: string, result: Result): void {
  const types = typesOf(schema);
  if (types.length === 0 || schema.nullable) result.checks++;
  else addWrongType(types.join(","), "null", path, result);
}

function addWrongType(wanted: string, actual: string, path: string, result: Result): void {
  const detail = `${path} in body must be of type ${wanted}: ${goQuote(actual)}`;
  result.add(detail, typeInvalid(fieldAt(path), actual, detail));
}

function checkType(types: readonly string[], format: string, value: unknown, path: string, result: Result): void {
  if (types.length === 0 && format === "") return;
  result.checks++;
  const [actual, actualFormat] = typeOf(value);
  const isNumeric = types.includes("number") || types.includes("integer");
  const isMatch = types.includes(actual) || (actual === "integer" && types.includes("number")) ||
    (actual === "number" && types.includes("integer") && isNearlyInteger(value as number));
  // Formats of strings are checked elsewhere; formats of lists are ignored.
  const isTextual = actual === "string" || actual === "array";
  if (format !== "" && !isTextual && !isMatch && actualFormat !== format) {
    return addWrongType(format, actualFormat, path, result);
  }
  if (isMatch || (format !== "" && !isNumeric && isTextual)) result.checks++;
  else addWrongType(types.join(","), actual, path, result);
}

/** Returns the type of a value and the format that Go assigns to it. */
function typeOf(value: unknown): readonly [type: string, format: string] {
  if (Array.isArray(value)) return ["array", ""];
  if (typeof value === "number") return isInt64(value) ? ["integer", "int64"] : ["number", "float64"];
  return [typeof value, ""];
}

function checkEnum(schema: JsonSchema, value: unknown, path: string, result: Result): void {
  const { enum: values } = schema;
  if (values === undefined || values.length === 0 || values.some((each) => isEnumValue(value, each))) return;
  result.add(`${path} in body should be one of ${goJson(values)}`, notSupported(fieldAt(path), value ?? null, values));
}

/**
 * Returns whether a value is in an enum after Go's type conversion: a float is truncated, and a
 * number becomes the character of that code.
 */
function isEnumValue(value: unknown, wanted: unknown): boolean {
  if (value === null || value === undefined || wanted === null) return false;
  if (typeof value === "number" && typeof wanted === "number") {
    return value === wanted || (isInt64(wanted) && !isInt64(value) && Math.trunc(value) === wanted);
  }
  if (typeof value === "number" && typeof wanted === "string") return isInt64(value) && goCharacter(value) === wanted;
  return equal(value, wanted);
}

function goCharacter(code: number): string {
  const isCharacter = code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}

function checkString(schema: JsonSchema, format: string, value: string, path: string, result: Result): void {
  result.checks++;
  checkText(schema, value, path, result);
  if (format === "" || !isKnownFormat(format)) return;
  result.checks++;
  if (!hasFormat(format, value)) addWrongType(format, value, path, result);
}

function checkText(schema: JsonSchema, value: string, path: string, result: Result): void {
  const { maxLength, minLength, pattern } = schema;
  if (maxLength !== undefined && !hasAtMost(value, maxLength)) {
    return result.add(`${path} in body should be at most ${maxLength} chars long`, tooLong(fieldAt(path), maxLength));
  }
  if (minLength !== undefined && hasAtMost(value, minLength - 1)) {
    const detail = `${path} in body should be at least ${minLength} chars long`;
    return result.add(detail, invalid(fieldAt(path), value, detail));
  }
  if (pattern === undefined || pattern === "") return;
  const unmatched = unmatchedPattern(pattern, value);
  if (unmatched === undefined) return;
  const detail = `${path} in body should match '${unmatched}'`;
  result.add(detail, invalid(fieldAt(path), value, detail));
}

/** Returns the pattern to quote in a message, or `undefined` if the string matches it. */
function unmatchedPattern(pattern: string, text: string): string | undefined {
  try {
    return regularExpression(pattern).test(text) ? undefined : pattern;
  } catch (error) {
    return `${pattern}, but pattern is invalid: ${error instanceof Error ? error.message : error}`;
  }
}

/** Returns whether a string has at most `limit` code points. */
function hasAtMost(text: string, limit: number): boolean {
  if (text.length <= limit) return true;
  if (text.length > 2 * limit) return false;
  let length = 0;
  for (const _ of text) if (++length > limit) return false;
  return true;
}

function checkList(
  schema: JsonSchema,
  value: readonly unknown[],
  path: string,
  old: Correlation | undefined,
  result: Result,
): void {
  const { items, minItems, maxItems, uniqueItems } = schema;
  if (items !== undefined) {
    value.forEach((item, i) => check(items, item, `${path}[${i}]`, old?.index(i), result));
  }
  if (minItems !== undefined && value.length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    result.add(detail, invalid(fieldAt(path), value.length, detail));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    const detail = `${path} in body should have at most ${maxItems} items`;
    result.add(detail, tooMany(fieldAt(path), value.length, maxItems));
  }
  if (uniqueItems && value.some((item, i) => value.slice(0, i).some((other) => equal(item, other)))) {
    const detail = `${path} in body shouldn't contain duplicates`;
    result.add(detail, invalid(fieldAt(path), "", detail));
  }
  result.checks += 2;
}

function checkObject(
  schema: JsonSchema,
  value: Record<string, unknown>,
  path: string,
  old: Correlation | undefined,
  result: Result,
): void {
  const { properties, additionalProperties, minProperties, maxProperties } = schema;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  if (minProperties !== undefined && keys.length < minProperties) {
    const detail = `${path} in body should have at least ${minProperties} properties`;
    result.add(detail, invalid(fieldAt(path), keys.length, detail));
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    const detail = `${path} in body should have at most ${maxProperties} properties`;
    result.add(detail, tooMany(fieldAt(path), keys.length, maxProperties));
  }
  if (additionalProperties === false || isObject(additionalProperties)) {
    for (const key of keys) {
      if (own(properties, key) !== undefined) continue;
      if (additionalProperties === false) {
        const detail = `${path}.${key} in body is a forbidden property`;
        result.add(detail, invalid(fieldAt(path), key, detail));
      } else check(additionalProperties, value[key], `${path}.${key}`, oldKey(key, path, old), result);
    }
  }
  for (const [key, property] of Object.entries(properties ?? {})) {
    const part = own(value, key);
    if (part === undefined) continue;
    check(property, part, path === "" ? key : `${path}.${key}`, oldKey(key, path, old), result);
  }
  for (const key of schema.required ?? []) {
    if (own(value, key) !== undefined) continue;
    result.add(`${path}.${key} in body is required`, required(fieldAt(`${path}.${key}`)));
  }
  result.checks++;
}

/**
 * Returns the old value of a field. It is unknown for `apiVersion` and `kind`, because the old
 * object was converted to the new version.
 */
function oldKey(key: string, path: string, old: Correlation | undefined): Correlation | undefined {
  return path === "" && (key === "kind" || key === "apiVersion") ? undefined : old?.key(key);
}

/** Validates combinations. Errors in unchanged parts are reported, too, as on the server. */
function checkCombinations(schema: JsonSchema, value: unknown, path: string, result: Result): void {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length > 0) checkAnyOf(anyOf, value, path, result);
  if (oneOf.length > 0) checkOneOf(oneOf, value, path, result);
  if (allOf.length > 0) checkAllOf(allOf, value, path, result);
  if (not !== undefined && checkAlternative(not, value, path).findings.length === 0) {
    addWithoutField(`${goQuote(path)} must not validate the schema (not)`, result);
  }
}

function checkAlternative(schema: JsonSchema, value: unknown, path: string): Result {
  const result = new Result();
  check(schema, value, path, undefined, result);
  return result;
}

function addWithoutField(detail: string, result: Result): void {
  result.add(detail, invalid(NO_FIELD, "", detail));
}

function checkAnyOf(schemas: readonly JsonSchema[], value: unknown, path: string, result: Result): void {
  const results: Result[] = [];
  for (const schema of schemas) {
    const each = checkAlternative(schema, value, path);
    if (each.findings.length === 0) return result.merge(each);
    results.push(each);
  }
  addWithoutField(`${goQuote(path)} must validate at least one schema (anyOf)`, result);
  result.merge(mostChecked(results));
}

function checkOneOf(schemas: readonly JsonSchema[], value: unknown, path: string, result: Result): void {
  const results = schemas.map((schema) => checkAlternative(schema, value, path));
  const valid = results.filter(({ findings }) => findings.length === 0);
  const [first] = valid;
  if (valid.length === 1 && first !== undefined) return result.merge(first);
  const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
  addWithoutField(`${goQuote(path)} must validate one and only one schema (oneOf). ${found}`, result);
  if (valid.length === 0) result.merge(mostChecked(results));
}

function checkAllOf(schemas: readonly JsonSchema[], value: unknown, path: string, result: Result): void {
  const results = schemas.map((schema) => checkAlternative(schema, value, path));
  for (const each of results) result.merge(each);
  const valid = results.filter(({ findings }) => findings.length === 0).length;
  if (valid === schemas.length) return;
  addWithoutField(
    `${goQuote(path)} must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`,
    result,
  );
}

/** Returns the result with the most checks; the first one if several have as many. */
function mostChecked(results: readonly Result[]): Result {
  return results.reduce((best, each) => each.checks > best.checks ? each : best);
}
