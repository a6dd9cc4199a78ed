/** How one schema differs from another, and whether what was valid before still is. */
import { equal, isObject } from "../internal/mod.gen.ts";
import type { JsonSchema } from "@op/sdk/resource";

/**
 * What a change does to those who use a kind: `breaking` refuses or loses what was good before,
 * `notice` is to be known (another default, work for whoever runs the cluster), `compatible` is
 * neither.
 */
export type Severity = "breaking" | "notice" | "compatible";

/** One difference. */
export interface Change {
  readonly severity: Severity;
  /** Where: `.spec.host`; empty for the whole. */
  readonly path: string;
  /** What, as a clause. */
  readonly message: string;
}

/**
 * The differences of two schemas.
 *
 * @param before The schema that was.
 * @param after The schema that is to be.
 * @param path Where they stand.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(schemaChanges({ type: "string" }, { type: "string", maxLength: 5 }, ".spec.host"), [
 *   { severity: "breaking", path: ".spec.host", message: "maxLength 5 is new" },
 * ]);
 * ```
 */
export function schemaChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  if (before.type !== after.type || isIntOrString(before) !== isIntOrString(after)) {
    // Whatever was an integer is a number.
    const isWider = before.type === "integer" && (after.type === "number" || isIntOrString(after));
    const change = at(path, isWider ? "compatible" : "breaking");
    return [change(`type ${typeOf(before)} is ${typeOf(after)} now`)];
  }
  return [
    ...BOUNDS.flatMap(({ keyword, narrower }) => boundChanges(keyword, narrower, before, after, path)),
    ...exclusiveChanges(before, after, path),
    ...EXACT.flatMap((keyword) => exactChanges(keyword, before, after, path)),
    ...enumChanges(before, after, path),
    ...SWITCHES.flatMap(({ keyword, narrower }) => switchChanges(keyword, narrower, before, after, path)),
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
  if (is === undefined) return [at(path, "compatible")(`${keyword} ${was} is gone`)];
  // A length is never below zero.
  const isEmpty = is === 0 && keyword.startsWith("min") && keyword !== "minimum";
  if (was === undefined) return [at(path, isEmpty ? "compatible" : "breaking")(`${keyword} ${is} is new`)];
  const isNarrower = narrower === "higher" ? is > was : is < was;
  return [at(path, isNarrower ? "breaking" : "compatible")(`${keyword} ${was} is ${is} now`)];
}

function exclusiveChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  return (["exclusiveMinimum", "exclusiveMaximum"] as const).flatMap((keyword) => {
    const [was, is] = [before[keyword] ?? false, after[keyword] ?? false];
    return was === is ? [] : [at(path, is ? "breaking" : "compatible")(`${keyword} is ${is} now`)];
  });
}

/** Keywords of which every new value refuses something. */
const EXACT = ["pattern", "format", "multipleOf"] as const;

function exactChanges(
  keyword: (typeof EXACT)[number],
  before: JsonSchema,
  after: JsonSchema,
  path: string,
): Change[] {
  const [was, is] = [before[keyword], after[keyword]];
  if (was === is) return [];
  if (is === undefined) return [at(path, "compatible")(`${keyword} ${JSON.stringify(was)} is gone`)];
  const isWider = keyword === "multipleOf" && typeof was === "number" && was % Number(is) === 0;
  const told = was === undefined ? "is new" : `was ${JSON.stringify(was)}`;
  return [at(path, isWider ? "compatible" : "breaking")(`${keyword} ${JSON.stringify(is)} ${told}`)];
}

function enumChanges({ enum: was }: JsonSchema, { enum: is }: JsonSchema, path: string): Change[] {
  if (equal(was, is)) return [];
  if (is === undefined) return [at(path, "compatible")("the list of values is gone: any is taken")];
  if (was === undefined) return [at(path, "breaking")(`only ${JSON.stringify(is)} are taken now`)];
  const gone = was.filter((value) => !is.some((other) => equal(value, other)));
  const come = is.filter((value) => !was.some((other) => equal(value, other)));
  return [
    ...gone.map((value) => at(path, "breaking")(`value ${JSON.stringify(value)} is gone`)),
    ...come.map((value) => at(path, "compatible")(`value ${JSON.stringify(value)} is new`)),
  ];
}

/** Keywords that are on or off, and which of the two refuses or drops more. */
const SWITCHES = [
  { keyword: "nullable", narrower: false },
  { keyword: "uniqueItems", narrower: true },
  { keyword: "x-kubernetes-preserve-unknown-fields", narrower: false },
  { keyword: "x-kubernetes-embedded-resource", narrower: true },
] as const;

function switchChanges(
  keyword: (typeof SWITCHES)[number]["keyword"],
  narrower: boolean,
  before: JsonSchema,
  after: JsonSchema,
  path: string,
): Change[] {
  const [was, is] = [before[keyword] ?? false, after[keyword] ?? false];
  return was === is ? [] : [at(path, is === narrower ? "breaking" : "compatible")(`${keyword} is ${is} now`)];
}

/**
 * How a list or map is merged decides who owns its entries: what was applied before is merged
 * otherwise.
 */
function listChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  const list = (schema: JsonSchema) =>
    `${schema["x-kubernetes-list-type"] ?? "atomic"} ${schema["x-kubernetes-list-map-keys"] ?? ""}`.trim();
  const map = (schema: JsonSchema) => schema["x-kubernetes-map-type"] ?? "granular";
  return [
    ...(before.type === "array" && list(before) !== list(after)
      ? [at(path, "breaking")(`the list is ${list(after)} now, it was ${list(before)}: applies merge it otherwise`)]
      : []),
    ...(before.type === "object" && map(before) !== map(after)
      ? [at(path, "breaking")(`the map is ${map(after)} now, it was ${map(before)}: applies merge it otherwise`)]
      : []),
  ];
}

/** What a rule takes cannot be told from its text: another one may refuse more. */
function ruleChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  const [was, is] = [before, after].map((schema) => (schema["x-kubernetes-validations"] ?? []).map(({ rule }) => rule));
  return [
    ...(is ?? []).filter((rule) => !was?.includes(rule)).map((rule) => at(path, "breaking")(`rule "${rule}" is new`)),
    ...(was ?? []).filter((rule) => !is?.includes(rule)).map((rule) =>
      at(path, "compatible")(`rule "${rule}" is gone`)
    ),
  ];
}

function alternativeChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  return (["allOf", "anyOf", "oneOf", "not"] as const).flatMap((keyword) => {
    if (equal(before[keyword], after[keyword])) return [];
    const isGone = after[keyword] === undefined;
    return [at(path, isGone ? "compatible" : "breaking")(`${keyword} is ${isGone ? "gone" : "another one"}`)];
  });
}

function defaultChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  if (equal(before.default, after.default)) return [];
  const told = (value: unknown) => JSON.stringify(value);
  if (after.default === undefined) return [at(path, "notice")(`default ${told(before.default)} is gone`)];
  if (before.default === undefined) {
    return [at(path, "notice")(`default ${told(after.default)} is new: objects that say nothing read so from now on`)];
  }
  return [at(path, "notice")(`default ${told(before.default)} is ${told(after.default)} now`)];
}

function propertyChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  const [was, is] = [before.properties ?? {}, after.properties ?? {}];
  const isOpen = after["x-kubernetes-preserve-unknown-fields"] === true || after.additionalProperties !== undefined;
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name) => {
    const place = `${path}${/^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}`;
    const [old, now] = [was[name], is[name]];
    const isRequired = after.required?.includes(name) ?? false;
    // What has a default is never missing.
    const isDemanded = isRequired && now?.default === undefined;
    if (now === undefined) {
      return [
        at(place, isOpen ? "notice" : "breaking")(
          isOpen ? "is not described any more" : "is gone: what is in it is dropped",
        ),
      ];
    }
    if (old === undefined) {
      return [at(place, isDemanded ? "breaking" : "compatible")(isDemanded ? "is new and required" : "is new")];
    }
    const wasRequired = before.required?.includes(name) ?? false;
    const wasDemanded = wasRequired && old.default === undefined;
    return [
      ...(isDemanded && !wasDemanded ? [at(place, "breaking")("is required now")] : []),
      ...(wasRequired && !isRequired ? [at(place, "compatible")("is optional now")] : []),
      ...schemaChanges(old, now, place),
    ];
  });
}

function valueChanges(before: JsonSchema, after: JsonSchema, path: string): Change[] {
  const [was, is] = [before.additionalProperties, after.additionalProperties];
  if (isSchema(was) && isSchema(is)) return schemaChanges(was, is, `${path}.*`);
  if (equal(was, is)) return [];
  const isClosed = is === undefined && after["x-kubernetes-preserve-unknown-fields"] !== true;
  if (isClosed || is === false) return [at(path, "breaking")("keys of one's own are not taken any more")];
  return isSchema(is) && was === true
    ? [at(path, "breaking")("values of keys of one's own have a schema now")]
    : [at(path, "compatible")("keys of one's own are taken")];
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
