/** What builders of collections and objects ask of the schemas they are made of. */
import { isObject } from "../base/json.ts";
import { isOptional } from "./_seal.ts";
import type { JsonSchema } from "./json_schema.ts";

/**
 * Refuses what is no schema.
 *
 * @param what What is being made, for the message: `an array`.
 * @param place Where it stands in it: `the items`.
 * @param schema What was handed in.
 * @throws {TypeError} If it is none.
 */
export function checkSchema(what: string, place: string, schema: JsonSchema): void {
  if (isObject(schema)) return;
  throw new TypeError(`Cannot make ${what} schema: ${place} must be a schema, such as s.string()`);
}

/**
 * Refuses an optional schema where it would mean nothing.
 *
 * @param what What is being made, for the message: `an array`.
 * @param place Where it stands in it: `the items`.
 * @param schema What was handed in.
 * @throws {TypeError} If it is no schema, or an optional one.
 */
export function checkItem(what: string, place: string, schema: JsonSchema): void {
  checkSchema(what, place, schema);
  if (!isOptional(schema)) return;
  throw new TypeError(`Cannot make ${what} schema: ${place} cannot be optional: only a property can`);
}
