/** What builders ask of the schemas they are made of. */
import { isObject } from "../base/json.ts";
import { marksOf, remark } from "./_seal.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { Properties, Schema } from "./schema.ts";

/**
 * Refuses what is no schema.
 *
 * @param action What is being done, for messages: `make an array schema`.
 * @param place Where it stands in it: `the items`.
 * @param schema What was handed in.
 * @throws {TypeError} If it is none.
 */
export function checkSchema(action: string, place: string, schema: unknown): asserts schema is JsonSchema {
  if (isObject(schema)) return;
  throw new TypeError(`Cannot ${action}: ${place} must be a schema, such as s.string()`);
}

/**
 * Refuses an optional schema where it would mean nothing.
 *
 * @param action What is being done, for messages: `make an array schema`.
 * @param place Where it stands in it: `the items`.
 * @param schema What was handed in.
 * @throws {TypeError} If it is no schema, or an optional one.
 */
export function checkItem(action: string, place: string, schema: unknown): asserts schema is JsonSchema {
  checkSchema(action, place, schema);
  if (marksOf(schema).optional !== true) return;
  throw new TypeError(`Cannot ${action}: ${place} cannot be optional: only a property can`);
}

/**
 * Refuses what is no schema of an object with properties.
 *
 * @param action What is being done, for messages: `extend an object`.
 * @param schema What was handed in.
 * @throws {TypeError} If it is none.
 */
export function checkObject(action: string, schema: unknown): asserts schema is JsonSchema {
  checkSchema(action, "it", schema);
  if (schema.type === "object" && schema.additionalProperties === undefined) return;
  throw new TypeError(`Cannot ${action}: it must be made of an object with properties, such as s.object`);
}

/**
 * An object's properties, each of which knows whether it may be left out: what `required` says, whoever made the object.
 *
 * @param object The schema of an object.
 */
export function propertiesOf(object: JsonSchema): Properties {
  const required = new Set(object.required);
  return Object.fromEntries(
    Object.entries(object.properties ?? {}).map(([name, property]) => {
      const optional = !required.has(name) && property.default === undefined;
      return [name, remark(property, { ...marksOf(property), optional }) as Schema];
    }),
  );
}
