/**
 * A structural schema as a CustomResourceDefinition holds it (`JSONSchemaProps` of apiextensions.k8s.io/v1). The `x-kubernetes-` keywords
 * are https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#jsonschemaprops-v1-apiextensions-k8s-io.
 */
export interface JsonSchema {
  /** What a value is. Absent where it may be an integer or a string, or anything at all. */
  readonly type?: "string" | "integer" | "number" | "boolean" | "array" | "object";
  /** A short name, for people; nothing is checked by it. */
  readonly title?: string;
  /** What the value is for: `kubectl explain` prints it. */
  readonly description?: string;
  /** Which texts or numbers are meant: `date-time`, `int64`. A format that the server does not know is not checked. */
  readonly format?: string;
  /** What the server fills in where nothing stands, when an object is written and when it is read. It must be valid itself. */
  readonly default?: unknown;
  /** A value as it may look; nothing is checked by it. */
  readonly example?: unknown;
  /** Where to read on; nothing is checked by it. */
  readonly externalDocs?: ExternalDocs;
  /** The only values that may be. */
  readonly enum?: readonly unknown[];
  /** Whether null is a value. Where it is not, a property that is null counts as missing. @default {false} */
  readonly nullable?: boolean;
  /** The least number that may be. */
  readonly minimum?: number;
  /** The greatest number that may be. */
  readonly maximum?: number;
  /** Whether `minimum` itself is refused: a boolean, as in draft 4 of JSON Schema. @default {false} */
  readonly exclusiveMinimum?: boolean;
  /** Whether `maximum` itself is refused. @default {false} */
  readonly exclusiveMaximum?: boolean;
  /** A number above zero of which each value is a whole multiple. */
  readonly multipleOf?: number;
  /** Least length of a text, in code points. */
  readonly minLength?: number;
  /** Greatest length of a text, in code points. Costs of CEL rules are estimated by it. */
  readonly maxLength?: number;
  /** A regular expression of RE2 that matches anywhere in a text, unless it is anchored. */
  readonly pattern?: string;
  /** What every item of a list is; a server demands it of a list. */
  readonly items?: JsonSchema;
  /** Least number of items. */
  readonly minItems?: number;
  /** Greatest number of items. Costs of CEL rules are estimated by it. */
  readonly maxItems?: number;
  /** Refused by a server when true: a list of the type `set` says the same. */
  readonly uniqueItems?: boolean;
  /** The properties of an object, by name; a server drops all others. It goes without `additionalProperties`. */
  readonly properties?: { readonly [name: string]: JsonSchema };
  /** Names of the properties that must be there. */
  readonly required?: readonly string[];
  /** What every value of a map is; `true` for anything. It goes without `properties`. */
  readonly additionalProperties?: JsonSchema | boolean;
  /** Least number of properties or keys. */
  readonly minProperties?: number;
  /** Greatest number of properties or keys. Costs of CEL rules are estimated by it. */
  readonly maxProperties?: number;
  /** What a value must keep to besides: all of these. They check, and say no types. */
  readonly allOf?: readonly JsonSchema[];
  /** What a value must keep to besides: one of these at least. */
  readonly anyOf?: readonly JsonSchema[];
  /** What a value must keep to besides: exactly one of these. */
  readonly oneOf?: readonly JsonSchema[];
  /** What a value must not keep to. */
  readonly not?: JsonSchema;
  /** Keeps properties that are not listed, which are dropped otherwise. */
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  /** Says that the value is an object of Kubernetes: `apiVersion`, `kind` and `metadata` are there, and checked as such. */
  readonly "x-kubernetes-embedded-resource"?: boolean;
  /** Says that the value is an integer or a string; it stands in place of `type`. */
  readonly "x-kubernetes-int-or-string"?: boolean;
  /** Which items of a list are one under server-side apply: none, equal ones, or those with equal keys. @default {"atomic"} */
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  /** Names of the properties that tell the items of a list of the type `map` apart. */
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  /** Who may own an object under server-side apply: each property by itself, or one manager all of it. @default {"granular"} */
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  /** Rules in CEL, asked after all else was found to be valid. */
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** Where more is written about a value. */
export interface ExternalDocs {
  /** What is to be read there. */
  readonly description?: string;
  /** Where it is. */
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
  /** Which texts or numbers are meant, such as `ipv4`. */
  readonly format?: string;
  /** The only values that may be. */
  readonly enum?: readonly unknown[];
  /** The least number that may be. */
  readonly minimum?: number;
  /** The greatest number that may be. */
  readonly maximum?: number;
  /** Whether `minimum` itself is refused. @default {false} */
  readonly exclusiveMinimum?: boolean;
  /** Whether `maximum` itself is refused. @default {false} */
  readonly exclusiveMaximum?: boolean;
  /** A number above zero of which the value is a whole multiple. */
  readonly multipleOf?: number;
  /** Least length of a text, in code points. */
  readonly minLength?: number;
  /** Greatest length of a text, in code points. */
  readonly maxLength?: number;
  /** A regular expression of RE2 that matches anywhere in a text, unless it is anchored. */
  readonly pattern?: string;
  /** What every item of a list must keep to. */
  readonly items?: ValueValidation;
  /** Least number of items. */
  readonly minItems?: number;
  /** Greatest number of items. */
  readonly maxItems?: number;
  /** What properties must keep to, by name, where they are there. */
  readonly properties?: { readonly [name: string]: ValueValidation };
  /** Names of the properties that must be there. */
  readonly required?: readonly string[];
  /** Least number of properties or keys. */
  readonly minProperties?: number;
  /** Greatest number of properties or keys. */
  readonly maxProperties?: number;
  /** All of these hold. */
  readonly allOf?: readonly ValueValidation[];
  /** One of these holds at least. */
  readonly anyOf?: readonly ValueValidation[];
  /** Exactly one of these holds. */
  readonly oneOf?: readonly ValueValidation[];
  /** This does not hold. */
  readonly not?: ValueValidation;
}
