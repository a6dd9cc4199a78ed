/**
 * Functions with which the generated modules build schemas from JSON. The schemas were validated
 * when they were generated. Loading only parses them and resolves references, which takes less than
 * a millisecond for PodSpec and all its parts.
 */
import type { JsonSchema, Schema } from "../../schema/mod.ts";
import { markKnownValid } from "../../schema/_marks.ts";

/**
 * A node of the JSON: a schema, or a reference to another schema by index, with additional
 * keywords.
 */
type Node = { -readonly [Keyword in keyof JsonSchema]: JsonSchema[Keyword] } & { $ref?: number };

/**
 * Builds a schema from JSON.
 *
 * @typeParam Value Type of the values as written. Values are read with the same type, because only
 * the schema's own defaults are set.
 * @param text The JSON.
 * @param references The schemas that `$ref` refers to by index.
 */
export function builtin<Value>(
  text: string,
  references: readonly JsonSchema[] = [],
): Schema<Value, Value, "required"> {
  return markKnownValid(resolveReferences(JSON.parse(text), references));
}

/** Resolves the references of a node in place, and freezes it. */
function resolveReferences(node: Node, references: readonly JsonSchema[]): JsonSchema {
  if (node.$ref !== undefined) return withKeywords(node, references[node.$ref]!);
  if (node.items) node.items = resolveReferences(node.items, references);
  if (node.additionalProperties) {
    node.additionalProperties = resolveReferences(node.additionalProperties as Node, references);
  }
  if (node.properties) {
    node.properties = mapProperties(node.properties, (property) => resolveReferences(property, references));
  }
  for (const value of Object.values(node)) if (Array.isArray(value)) Object.freeze(value).forEach(Object.freeze);
  return Object.freeze(node);
}

function withKeywords({ $ref: _, ...keywords }: Node, reference: JsonSchema): JsonSchema {
  return Object.keys(keywords).length === 0 ? reference : Object.freeze({ ...reference, ...keywords });
}

type Properties = { readonly [name: string]: JsonSchema };

function mapProperties(properties: Properties, change: (property: JsonSchema, name: string) => JsonSchema): Properties {
  const changed: { [name: string]: JsonSchema } = {};
  for (const name of Object.keys(properties)) changed[name] = change(properties[name]!, name);
  return Object.freeze(changed);
}

/**
 * Adds descriptions to a schema.
 *
 * @param plain The schema.
 * @param text Descriptions by property as JSON; that of the schema itself has the key "".
 * @param parts Schemas with descriptions by property, for the property, its items or its values.
 */
export function described<Value>(
  plain: Schema<Value, Value, "required">,
  text: string,
  parts: { readonly [property: string]: JsonSchema } = {},
): Schema<Value, Value, "required"> {
  const descriptions: { readonly [property: string]: string } = JSON.parse(text);
  const properties = plain.properties && mapProperties(plain.properties, (property, name) => {
    const whole = parts[name] ? replaceInnermost(property, parts[name]) : property;
    const description = descriptions[name] ?? whole.description;
    return description === undefined ? whole : Object.freeze({ ...whole, description });
  });
  return markKnownValid({
    ...plain,
    ...(descriptions[""] && { description: descriptions[""] }),
    ...(properties && { properties }),
  });
}

/** Replaces the innermost schema of a list's items or a map's values, and keeps its keywords. */
function replaceInnermost(node: JsonSchema, part: JsonSchema): JsonSchema {
  if (node.items) return Object.freeze({ ...node, items: replaceInnermost(node.items, part) });
  if (typeof node.additionalProperties === "object") {
    return Object.freeze({ ...node, additionalProperties: replaceInnermost(node.additionalProperties, part) });
  }
  const { properties, description } = part;
  return Object.freeze({ ...node, ...(description && { description }), ...(properties && { properties }) });
}
