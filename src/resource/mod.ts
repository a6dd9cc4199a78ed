/** Kinds: their names, types and CustomResourceDefinitions. */
export type { CheckedColumns, Column, Columns } from "./columns.ts";
export type * from "./kind.ts";
export { pluralOf } from "./plural.ts";
export { resource } from "./resource.ts";
export type { OtherVersion, Resource, ResourceInput, ResourceObject, ResourceOptions } from "./resource.ts";
export type { Scale } from "./scale.ts";
