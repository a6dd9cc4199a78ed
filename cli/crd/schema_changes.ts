/**
 * Compares two schemas, and classifies each difference by its effect on existing objects and
 * clients.
 */
import { equal, isObject } from "../internal/mod.gen.ts";
import type { JsonSchema } from "@op/sdk/resource";

/**
 * The effect of a change. `breaking` rejects or drops values that were valid before, `notice` is
 * worth knowing, such as a changed default, and `compatible` is neither.
 */
export type Severity = "breaking" | "notice" | "compatible";

/** A difference between two schemas. */
export interface Change {
  readonly severity: Severity;
  /** The path, such as `.spec.host`; empty for the whole schema. */
  readonly path: string;
  /** The change, as a clause that follows the path: `maxLength 5 was added`. */
  readonly message: string;
}

/**
 * Returns the differences between two schemas.
 *
 * @param before The old schema.
 * @param after The new schema.
 * @param path The path of both.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const after = { type: "string", maxLength: 5 } as const;
 * assert.deepEqual(schemaChanges({ type: "string" }, after, ".spec.host"), [
 *   { severity: "breaking", path: ".spec.host", message: "maxLength 5 was added" },
 * ]);
 * ```
 */
export function schemaChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  if (before.type !== after.type || isIntOrString(before) !== isIntOrString(after)) {
    // Every integer is also a number.
    const isWider = before.type === "integer" && (after.type === "number" || isIntOrString(after));
    const change = at(path, isWider ? "compatible" : "breaking");
    return [change(`type changed from ${typeOf(before)} to ${typeOf(after)}`)];
  }
  return [
    ...BOUNDS.flatMap(({ keyword, narrower }) => boundChanges(keyword, narrower, before, after, path)),
    ...exclusiveChanges(before, after, path),
    ...EXACT_KEYWORDS.flatMap((keyword) => exactChanges(keyword, before, after, path)),
    ...enumChanges(before, after, path),
    ...BOOLEAN_KEYWORDS.flatMap(({ keyword, narrower }) => switchChanges(keyword, narrower, before, after, path)),
    ...listChanges(before, after, path),
    ...ruleChanges(before, after, path),
    ...alternativeChanges(before, after, path),
    ...defaultChanges(before, after, path),
    ...propertyChanges(before, after, path),
    ...(isSchema(before.items) && isSchema(after.items) ? schemaChanges(before.items, after.items, `${path}[]`) : []),
    ...valueChanges(before, after, path),
  ];
}

function at(path: string, severity: Severity): (message: string) => Change {
  return (message) => ({ severity, path, message });
}

type Bound =
  | "minimum"
  | "maximum"
  | "minLength"
  | "maxLength"
  | "minItems"
  | "maxItems"
  | "minProperties"
  | "maxProperties";

const BOUNDS: readonly { keyword: Bound; narrower: "higher" | "lower" }[] = [
  { keyword: "minimum", narrower: "higher" },
  { keyword: "maximum", narrower: "lower" },
  { keyword: "minLength", narrower: "higher" },
  { keyword: "maxLength", narrower: "lower" },
  { keyword: "minItems", narrower: "higher" },
  { keyword: "maxItems", narrower: "lower" },
  { keyword: "minProperties", narrower: "higher" },
  { keyword: "maxProperties", narrower: "lower" },
];

function boundChanges(keyword: Bound, narrower: string, before: JsonSchema, after: JsonSchema, path: string): Change[] {
  const [was, is] = [before[keyword], after[keyword]];
  if (was === is) return [];
  if (is === undefined) return [at(path, "compatible")(`${keyword} ${was} was removed`)];
  // A length is never below zero.
  const isEmpty = is === 0 && keyword.startsWith("min") && keyword !== "minimum";
  if (was === undefined) return [at(path, isEmpty ? "compatible" : "breaking")(`${keyword} ${is} was added`)];
  const isNarrower = narrower === "higher" ? is > was : is < was;
  return [at(path, isNarrower ? "breaking" : "compatible")(`${keyword} changed from ${was} to ${is}`)];
}

function exclusiveChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  return (["exclusiveMinimum", "exclusiveMaximum"] as const).flatMap((keyword) => {
    const [was, is] = [before[keyword] ?? false, after[keyword] ?? false];
    return was === is ? [] : [at(path, is ? "breaking" : "compatible")(`${keyword} changed to ${is}`)];
  });
}

/** Keywords for which every change may reject values that were valid before. */
const EXACT_KEYWORDS = ["pattern", "format", "multipleOf"] as const;

function exactChanges(
  keyword: (typeof EXACT_KEYWORDS)[number],
  before: JsonSchema,
  after: JsonSchema,
  path: string,
): Change[] {
  const [was, is] = [before[keyword], after[keyword]];
  if (was === is) return [];
  if (is === undefined) return [at(path, "compatible")(`${keyword} ${JSON.stringify(was)} was removed`)];
  const isWider = keyword === "multipleOf" && typeof was === "number" && was % Number(is) === 0;
  const change = was === undefined
    ? `${keyword} ${JSON.stringify(is)} was added`
    : `${keyword} changed from ${JSON.stringify(was)} to ${JSON.stringify(is)}`;
  return [at(path, isWider ? "compatible" : "breaking")(change)];
}

function enumChanges({ enum: was }: JsonSchema, { enum: is }: JsonSchema, path: string): Change[] {
  if (equal(was, is)) return [];
  if (is === undefined) return [at(path, "compatible")("the list of values was removed, so any value is allowed")];
  if (was === undefined) return [at(path, "breaking")(`only ${JSON.stringify(is)} are allowed now`)];
  const removed = was.filter((value) => !is.some((other) => equal(value, other)));
  const added = is.filter((value) => !was.some((other) => equal(value, other)));
  return [
    ...removed.map((value) => at(path, "breaking")(`value ${JSON.stringify(value)} was removed`)),
    ...added.map((value) => at(path, "compatible")(`value ${JSON.stringify(value)} was added`)),
  ];
}

/** Boolean keywords, with the value that rejects or drops more fields. */
const BOOLEAN_KEYWORDS = [
  { keyword: "nullable", narrower: false },
  { keyword: "uniqueItems", narrower: true },
  { keyword: "x-kubernetes-preserve-unknown-fields", narrower: false },
  { keyword: "x-kubernetes-embedded-resource", narrower: true },
] as const;

function switchChanges(
  keyword: (typeof BOOLEAN_KEYWORDS)[number]["keyword"],
  narrower: boolean,
  before: JsonSchema,
  after: JsonSchema,
  path: string,
): Change[] {
  const [was, is] = [before[keyword] ?? false, after[keyword] ?? false];
  return was === is ? [] : [at(path, is === narrower ? "breaking" : "compatible")(`${keyword} changed to ${is}`)];
}

/** The list type and the map type decide how applies are merged, and who owns the entries. */
function listChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  const list = (schema: JsonSchema) =>
    `${schema["x-kubernetes-list-type"] ?? "atomic"} ${schema["x-kubernetes-list-map-keys"] ?? ""}`.trim();
  const map = (schema: JsonSchema) => schema["x-kubernetes-map-type"] ?? "granular";
  return [
    ...(before.type === "array" && list(before) !== list(after)
      ? [
        at(path, "breaking")(
          `list type changed from ${list(before)} to ${list(after)}, which changes how applies are merged`,
        ),
      ]
      : []),
    ...(before.type === "object" && map(before) !== map(after)
      ? [
        at(path, "breaking")(
          `map type changed from ${map(before)} to ${map(after)}, which changes how applies are merged`,
        ),
      ]
      : []),
  ];
}

/**
 * A changed rule counts as breaking, because its expression does not show which values it rejects.
 */
function ruleChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  const [was, is] = [before, after].map((schema) => (schema["x-kubernetes-validations"] ?? []).map(({ rule }) => rule));
  return [
    ...(is ?? []).filter((rule) => !was?.includes(rule)).map((rule) =>
      at(path, "breaking")(`rule "${rule}" was added`)
    ),
    ...(was ?? []).filter((rule) => !is?.includes(rule)).map((rule) =>
      at(path, "compatible")(`rule "${rule}" was removed`)
    ),
  ];
}

function alternativeChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  return (["allOf", "anyOf", "oneOf", "not"] as const).flatMap((keyword) => {
    if (equal(before[keyword], after[keyword])) return [];
    const isRemoved = after[keyword] === undefined;
    return [at(path, isRemoved ? "compatible" : "breaking")(`${keyword} was ${isRemoved ? "removed" : "changed"}`)];
  });
}

function defaultChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  if (equal(before.default, after.default)) return [];
  const json = (value: unknown) => JSON.stringify(value);
  if (after.default === undefined) return [at(path, "notice")(`default ${json(before.default)} was removed`)];
  if (before.default === undefined) {
    return [
      at(path, "notice")(`default ${json(after.default)} was added, which applies to existing objects without a value`),
    ];
  }
  return [at(path, "notice")(`default changed from ${json(before.default)} to ${json(after.default)}`)];
}

function propertyChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  const [was, is] = [before.properties ?? {}, after.properties ?? {}];
  const isOpen = after["x-kubernetes-preserve-unknown-fields"] === true || after.additionalProperties !== undefined;
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name) => {
    const fieldPath = `${path}${/^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}`;
    const [old, now] = [was[name], is[name]];
    const isRequired = after.required?.includes(name) ?? false;
    // The API server fills in a default, so such a field is never missing.
    const isMandatory = isRequired && now?.default === undefined;
    if (now === undefined) {
      return [
        at(fieldPath, isOpen ? "notice" : "breaking")(
          isOpen ? "is no longer described" : "was removed, so its values are dropped",
        ),
      ];
    }
    if (old === undefined) {
      return [
        at(fieldPath, isMandatory ? "breaking" : "compatible")(
          isMandatory ? "was added as a required field" : "was added",
        ),
      ];
    }
    const wasRequired = before.required?.includes(name) ?? false;
    const wasMandatory = wasRequired && old.default === undefined;
    return [
      ...(isMandatory && !wasMandatory ? [at(fieldPath, "breaking")("became required")] : []),
      ...(wasRequired && !isRequired ? [at(fieldPath, "compatible")("became optional")] : []),
      ...schemaChanges(old, now, fieldPath),
    ];
  });
}

function valueChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  const [was, is] = [before.additionalProperties, after.additionalProperties];
  if (isSchema(was) && isSchema(is)) return schemaChanges(was, is, `${path}.*`);
  if (equal(was, is)) return [];
  const isClosed = is === undefined && after["x-kubernetes-preserve-unknown-fields"] !== true;
  if (isClosed || is === false) return [at(path, "breaking")("additional keys are no longer allowed")];
  return isSchema(is) && was === true
    ? [at(path, "breaking")("values of additional keys now have a schema")]
    : [at(path, "compatible")("additional keys are allowed now")];
}

function isSchema(value: unknown): value is JsonSchema {
  return isObject(value);
}

function isIntOrString(schema: JsonSchema): boolean {
  return schema["x-kubernetes-int-or-string"] === true;
}

function typeOf(schema: JsonSchema): string {
  return isIntOrString(schema) ? "int-or-string" : schema.type ?? "any";
}
