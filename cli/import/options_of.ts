/** Converts keywords of a schema to options of a builder. */
import type { JsonSchema } from "@op/sdk/resource";
import { type Expression, literal, prose, record, type RecordExpression } from "./expression.ts";

/** Options by keyword, in the order in which they are written. */
const OPTIONS: { readonly [keyword: string]: string } = {
  title: "title",
  description: "description",
  externalDocs: "externalDocs",
  type: "type",
  format: "format",
  enum: "enum",
  minimum: "minimum",
  exclusiveMinimum: "exclusiveMinimum",
  maximum: "maximum",
  exclusiveMaximum: "exclusiveMaximum",
  multipleOf: "multipleOf",
  minLength: "minLength",
  maxLength: "maxLength",
  pattern: "pattern",
  minItems: "minItems",
  maxItems: "maxItems",
  minProperties: "minProperties",
  maxProperties: "maxProperties",
  "x-kubernetes-list-type": "listType",
  "x-kubernetes-list-map-keys": "listMapKeys",
  "x-kubernetes-map-type": "mapType",
  "x-kubernetes-preserve-unknown-fields": "preserveUnknownFields",
  default: "default",
  example: "example",
  "x-kubernetes-validations": "validations",
  allOf: "allOf",
  anyOf: "anyOf",
  oneOf: "oneOf",
  not: "not",
};

/** Keywords that every builder accepts as options. */
const COMMON_KEYWORDS: readonly string[] = [
  "title",
  "description",
  "externalDocs",
  "default",
  "example",
  "x-kubernetes-validations",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
];

/**
 * Keywords with a long string, which may be split over several lines because no type depends on it.
 */
const PROSE: ReadonlySet<string> = new Set([
  "title",
  "description",
  "rule",
  "message",
  "messageExpression",
]);

/** The paragraph that the option `deprecated` appends to a description. */
const DEPRECATED = /^(?:(.+)\n\n)?Deprecated: (.+)$/s;

/**
 * Returns keywords as options of a builder.
 *
 * @param schema The schema.
 * @param structure Keywords that the builder sets itself, which need no option.
 * @param own Keywords that this builder accepts in addition to those of all builders.
 * @returns The options, or `undefined` if the builder does not accept a keyword.
 */
export function optionsOf(
  schema: JsonSchema,
  structure: readonly string[],
  own: readonly string[] = [],
): RecordExpression | undefined {
  const entries: [string, Expression][] = [];
  const remaining = new Set(Object.keys(schema).filter((key) => !structure.includes(key)));
  for (const [keyword, option] of Object.entries(OPTIONS)) {
    if (!remaining.delete(keyword)) continue;
    if (!COMMON_KEYWORDS.includes(keyword) && !own.includes(keyword)) return undefined;
    const value = (schema as Record<string, unknown>)[keyword];
    const [, before, instead] = (keyword === "description" && DEPRECATED.exec(String(value))) || [];
    // `s.with` has no structure. Without a `description` option, it would append the paragraph to
    // the description of the schema that it wraps.
    if (instead !== undefined && (before !== undefined || structure.length > 0)) {
      if (before !== undefined) entries.push(["description", prose(before)]);
      entries.push(["deprecated", prose(instead)]);
      continue;
    }
    entries.push([option, keyword === "default" || keyword === "example" ? literal(value) : withProse(keyword, value)]);
  }
  return remaining.size > 0 ? undefined : { type: "record", entries };
}

/**
 * Returns the options as arguments of a builder: no argument if there are no options.
 *
 * @param options The options.
 */
export function optionalArgument(options: RecordExpression): RecordExpression[] {
  return options.entries.length === 0 ? [] : [options];
}

function withProse(key: string, value: unknown): Expression {
  if (typeof value === "string" && PROSE.has(key)) return prose(value);
  if (key !== "x-kubernetes-validations" || !Array.isArray(value)) return literal(value);
  return {
    type: "list",
    items: value.map((rule) =>
      record(
        Object.fromEntries(
          Object.entries(rule as object)
            .sort(([a], [b]) => RULE_KEYS.indexOf(a) - RULE_KEYS.indexOf(b))
            .map(([key, value]) => [key, withProse(key, value)] as const),
        ),
      )
    ),
  };
}

const RULE_KEYS = ["rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"];
