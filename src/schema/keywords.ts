/** Options of all builders, and their translation to JSON Schema. */
import type { ExternalDocs, JsonSchema, ValidationRule, ValueValidation } from "./json_schema.ts";

/** Options that describe a value without validating it. */
export interface Annotations {
  /** A short name for people. */
  readonly title?: string;
  /** The purpose of the value. `kubectl explain` shows it. */
  readonly description?: string;
  /**
   * The reason not to use the value any more, and its replacement. It becomes the last paragraph of
   * the description: `Deprecated: ...`.
   */
  readonly deprecated?: string;
  /** A link to further documentation. */
  readonly externalDocs?: ExternalDocs;
}

/** Options of all builders. */
export interface Keywords<Value = unknown> extends Annotations {
  /** An example value. */
  readonly example?: Value;
  /** CEL rules. They are compiled and type-checked when the kind is defined. */
  readonly validations?: readonly ValidationRule[];
  /** Additional validations, all of which must hold. */
  readonly allOf?: readonly ValueValidation[];
  /** Additional validations, at least one of which must hold. */
  readonly anyOf?: readonly ValueValidation[];
  /** Additional validations, exactly one of which must hold. */
  readonly oneOf?: readonly ValueValidation[];
  /** A validation that must not hold. */
  readonly not?: ValueValidation;
}

/** Options that have another name in JSON Schema. */
interface RenamedOptions {
  readonly deprecated?: string;
  readonly validations?: readonly ValidationRule[];
  readonly listType?: "atomic" | "set" | "map";
  readonly listMapKeys?: readonly string[];
  readonly mapType?: "atomic" | "granular";
  readonly preserveUnknownFields?: boolean;
}

/**
 * Translates options to keywords of JSON Schema and Kubernetes.
 *
 * @param action The action in messages: `define a string schema`.
 * @param options The options; unknown ones are copied.
 * @throws {TypeError} If `deprecated` or `preserveUnknownFields` is invalid.
 */
export function toJsonSchema(
  action: string,
  options: RenamedOptions & Omit<JsonSchema, "x-kubernetes-validations">,
): JsonSchema {
  const { deprecated, validations, listType, listMapKeys, mapType, preserveUnknownFields, ...keywords } = options;
  if (deprecated !== undefined && (typeof deprecated !== "string" || deprecated === "")) {
    throw new TypeError(
      `Cannot ${action}: "deprecated" must be a string that names the replacement, got ${JSON.stringify(deprecated)}`,
    );
  }
  return {
    ...keywords,
    ...(deprecated !== undefined && { description: deprecatedDescription(keywords.description, deprecated) }),
    ...(listType !== undefined && { "x-kubernetes-list-type": listType }),
    ...(listMapKeys !== undefined && { "x-kubernetes-list-map-keys": listMapKeys }),
    ...(mapType !== undefined && { "x-kubernetes-map-type": mapType }),
    // The server drops `false`.
    ...(preserveUnknownFields === true && { "x-kubernetes-preserve-unknown-fields": true }),
    ...(validations !== undefined && validations.length > 0 && { "x-kubernetes-validations": validations }),
  };
}

/** Follows the convention of Go documentation: a paragraph of its own at the end. */
function deprecatedDescription(description: string | undefined, deprecated: string): string {
  const paragraph = `Deprecated: ${deprecated}`;
  return description === undefined || description === "" ? paragraph : `${description}\n\n${paragraph}`;
}
