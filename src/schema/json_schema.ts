/**
 * A structural schema as a CustomResourceDefinition holds it (`JSONSchemaProps` of apiextensions.k8s.io/v1). The `x-kubernetes-` keywords
 * are https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#jsonschemaprops-v1-apiextensions-k8s-io.
 */
export interface JsonSchema {
  readonly type?: "string" | "integer" | "number" | "boolean" | "array" | "object";
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly externalDocs?: ExternalDocs;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** Where more is written about a value. */
export interface ExternalDocs {
  readonly description?: string;
  readonly url?: string;
}

/** A CEL rule of a schema: one entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  /** In CEL, over `self`; true where the value is right. With `oldSelf` it is looked at only when an object changes. */
  readonly rule: string;
  /** What a user reads when it is not. @default {"failed rule: " and the rule} */
  readonly message?: string;
  /** The message, in CEL, over `self`. Where it fails, `message` stands in. */
  readonly messageExpression?: string;
  /** The machine-readable sort of fault. @default {"FieldValueInvalid"} */
  readonly reason?: ValidationReason;
  /** The field at fault, below the value the rule stands at: `.spec.host`, `['a-b']`. */
  readonly fieldPath?: string;
  /** Whether a rule with `oldSelf` also runs when there is no old value: `oldSelf` is then an optional value of CEL. */
  readonly optionalOldSelf?: boolean;
}

/** The machine-readable sorts of faults that a rule may give. */
export type ValidationReason =
  | "FieldValueInvalid"
  | "FieldValueForbidden"
  | "FieldValueRequired"
  | "FieldValueDuplicate";

/**
 * What a value must also keep to, in `allOf`, `anyOf`, `oneOf` and `not`: keywords that check it. What says which type a value has, what it
 * means or how it is stored stands outside of them, as a structural schema has it.
 */
export interface ValueValidation {
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: ValueValidation;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: { readonly [name: string]: ValueValidation };
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly ValueValidation[];
  readonly anyOf?: readonly ValueValidation[];
  readonly oneOf?: readonly ValueValidation[];
  readonly not?: ValueValidation;
}
