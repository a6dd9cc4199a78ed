/** The builders of schemas, one after the other: what stands behind `s`. */
export { boolean, integer, number, string } from "./scalars.ts";
export { enumeration as enum, literal } from "./choices.ts";
export { bytes, dateTime, duration, quantity } from "./wire_types.ts";
export { array, map } from "./collections.ts";
export { object } from "./object.ts";
export { embeddedResource } from "./embedded.ts";
export { extend, omit, partial, pick } from "./reshape.ts";
export { atLeastOneOf, atMostOneOf, exactlyOneOf } from "./alternatives.ts";
export { immutable, nullable, optional, withKeywords as with } from "./modifiers.ts";
export { anything, intOrString } from "./open.ts";
export { raw } from "./raw.ts";
