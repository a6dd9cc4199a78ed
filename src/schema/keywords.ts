/** The options that every builder takes, and how they are written in JSON Schema. */
import type { ExternalDocs, JsonSchema, ValidationRule, ValueValidation } from "./json_schema.ts";

/** Options that say something about a value and check nothing. */
export interface Annotations {
  /** A short name, for people. */
  readonly title?: string;
  /** What the value is for. `kubectl explain` shows it. */
  readonly description?: string;
  /** Why the value should no longer be used and what to use in its place: a last paragraph of the description, `Deprecated: ...`. */
  readonly deprecated?: string;
  /** Where to read on. */
  readonly externalDocs?: ExternalDocs;
}

/** Options that every builder takes. */
export interface Keywords<Value = unknown> extends Annotations {
  /** A value as it may look. */
  readonly example?: Value;
  /** CEL rules that the value must keep to. They are compiled, and checked against the schema, when the kind is made. */
  readonly validations?: readonly ValidationRule[];
  /** What the value must keep to besides: all of these. */
  readonly allOf?: readonly ValueValidation[];
  /** What the value must keep to besides: one of these at least. */
  readonly anyOf?: readonly ValueValidation[];
  /** What the value must keep to besides: exactly one of these. */
  readonly oneOf?: readonly ValueValidation[];
  /** What the value must not keep to. */
  readonly not?: ValueValidation;
}

/** Options of builders that JSON Schema spells otherwise. */
interface Short {
  readonly deprecated?: string;
  readonly validations?: readonly ValidationRule[];
  readonly listType?: "atomic" | "set" | "map";
  readonly listMapKeys?: readonly string[];
  readonly mapType?: "atomic" | "granular";
  readonly preserveUnknownFields?: boolean;
}

/**
 * Options as JSON Schema and Kubernetes spell them.
 *
 * @param action What is being done, for messages: `make a string schema`.
 * @param options The options; others than those known here are taken over.
 * @throws {TypeError} If `deprecated` or `preserveUnknownFields` is not what it must be.
 */
export function lowered(action: string, options: Short & Omit<JsonSchema, "x-kubernetes-validations">): JsonSchema {
  const { deprecated, validations, listType, listMapKeys, mapType, preserveUnknownFields, ...keywords } = options;
  if (deprecated !== undefined && (typeof deprecated !== "string" || deprecated === "")) {
    throw new TypeError(
      `Cannot ${action}: "deprecated" must be a text that says what to use instead: current value is ${
        JSON.stringify(deprecated)
      }`,
    );
  }
  return {
    ...keywords,
    ...(deprecated !== undefined && { description: deprecatedDescription(keywords.description, deprecated) }),
    ...(listType !== undefined && { "x-kubernetes-list-type": listType }),
    ...(listMapKeys !== undefined && { "x-kubernetes-list-map-keys": listMapKeys }),
    ...(mapType !== undefined && { "x-kubernetes-map-type": mapType }),
    // The server keeps what is true and forgets what is false.
    ...(preserveUnknownFields === true && { "x-kubernetes-preserve-unknown-fields": true }),
    ...(validations !== undefined && validations.length > 0 && { "x-kubernetes-validations": validations }),
  };
}

/** As Go's documentation has it: a paragraph of its own, at the end. */
function deprecatedDescription(description: string | undefined, deprecated: string): string {
  const paragraph = `Deprecated: ${deprecated}`;
  return description === undefined || description === "" ? paragraph : `${description}\n\n${paragraph}`;
}
