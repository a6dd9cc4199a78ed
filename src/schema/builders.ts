/** The builders of schemas: the contents of `s`. */
export type { Annotations, Keywords } from "./keywords.ts";
export type { ExternalDocs, ValidationReason, ValidationRule, ValueValidation } from "./json_schema.ts";
export type { Presence, Properties } from "./schema.ts";
export { boolean, type BooleanOptions, integer, number, type NumberOptions, string } from "./scalars.ts";
export type { StringFormat, StringOptions } from "./scalars.ts";
export { type ChoiceOptions, enumeration as enum, literal } from "./choices.ts";
export { bytes, dateTime, duration, quantity, type QuantityOptions, type TextOptions } from "./wire_types.ts";
export { array, type ArrayOptions, map, type MapOptions } from "./collections.ts";
export { object, type ObjectOptions } from "./object.ts";
export { type EmbeddedMetadata, type EmbeddedObject, embeddedResource, type OpenEmbeddedObject } from "./embedded.ts";
export { extend, omit, partial, pick } from "./reshape.ts";
export { type AlternativeOptions, atLeastOneOf, atMostOneOf, exactlyOneOf } from "./alternatives.ts";
export {
  immutable,
  type ImmutableOptions,
  nullable,
  optional,
  withKeywords as with,
  type WithOptions,
} from "./modifiers.ts";
export { anything, type AnythingOptions, intOrString, type IntOrStringOptions } from "./open.ts";
export { raw } from "./raw.ts";
