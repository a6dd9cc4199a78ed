/**
 * A structural schema in a CustomResourceDefinition (`JSONSchemaProps` of apiextensions.k8s.io/v1).
 * The `x-kubernetes-` keywords are documented at
 * https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#jsonschemaprops-v1-apiextensions-k8s-io.
 */
export interface JsonSchema {
  /** The type of the value. Absent for an int-or-string and for arbitrary values. */
  readonly type?: "string" | "integer" | "number" | "boolean" | "array" | "object";
  /** A short name for people. It is not validated. */
  readonly title?: string;
  /** The purpose of the value. `kubectl explain` prints it. */
  readonly description?: string;
  /**
   * The format of a string or number: `date-time`, `int64`. The server does not validate unknown
   * formats.
   */
  readonly format?: string;
  /** The value that the server sets if it is omitted, on writes and reads. It must be valid. */
  readonly default?: unknown;
  /** An example value. It is not validated. */
  readonly example?: unknown;
  /** A link to further documentation. It is not validated. */
  readonly externalDocs?: ExternalDocs;
  /** The allowed values. */
  readonly enum?: readonly unknown[];
  /** Whether null is allowed. If not, a null property counts as missing. @default {false} */
  readonly nullable?: boolean;
  /** The minimum. */
  readonly minimum?: number;
  /** The maximum. */
  readonly maximum?: number;
  /**
   * Whether `minimum` itself is rejected: a boolean, as in draft 4 of JSON Schema. @default {false}
   */
  readonly exclusiveMinimum?: boolean;
  /** Whether `maximum` itself is rejected. @default {false} */
  readonly exclusiveMaximum?: boolean;
  /** A number above zero. Valid values are multiples of it. */
  readonly multipleOf?: number;
  /** Minimum length of a string, in code points. */
  readonly minLength?: number;
  /** Maximum length of a string, in code points. Cost estimates of CEL rules depend on it. */
  readonly maxLength?: number;
  /** An RE2 regular expression. It matches anywhere in a string unless it is anchored. */
  readonly pattern?: string;
  /** The schema of the items. A server requires it for lists. */
  readonly items?: JsonSchema;
  /** Minimum number of items. */
  readonly minItems?: number;
  /** Maximum number of items. Cost estimates of CEL rules depend on it. */
  readonly maxItems?: number;
  /** A server rejects `true`. Use the list type `set` instead. */
  readonly uniqueItems?: boolean;
  /**
   * The properties of an object by name. A server drops all others. It excludes
   * `additionalProperties`.
   */
  readonly properties?: { readonly [name: string]: JsonSchema };
  /** Names of the required properties. */
  readonly required?: readonly string[];
  /** The schema of a map's values; `true` for arbitrary values. It excludes `properties`. */
  readonly additionalProperties?: JsonSchema | boolean;
  /** Minimum number of properties or keys. */
  readonly minProperties?: number;
  /** Maximum number of properties or keys. Cost estimates of CEL rules depend on it. */
  readonly maxProperties?: number;
  /** Additional validations, all of which must hold. They declare no types. */
  readonly allOf?: readonly JsonSchema[];
  /** Additional validations, at least one of which must hold. */
  readonly anyOf?: readonly JsonSchema[];
  /** Additional validations, exactly one of which must hold. */
  readonly oneOf?: readonly JsonSchema[];
  /** A validation that must not hold. */
  readonly not?: JsonSchema;
  /** Retains undeclared properties, which are dropped otherwise. */
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  /**
   * Declares an embedded Kubernetes object, whose `apiVersion`, `kind` and `metadata` are
   * validated.
   */
  readonly "x-kubernetes-embedded-resource"?: boolean;
  /** Declares an integer or a string. It replaces `type`. */
  readonly "x-kubernetes-int-or-string"?: boolean;
  /**
   * The merge strategy of a list under server-side apply: as a whole, by equal items, or by equal
   * keys. @default {"atomic"}
   */
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  /** Names of the properties that identify the items of a list of the type `map`. */
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  /**
   * The ownership of an object under server-side apply: each property separately, or the object as
   * a whole. @default {"granular"}
   */
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  /** CEL rules. They are evaluated if the value is otherwise valid. */
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** A link to further documentation. */
export interface ExternalDocs {
  /** The description of the link. */
  readonly description?: string;
  /** The URL. */
  readonly url?: string;
}

/** A CEL rule of a schema: one entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  /**
   * A CEL expression over `self` that is true for valid values. A rule that uses `oldSelf` is
   * evaluated only on updates.
   */
  readonly rule: string;
  /** The message for users. @default {"failed rule: " and the rule} */
  readonly message?: string;
  /** A CEL expression over `self` that returns the message. If it fails, `message` is used. */
  readonly messageExpression?: string;
  /** The machine-readable type of the error. @default {"FieldValueInvalid"} */
  readonly reason?: ValidationReason;
  /** The path of the invalid field, relative to the value of the rule: `.spec.host`, `['a-b']`. */
  readonly fieldPath?: string;
  /**
   * Whether a rule with `oldSelf` is also evaluated without an old value. `oldSelf` is then a CEL
   * optional.
   */
  readonly optionalOldSelf?: boolean;
}

/** The machine-readable error types that a rule may use. */
export type ValidationReason =
  | "FieldValueInvalid"
  | "FieldValueForbidden"
  | "FieldValueRequired"
  | "FieldValueDuplicate";

/**
 * A value validation in `allOf`, `anyOf`, `oneOf` and `not`. It has only validating keywords: a
 * structural schema declares types, descriptions and storage outside of them.
 */
export interface ValueValidation {
  /** The format of a string or number, such as `ipv4`. */
  readonly format?: string;
  /** The allowed values. */
  readonly enum?: readonly unknown[];
  /** The minimum. */
  readonly minimum?: number;
  /** The maximum. */
  readonly maximum?: number;
  /** Whether `minimum` itself is rejected. @default {false} */
  readonly exclusiveMinimum?: boolean;
  /** Whether `maximum` itself is rejected. @default {false} */
  readonly exclusiveMaximum?: boolean;
  /** A number above zero. Valid values are multiples of it. */
  readonly multipleOf?: number;
  /** Minimum length of a string, in code points. */
  readonly minLength?: number;
  /** Maximum length of a string, in code points. */
  readonly maxLength?: number;
  /** An RE2 regular expression. It matches anywhere in a string unless it is anchored. */
  readonly pattern?: string;
  /** The validation of each item of a list. */
  readonly items?: ValueValidation;
  /** Minimum number of items. */
  readonly minItems?: number;
  /** Maximum number of items. */
  readonly maxItems?: number;
  /** The validations of properties by name. A missing property is not validated. */
  readonly properties?: { readonly [name: string]: ValueValidation };
  /** Names of the required properties. */
  readonly required?: readonly string[];
  /** Minimum number of properties or keys. */
  readonly minProperties?: number;
  /** Maximum number of properties or keys. */
  readonly maxProperties?: number;
  /** All of these must hold. */
  readonly allOf?: readonly ValueValidation[];
  /** At least one of these must hold. */
  readonly anyOf?: readonly ValueValidation[];
  /** Exactly one of these must hold. */
  readonly oneOf?: readonly ValueValidation[];
  /** This must not hold. */
  readonly not?: ValueValidation;
}
