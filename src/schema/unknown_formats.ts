/**
 * Formats that an API server accepts without validating them
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/validation`, formats.go).
 */
import { isObject } from "../base/json.ts";
import type { JsonSchema } from "./json_schema.ts";
import { isKnownFormat } from "./string_formats.ts";

/**
 * Returns the formats in a schema that no server validates.
 *
 * @param schema The schema.
 * @returns The formats in the order of the schema, including duplicates.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = {
 *   type: "object",
 *   properties: {
 *     a: { type: "string", format: "colour" },
 *     b: { type: "integer", format: "int32" },
 *   },
 * } as const;
 * assert.deepEqual(unknownFormats(schema), ["colour"]);
 * ```
 */
export function unknownFormats(schema: JsonSchema): string[] {
  const { format, items, allOf = [], anyOf = [], oneOf = [], not, properties = {}, additionalProperties } = schema;
  const parts = [items, ...allOf, ...anyOf, ...oneOf, not, ...Object.values(properties), additionalProperties];
  const nested = parts.flatMap((part) => isObject(part) ? unknownFormats(part as JsonSchema) : []);
  return format !== undefined && !isValidated(schema, format) ? [format, ...nested] : nested;
}

function isValidated({ type }: JsonSchema, format: string): boolean {
  switch (type) {
    case undefined:
    case "string":
      return isKnownFormat(format);
    case "integer":
      return format === "int32" || format === "int64";
    case "number":
      return format === "float" || format === "double";
    default:
      return false;
  }
}
