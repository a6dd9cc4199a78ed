/**
 * How the generated modules make schemas out of text. They were checked when they were generated, so that nothing but putting them together
 * is left to do when they are loaded: under a millisecond for PodSpec and all it is made of.
 */
import type { JsonSchema, Schema } from "../../schema/mod.ts";
import { sound } from "../../schema/_marks.ts";

/** A node in the text: a schema, or the number of another under the keywords beside it. */
type Node = { -readonly [Keyword in keyof JsonSchema]: JsonSchema[Keyword] } & { $ref?: number };

/**
 * A schema out of its text.
 *
 * @typeParam Value The type as written. Nothing fills anything in but the schema's own defaults, so that the value is read as it was written.
 * @param text JSON.
 * @param references What `$ref` counts in the text.
 */
export function builtin<Value>(
  text: string,
  references: readonly JsonSchema[] = [],
): Schema<Value, Value, "required"> {
  return sound(linked(JSON.parse(text), references));
}

/** Links the node in place and freezes it. */
function linked(node: Node, references: readonly JsonSchema[]): JsonSchema {
  if (node.$ref !== undefined) return referred(node, references[node.$ref]!);
  if (node.items) node.items = linked(node.items, references);
  if (node.additionalProperties) node.additionalProperties = linked(node.additionalProperties as Node, references);
  if (node.properties) node.properties = mapped(node.properties, (property) => linked(property, references));
  for (const value of Object.values(node)) if (Array.isArray(value)) Object.freeze(value).forEach(Object.freeze);
  return Object.freeze(node);
}

function referred({ $ref: _, ...keywords }: Node, reference: JsonSchema): JsonSchema {
  return Object.keys(keywords).length === 0 ? reference : Object.freeze({ ...reference, ...keywords });
}

type Properties = { readonly [name: string]: JsonSchema };

function mapped(properties: Properties, change: (property: JsonSchema, name: string) => JsonSchema): Properties {
  const changed: { [name: string]: JsonSchema } = {};
  for (const name of Object.keys(properties)) changed[name] = change(properties[name]!, name);
  return Object.freeze(changed);
}

/**
 * The same schema with descriptions.
 *
 * @param plain The schema.
 * @param text Descriptions by property, as JSON; that of the schema itself stands under "".
 * @param parts By property, the schema with descriptions of what stands there, in its items or in its values.
 */
export function described<Value>(
  plain: Schema<Value, Value, "required">,
  text: string,
  parts: { readonly [property: string]: JsonSchema } = {},
): Schema<Value, Value, "required"> {
  const descriptions: { readonly [property: string]: string } = JSON.parse(text);
  const properties = plain.properties && mapped(plain.properties, (property, name) => {
    const whole = parts[name] ? replaced(property, parts[name]) : property;
    const description = descriptions[name] ?? whole.description;
    return description === undefined ? whole : Object.freeze({ ...whole, description });
  });
  return sound({
    ...plain,
    ...(descriptions[""] && { description: descriptions[""] }),
    ...(properties && { properties }),
  });
}

/** What stands at the end of a list's items and a map's values is replaced, under the keywords that stood there. */
function replaced(node: JsonSchema, part: JsonSchema): JsonSchema {
  if (node.items) return Object.freeze({ ...node, items: replaced(node.items, part) });
  if (typeof node.additionalProperties === "object") {
    return Object.freeze({ ...node, additionalProperties: replaced(node.additionalProperties, part) });
  }
  const { properties, description } = part;
  return Object.freeze({ ...node, ...(description && { description }), ...(properties && { properties }) });
}
