/** The builders of schemas, one after the other: what stands behind `s`. */
export { boolean, integer, number, string } from "./scalars.ts";
export { enumeration as enum, literal } from "./choices.ts";
export { array, map } from "./collections.ts";
export { object } from "./object.ts";
export { nullable, optional } from "./modifiers.ts";
export { anything, intOrString } from "./open.ts";
