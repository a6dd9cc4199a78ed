/** Schemas: `s.*` makes them; `validate`, `withDefaults` and `prune` use them as an API server does. */
export * as s from "./builders.ts";
export type { JsonSchema, ValidationRule } from "./json_schema.ts";
export type { ObjectSchema, Properties } from "./object.ts";
export type { Flatten, InferSchema, InputSchema, Presence, Schema } from "./schema.ts";
export { withDefaults } from "./defaults.ts";
export type { FieldError, FieldErrorReason } from "./field_error.ts";
export { prune, type Pruned } from "./prune.ts";
export { validate, type ValidateOptions } from "./validate.ts";
