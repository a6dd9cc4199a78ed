/** Describes the constraints of a schema in words. */
import type { DefinedVersion } from "../definitions/definition.ts";
import { code, json, text } from "./markdown.ts";

/** A node of a definition's schema. */
export type JsonSchema = DefinedVersion["schema"]["openAPIV3Schema"];

/** A CEL rule of a definition's schema. */
export type ValidationRule = NonNullable<JsonSchema["x-kubernetes-validations"]>[number];

/** The pattern that Kubernetes' own generators write for quantities. */
const QUANTITY_PATTERN = /^\^\(\\\+\|-\)\?.*\[KMGTPE\]i/;

/** Returns whether a value is a quantity such as `500m` or `1Gi`. */
export function isQuantity(schema: JsonSchema): boolean {
  return schema["x-kubernetes-int-or-string"] === true && QUANTITY_PATTERN.test(schema.pattern ?? "");
}

/**
 * Returns the type of a value as `kubectl explain` writes it: `[]string`, `map[string]integer`.
 *
 * @param schema The schema.
 */
export function typeOf(schema: JsonSchema): string {
  if (isQuantity(schema)) return "quantity";
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  const { type, format, items, additionalProperties } = schema;
  if (type === "array") return `[]${typeOf(items ?? {})}`;
  if (type === "object" && typeof additionalProperties === "object") {
    return `map[string]${typeOf(additionalProperties)}`;
  }
  if (type === undefined) return "any";
  return format === undefined ? type : `${type} (${format})`;
}

/**
 * Returns the constraints of a schema, except its type, as sentences in Markdown.
 *
 * @param schema The schema.
 */
export function constraintsOf(schema: JsonSchema): string[] {
  return [
    ...(schema.nullable ? ["May be `null`."] : []),
    ...(schema.enum ? [`${schema.enum.length === 1 ? "Always" : "One of"} ${schema.enum.map(json).join(", ")}.`] : []),
    ...numberOf(schema),
    ...rangeOf("character", schema.minLength, schema.maxLength),
    ...(schema.pattern !== undefined && !isQuantity(schema) ? [`Matches ${code(schema.pattern)}.`] : []),
    ...listOf(schema),
    ...rangeOf("entry", schema.minProperties, schema.maxProperties),
    ...(schema["x-kubernetes-map-type"] === "atomic" ? ["Applied as a whole."] : []),
    ...(schema["x-kubernetes-preserve-unknown-fields"] && schema.properties ? ["Unknown fields are preserved."] : []),
    ...(schema["x-kubernetes-preserve-unknown-fields"] && !schema.properties && schema.type ? ["Any fields."] : []),
    ...(schema["x-kubernetes-embedded-resource"] ? ["An object with `apiVersion`, `kind` and `metadata`."] : []),
    ...combinationsOf(schema),
  ];
}

function numberOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonSchema): string[] {
  const least = minimum === undefined ? [] : [`${exclusiveMinimum ? "above" : "at least"} ${code(String(minimum))}`];
  const most = maximum === undefined ? [] : [`${exclusiveMaximum ? "below" : "at most"} ${code(String(maximum))}`];
  const multiple = multipleOf === undefined ? [] : [`a multiple of ${code(String(multipleOf))}`];
  return sentence([...least, ...most, ...multiple]);
}

function rangeOf(one: string, least: number | undefined, most: number | undefined): string[] {
  const many = one === "entry" ? "entries" : `${one}s`;
  const counted = (count: number) => `${count} ${count === 1 ? one : many}`;
  if (least !== undefined && least === most) return [`Exactly ${counted(least)}.`];
  if (least !== undefined && least > 0 && most !== undefined) return [`${least} to ${counted(most)}.`];
  if (most !== undefined) return [`At most ${counted(most)}.`];
  return least !== undefined && least > 0 ? [`At least ${counted(least)}.`] : [];
}

function listOf(schema: JsonSchema): string[] {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const words = {
    atomic: undefined, // The default.
    set: "Items are unique.",
    map: `Items are identified by ${keys.map(code).join(", ")}.`,
  };
  const listType = schema["x-kubernetes-list-type"];
  return [
    ...rangeOf("item", schema.minItems, schema.maxItems),
    ...(schema.uniqueItems && listType !== "set" ? ["Items are unique."] : []),
    ...(listType ? [words[listType] ?? []].flat() : []),
  ];
}

const COMBINATIONS = {
  allOf: "All of",
  anyOf: "At least one of",
  oneOf: "Exactly one of",
} as const;

function combinationsOf(schema: JsonSchema): string[] {
  const all = Object.entries(COMBINATIONS).flatMap(([keyword, words]) => {
    const branches = schema[keyword as keyof typeof COMBINATIONS];
    // The type already describes int-or-string.
    if (!branches || (keyword === "anyOf" && schema["x-kubernetes-int-or-string"])) return [];
    return [`${words}: ${branches.map(branchOf).join("; ")}.`];
  });
  return schema.not ? [...all, `Not: ${branchOf(schema.not)}.`] : all;
}

/** Shortens the most frequent branch, which only requires fields. */
function branchOf(branch: JsonSchema): string {
  const { required, ...rest } = branch;
  return required && Object.keys(rest).length === 0 ? required.map(code).join(" and ") : json(branch);
}

function sentence(parts: readonly string[]): string[] {
  if (parts.length === 0) return [];
  const joined = parts.join(", ");
  return [`${joined[0]!.toUpperCase()}${joined.slice(1)}.`];
}

/**
 * Returns a CEL rule with its message, as Markdown.
 *
 * @param rule The rule.
 */
export function ruleOf(
  { rule, message, messageExpression, reason, fieldPath, optionalOldSelf }: ValidationRule,
): string {
  const shown = message !== undefined
    ? `${text(message.trim())}: `
    : messageExpression !== undefined
    ? `${code(messageExpression)}: `
    : "";
  const more = [
    ...(fieldPath !== undefined ? [`reported for ${code(fieldPath)}`] : []),
    ...(reason !== undefined ? [`as ${code(reason)}`] : []),
    ...(optionalOldSelf ? ["also when there is no old value"] : []),
  ];
  return `Rule: ${shown}${code(rule)}${more.length > 0 ? ` (${more.join(", ")})` : ""}`;
}
