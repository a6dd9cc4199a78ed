/**
 * Schemas: `s.*` builds them; `validate`, `applyDefaults` and `prune` apply them as an API server
 * does.
 */
export * as s from "./builders.ts";
export type { ExternalDocs, JsonSchema, ValidationReason, ValidationRule, ValueValidation } from "./json_schema.ts";
export type { Flatten, InferSchema, InputSchema, Presence, Properties, Schema } from "./schema.ts";
export type { EmbeddedMetadata, EmbeddedObject } from "./embedded.ts";
export { applyDefaults } from "./defaults.ts";
export type { FieldError, FieldErrorReason } from "./field_error.ts";
export { prune, type Pruned } from "./prune.ts";
export { validate, type ValidateOptions } from "./validate.ts";
