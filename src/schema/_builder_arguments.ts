/** Checks of the schemas that are passed to builders. */
import { isObject } from "../base/json.ts";
import { marksOf, withMarks } from "./_seal.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { Properties, Schema } from "./schema.ts";

/**
 * Requires a schema.
 *
 * @param action The action in messages: `define an array schema`.
 * @param subject The name of the schema in messages: `the items`.
 * @param schema The argument.
 * @throws {TypeError} If it is not a schema.
 */
export function checkSchema(action: string, subject: string, schema: unknown): asserts schema is JsonSchema {
  if (isObject(schema)) return;
  throw new TypeError(`Cannot ${action}: ${subject} must be a schema, such as s.string()`);
}

/**
 * Requires a schema that is not optional.
 *
 * @param action The action in messages: `define an array schema`.
 * @param subject The name of the schema in messages: `the items`.
 * @param schema The argument.
 * @throws {TypeError} If it is not a schema, or is optional.
 */
export function checkItem(action: string, subject: string, schema: unknown): asserts schema is JsonSchema {
  checkSchema(action, subject, schema);
  if (marksOf(schema).optional !== true) return;
  throw new TypeError(`Cannot ${action}: ${subject} must not be optional: only properties can be`);
}

/**
 * Requires the schema of an object with properties.
 *
 * @param action The action in messages: `extend an object`.
 * @param schema The argument.
 * @throws {TypeError} If it is not such a schema.
 */
export function checkObject(action: string, schema: unknown): asserts schema is JsonSchema {
  checkSchema(action, "it", schema);
  if (schema.type === "object" && schema.additionalProperties === undefined) return;
  throw new TypeError(
    `Cannot ${action}: the argument must be the schema of an object with properties, such as s.object()`,
  );
}

/**
 * Returns an object's properties, marked as optional or not by the object's `required`. This works
 * for any object schema, not only for those from builders.
 *
 * @param object The schema of an object.
 */
export function propertiesOf(object: JsonSchema): Properties {
  const required = new Set(object.required);
  return Object.fromEntries(
    Object.entries(object.properties ?? {}).map(([name, property]) => {
      const optional = !required.has(name) && property.default === undefined;
      return [name, withMarks(property, { ...marksOf(property), optional }) as Schema];
    }),
  );
}
