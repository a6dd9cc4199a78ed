/** Sample objects of a kind, generated from its schema. */
import { isObject } from "../base/json.ts";
import type { AnyKind } from "../resource/kind.ts";
import { declarationChecks } from "../resource/_load_declaration_checks.ts";
import type { FieldError } from "../schema/field_error.ts";
import type { JsonSchema } from "../schema/json_schema.ts";
import { textFor } from "./_text_for.ts";
import type { Manifest } from "./manifest.ts";

/** A sample object. */
export interface Sample {
  /** The object, ready to be applied. */
  readonly manifest: Manifest;
  /**
   * The errors that the API server would report: rules and patterns for which no value could be
   * generated. Add an `example` to the schema of these fields. Always empty in compiled
   * executables, which do not include the validation.
   */
  readonly errors: readonly FieldError[];
}

/**
 * Returns a sample of a kind: required properties, and those with a default or an example, with
 * values within the schema's bounds.
 *
 * @param kind The kind, created by {@linkcode resource}.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { resource, s } from "@op/sdk";
 *
 * const host = s.string({ format: "hostname" });
 * const spec = s.object({ host, replicas: s.integer({ minimum: 2 }) });
 * const Website = resource({ group: "demo.example.com", version: "v1", kind: "Website", spec });
 * assert.deepEqual(sampleOf(Website).manifest.spec, { host: "host.example.com", replicas: 2 });
 * ```
 */
export function sampleOf(kind: AnyKind): Sample {
  const schema = kind.crd?.spec.versions.find(({ name }) => name === kind.version)?.schema.openAPIV3Schema ?? {};
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...properties } = schema.properties ?? {};
  const { example, ...root } = schema;
  const whole: JsonSchema = {
    ...root,
    properties,
    ...(isObject(example) ? { example: withoutMetadata(example) } : {}),
  };
  const place = { name: kind.singular, index: 0 };
  let best: Sample | undefined;
  for (const variant of VARIANTS) {
    const sample = withFewerErrors(kind, whole, sampleWith(kind, valueOf(whole, { ...place, ...variant })));
    if (best === undefined || sample.errors.length < best.errors.length) best = sample;
    if (best.errors.length === 0) break;
  }
  return best!;
}

/** The variants to try until a sample is valid. The first one shows the most fields. */
const VARIANTS: readonly Pick<Place, "hasDefaults" | "fillsLists">[] = [
  { hasDefaults: true, fillsLists: true },
  { hasDefaults: false, fillsLists: true },
  { hasDefaults: true, fillsLists: false },
  { hasDefaults: false, fillsLists: false },
];

function sampleWith(kind: AnyKind, value: unknown): Sample {
  const manifest: Manifest = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name: `${kind.singular}-sample` },
    ...(isObject(value) ? value : {}),
  };
  return { manifest, errors: declarationChecks?.validate(kind, manifest) ?? [] };
}

/** The maximum number of properties to try to add if a rule is violated. */
const MAX_TRIES = 100;

/**
 * Adds optional properties one by one as long as fewer rules are violated, for rules such as "one
 * of these is required".
 */
function withFewerErrors(kind: AnyKind, schema: JsonSchema, sample: Sample): Sample {
  let best = sample;
  let remaining = MAX_TRIES;
  for (let isBetter = true; isBetter && best.errors.length > 0;) {
    isBetter = false;
    const { apiVersion: _, kind: __, metadata: ___, ...value } = best.manifest;
    for (const more of withOneMore(schema, value)) {
      if (remaining-- <= 0) return best;
      const next = sampleWith(kind, more);
      if (next.errors.length >= best.errors.length) continue;
      best = next;
      isBetter = true;
      break;
    }
  }
  return best;
}

/** Returns the object with one more of its optional properties, or of those of an object in it. */
function* withOneMore(schema: JsonSchema, value: Record<string, unknown>): Generator<Record<string, unknown>> {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const inner = value[name];
    if (inner === undefined) {
      yield { ...value, [name]: valueOf(property, { name, index: 0, hasDefaults: false, fillsLists: false }) };
    } else if (isObject(inner)) {
      for (const more of withOneMore(property, inner)) yield { ...value, [name]: more };
    }
  }
}

/** Reduces an example of a whole object to the properties of a sample. */
function withoutMetadata({ apiVersion: _, kind: __, metadata: ___, status: ____, ...rest }: Record<string, unknown>) {
  return rest;
}

interface Place {
  /** The name of the property. Strings without a format are derived from it. */
  readonly name: string;
  /** The index of the entry in a list: entries of sets and maps must differ. */
  readonly index: number;
  /** Whether to include optional properties that have a default. */
  readonly hasDefaults: boolean;
  /**
   * Whether a required list has an entry even if it may be empty. An empty list explains little,
   * and webhooks often reject it.
   */
  readonly fillsLists: boolean;
}

/** Returns a value that conforms to a schema, as far as one can be generated. */
function valueOf(given: JsonSchema, place: Place): unknown {
  if (given.example !== undefined) return given.example;
  if (given.default !== undefined && place.index === 0) return given.default;
  const schema = withFirstAlternative(given);
  if (schema.enum !== undefined) return schema.enum[place.index % schema.enum.length];
  if (schema["x-kubernetes-int-or-string"]) return 1 + place.index;
  switch (schema.type) {
    case "string":
      return textOf(schema, place);
    case "integer":
    case "number":
      return numberOf(schema, place);
    case "boolean":
      return place.index > 0;
    case "array":
      return Array.from(
        { length: Math.max(schema.minItems ?? 0, place.fillsLists && schema.maxItems !== 0 ? 1 : 0) },
        (_, index) => valueOf(schema.items ?? {}, { ...place, name: singular(place.name), index }),
      );
    default:
      return objectOf(schema, place);
  }
}

/** Merges all schemas of `allOf`, and the first alternative of `anyOf` and `oneOf`. */
function withFirstAlternative(schema: JsonSchema): JsonSchema {
  const parts = [...schema.allOf ?? [], ...(schema.anyOf ?? []).slice(0, 1), ...(schema.oneOf ?? []).slice(0, 1)];
  return parts.map(withFirstAlternative).reduce((whole, part) => ({
    ...part,
    ...whole,
    ...bounds(whole, part),
    ...(whole.required === undefined && part.required === undefined
      ? {}
      : { required: [...new Set([...whole.required ?? [], ...part.required ?? []])] }),
    ...(whole.properties === undefined && part.properties === undefined
      ? {}
      : { properties: merged(whole.properties ?? {}, part.properties ?? {}) }),
  }), schema);
}

function merged(
  whole: { readonly [name: string]: JsonSchema },
  part: { readonly [name: string]: JsonSchema },
): { [name: string]: JsonSchema } {
  const entries = Object.entries(part).map(([name, schema]) => {
    const before = whole[name];
    return [name, before === undefined ? schema : withFirstAlternative({ ...before, allOf: [schema] })] as const;
  });
  return { ...whole, ...Object.fromEntries(entries) };
}

/** Returns the stricter value of each bound. */
function bounds(one: JsonSchema, other: JsonSchema): JsonSchema {
  const narrower = (key: "minimum" | "maximum" | "minLength" | "minItems" | "minProperties") => {
    const values = [one[key], other[key]].filter((value) => value !== undefined);
    if (values.length === 0) return {};
    return { [key]: key === "maximum" ? Math.min(...values) : Math.max(...values) };
  };
  return {
    ...narrower("minimum"),
    ...narrower("maximum"),
    ...narrower("minLength"),
    ...narrower("minItems"),
    ...narrower("minProperties"),
  };
}

/** Sample strings of the formats that the API server validates. */
const FORMATS: Readonly<Record<string, (place: Place) => string>> = {
  hostname: ({ name, index }) => `${label(name)}${index || ""}.example.com`,
  uri: ({ index }) => `https://example.com/${index || ""}`,
  email: ({ index }) => `someone${index || ""}@example.com`,
  ipv4: ({ index }) => `192.0.2.${index + 1}`,
  ipv6: ({ index }) => `2001:db8::${index + 1}`,
  cidr: ({ index }) => `192.0.${index + 2}.0/24`,
  mac: ({ index }) => `02:00:00:00:00:0${index + 1}`,
  duration: ({ index }) => `${index + 1}h`,
  date: ({ index }) => `2030-01-0${index + 1}`,
  "date-time": ({ index }) => `2030-01-0${index + 1}T00:00:00Z`,
  byte: () => "c2FtcGxl",
  uuid: ({ index }) => `6ba7b810-9dad-41d1-80b4-00c04fd430c${index}`,
  uuid4: ({ index }) => `6ba7b810-9dad-41d1-80b4-00c04fd430c${index}`,
  isbn: () => "9780306406157",
  isbn13: () => "9780306406157",
  isbn10: () => "0306406152",
  creditcard: () => "4111111111111111",
  ssn: () => "123-45-6789",
  hexcolor: () => "#336699",
  rgbcolor: () => "rgb(51,102,153)",
  bsonobjectid: ({ index }) => `507f1f77bcf86cd79943901${index}`,
};

/**
 * Values for fields with the same meaning in every kind. Webhooks often validate them more strictly
 * than the schema does.
 */
const COMMON_FIELDS: readonly { readonly names: RegExp; readonly value: string }[] = [
  { names: /schedule$|^cron/i, value: "0 3 * * *" },
  { names: /image$/i, value: "registry.k8s.io/pause:3.10" },
  { names: /^time_?zone$/i, value: "Etc/UTC" },
];

function textOf({ format, pattern, minLength = 0, maxLength = Infinity }: JsonSchema, place: Place): string {
  const formatted = format === undefined ? undefined : FORMATS[format]?.(place);
  if (formatted !== undefined) return formatted;
  const known = COMMON_FIELDS.find(({ names }) => names.test(place.name))?.value;
  const fits = (value: string): boolean =>
    value.length >= minLength && value.length <= maxLength && (pattern === undefined || matches(pattern, value));
  if (known !== undefined && place.index === 0 && fits(known)) return known;
  const plain = `${label(place.name)}${place.index || ""}`.padEnd(minLength, "x").slice(0, maxLength);
  if (pattern === undefined || matches(pattern, plain)) return plain;
  return textFor(pattern, minLength + place.index) ?? plain;
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return false;
  }
}

function numberOf(schema: JsonSchema, { index }: Place): number {
  const { minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false, multipleOf } = schema;
  const step = multipleOf ?? (schema.type === "integer" ? 1 : 0.5);
  const fits = (value: number) =>
    (minimum === undefined || value > minimum || (value === minimum && !exclusiveMinimum)) &&
    (maximum === undefined || value < maximum || (value === maximum && !exclusiveMaximum));
  const first = minimum === undefined ? undefined : Math.ceil(minimum / step) * step;
  const last = maximum === undefined ? undefined : Math.floor(maximum / step) * step;
  const candidates = [
    Math.ceil(1 / step) * step,
    ...(first === undefined ? [] : [first, first + step]),
    ...(last === undefined ? [] : [last, last - step]),
    0,
  ];
  const value = candidates.find(fits) ?? 1;
  return fits(value + index * step) ? value + index * step : value;
}

function objectOf(schema: JsonSchema, place: Place): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties, minProperties = 0 } = schema;
  const named = Object.entries(properties).filter(([name, property]) =>
    required.includes(name) || property.example !== undefined ||
    (place.hasDefaults && property.default !== undefined) ||
    // A pod template whose container has no image is valid, but no pod can be created from it.
    (name === "image" && property.type === "string" && required.includes("name"))
  ).map(([name, property]) => [name, valueOf(property, { ...place, name })] as const);
  const missing = Math.max(0, minProperties - named.length);
  const values = isObject(additionalProperties) ? additionalProperties as JsonSchema : { type: "string" as const };
  const free = additionalProperties === undefined && !schema["x-kubernetes-preserve-unknown-fields"]
    ? Object.entries(properties).filter(([name]) => !named.some(([used]) => used === name)).slice(0, missing)
      .map(([name, property]) => [name, valueOf(property, { ...place, name })] as const)
    : Array.from({ length: missing }, (_, index) => [`key${index + 1}`, valueOf(values, { ...place, index })] as const);
  return Object.fromEntries([...named, ...free]);
}

/** A string that most patterns for names accept. */
function label(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(
    /^-+|-+$/g,
    "",
  ) ||
    "sample";
}

function singular(name: string): string {
  return name.replace(/s$/, "");
}
