/**
 * Rules about the presence of properties. They are rules of the object, because a server does not
 * evaluate the rules of a missing property.
 */
import { celName, fieldPath } from "./_cel_name.ts";
import { type Marks, marksOf } from "./_seal.ts";
import type { JsonSchema, ValidationRule } from "./json_schema.ts";

/** The message of Kubernetes' own kinds. */
export const IMMUTABLE = "field is immutable";

/**
 * Returns the rules that prevent immutable properties from being removed, or added later.
 *
 * @param action The action in messages: `define an object schema`.
 * @param properties Names and schemas.
 * @throws {TypeError} If CEL cannot spell the name of such a property.
 */
export function presenceRules(action: string, properties: { readonly [name: string]: JsonSchema }): ValidationRule[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const { optional, immutable } = marksOf(property);
    return optional === true && immutable !== undefined ? [presenceRule(action, name, immutable)] : [];
  });
}

/**
 * Returns the name of a property in a CEL rule.
 *
 * @param action The action in messages: `define an object schema`.
 * @param property The property's name.
 * @throws {TypeError} If CEL cannot spell the name.
 */
export function celNameOf(action: string, property: string): string {
  const name = celName(property);
  if (name !== undefined) return name;
  throw new TypeError(
    `Cannot ${action}: the name of property "${property}" cannot be used in CEL. Use letters, digits, "_", "-", "." and "/", and no leading digit`,
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
