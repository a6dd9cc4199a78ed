/** Rules of an object on which of its properties are there: what a rule of the property itself cannot say, since it is not looked at then. */
import { celName, fieldPath } from "./_cel_name.ts";
import { type Marks, marksOf } from "./_seal.ts";
import type { JsonSchema, ValidationRule } from "./json_schema.ts";

/** Kubernetes' own words, as of the kinds it is delivered with. */
export const IMMUTABLE = "field is immutable";

/**
 * The rules that keep immutable properties from being taken away, or put in later.
 *
 * @param action What is being done, for messages: `make an object schema`.
 * @param properties Names and schemas.
 * @throws {TypeError} If no CEL rule can name such a property.
 */
export function presenceRules(action: string, properties: { readonly [name: string]: JsonSchema }): ValidationRule[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const { optional, immutable } = marksOf(property);
    return optional === true && immutable !== undefined ? [presenceRule(action, name, immutable)] : [];
  });
}

/**
 * How a CEL rule names a property.
 *
 * @param action What is being done, for messages: `make an object schema`.
 * @param property The property's name.
 * @throws {TypeError} If it has no name there.
 */
export function celNameOf(action: string, property: string): string {
  const name = celName(property);
  if (name !== undefined) return name;
  throw new TypeError(
    `Cannot ${action}: no CEL rule can name property "${property}": use letters, digits, "_", "-", "." and "/", not a digit first`,
  );
}

function presenceRule(action: string, property: string, kind: NonNullable<Marks["immutable"]>): ValidationRule {
  const [now, before] = [`has(self.${celNameOf(action, property)})`, `has(oldSelf.${celNameOf(action, property)})`];
  return {
    rule: kind === "as created" ? `${now} == ${before}` : `${now} || !${before}`,
    message: IMMUTABLE,
    fieldPath: fieldPath(property),
  };
}
