/** Random objects of a kind, generated from its schema, for property tests. */
import type * as FastCheck from "fast-check";
import { isObject } from "../base/json.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { validate } from "../resource/validation.ts";
import type { JsonSchema } from "../schema/json_schema.ts";

type Library = typeof FastCheck;

/**
 * Number of values that the optional properties of one object add, on average. If a schema has many
 * optional properties, as that of a pod does, fewer of them are present in each object: testing
 * objects of 30 kB takes most of a minute and finds no more than testing many small ones.
 */
const OPTIONAL_VALUES = 12;

/** Minimum probability of an optional property, so that each one is sometimes present. */
const MIN_PROBABILITY = 0.02;

/** Random values of a schema. */
interface Values {
  readonly arbitrary: FastCheck.Arbitrary<unknown>;
  /** Average number of values in one of them, including nested values. */
  readonly size: number;
}

/** Random objects of a kind. */
export interface ObjectsOfKind {
  readonly objects: FastCheck.Arbitrary<KubeObject>;
  /** Average number of values in an object, including nested values. */
  readonly size: number;
}

/**
 * Returns random objects of a kind that its schema accepts, including CEL rules and patterns.
 *
 * @param fc The library fast-check, which the caller loads.
 * @param kind A kind created by `resource()`.
 * @throws {TypeError} If the kind has no schema.
 */
export function objectsOf(fc: Library, kind: AnyKind): ObjectsOfKind {
  const version = kind.crd?.spec.versions.find(({ name }) => name === kind.version);
  if (version === undefined) {
    throw new TypeError(`roundTrips(): ${kind.apiVersion} ${kind.kind} has no schema. Define the kind with resource()`);
  }
  const { properties = {}, required = [] } = version.schema.openAPIV3Schema;
  const body = Object.fromEntries(
    Object.entries(properties).filter(([key]) => !["apiVersion", "kind", "metadata"].includes(key)),
  );
  const { arbitrary, size } = record(fc, body as Record<string, JsonSchema>, required);
  const metadata = { name: "a", ...(kind.namespaced ? { namespace: "default" } : {}), uid: "u", resourceVersion: "1" };
  const objects = arbitrary
    .map((value) =>
      plain({ apiVersion: kind.apiVersion, kind: kind.kind, metadata, ...value as object }) as unknown as KubeObject
    )
    // Generated values do not always satisfy formats and rules.
    .filter((object) => validate(kind, object).length === 0);
  return { objects, size };
}

function valuesOf(fc: Library, schema: JsonSchema): Values {
  const values = presentValuesOf(fc, schema);
  return schema.nullable ? { ...values, arbitrary: fc.option(values.arbitrary, { freq: 5 }) } : values;
}

function presentValuesOf(fc: Library, schema: JsonSchema): Values {
  const one = (arbitrary: FastCheck.Arbitrary<unknown>): Values => ({ arbitrary, size: 1 });
  if (schema.enum !== undefined) return one(fc.constantFrom(...schema.enum));
  if (schema["x-kubernetes-int-or-string"]) return one(fc.oneof(fc.integer(), strings(fc, schema)));
  switch (schema.type) {
    case "string":
      return one(strings(fc, schema));
    case "integer": {
      const { minimum = -1000, maximum = Math.max(1000, minimum) } = schema;
      return one(fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) }));
    }
    case "number":
      return one(fc.double({
        min: schema.minimum ?? -1e6,
        max: schema.maximum ?? Math.max(1e6, schema.minimum ?? 0),
        noNaN: true,
      }));
    case "boolean":
      return one(fc.boolean());
    case "array":
      return arrays(fc, schema);
    case "object":
      return objects(fc, schema);
    default:
      return one(fc.jsonValue({ maxDepth: 2 }));
  }
}

function arrays(fc: Library, schema: JsonSchema): Values {
  const { items = {}, minItems = 0, maxItems = Math.max(minItems, 4) } = schema;
  const { arbitrary: item, size: itemSize } = valuesOf(fc, items as JsonSchema);
  // Lists of large items, such as containers, are short.
  const longest = itemSize > OPTIONAL_VALUES ? 2 : 4;
  const lengths = { minLength: minItems, maxLength: Math.min(maxItems, Math.max(minItems, longest)) };
  const size = 1 + itemSize * (lengths.minLength + lengths.maxLength) / 2;
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return { arbitrary: fc.uniqueArray(item, lengths), size };
    case "map": {
      // A missing key has its default value, which must also be unique in the list.
      const itemProperties = (items as JsonSchema).properties as Readonly<Record<string, JsonSchema>> | undefined;
      const keys = schema["x-kubernetes-list-map-keys"] ?? [];
      const selector = (value: unknown) =>
        JSON.stringify(keys.map((key) => (value as Record<string, unknown>)[key] ?? itemProperties?.[key]?.default));
      return { arbitrary: fc.uniqueArray(item, { ...lengths, selector }), size };
    }
    default:
      return { arbitrary: fc.array(item, lengths), size };
  }
}

function objects(fc: Library, schema: JsonSchema): Values {
  const { properties, required = [], additionalProperties } = schema;
  if (isObject(additionalProperties)) {
    const { arbitrary, size } = valuesOf(fc, additionalProperties as JsonSchema);
    const options = { maxKeys: 3, noNullPrototype: true };
    return {
      arbitrary: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), arbitrary, options),
      size: 1 + 1.5 * size,
    };
  }
  if (properties === undefined) {
    const allowsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
    // Otherwise, unknown fields are pruned before a conversion.
    return {
      arbitrary: allowsUnknown
        ? fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 1 }))
        : fc.constant({}),
      size: 1,
    };
  }
  return record(fc, properties as Record<string, JsonSchema>, required);
}

const ABSENT = Symbol("absent");

/**
 * Returns objects with the given properties. Optional ones are rare enough to keep objects small.
 */
function record(fc: Library, properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): Values {
  const values = Object.entries(properties).map(([key, schema]) => [key, valuesOf(fc, schema)] as const);
  const sizeOf = (isCounted: (key: string) => boolean): number =>
    values.reduce((sum, [key, { size }]) => isCounted(key) ? sum + size : sum, 0);
  const optional = sizeOf((key) => !required.includes(key));
  const share = Math.max(MIN_PROBABILITY, Math.min(0.5, OPTIONAL_VALUES / optional));
  const present = Math.round(1000 * share);
  const body = Object.fromEntries(values.map(([key, { arbitrary }]) => [
    key,
    required.includes(key) ? arbitrary : fc.oneof(
      { withCrossShrink: true },
      { weight: 1000 - present, arbitrary: fc.constant<unknown>(ABSENT) },
      { weight: present, arbitrary },
    ),
  ]));
  const arbitrary = fc.record(body).map((object) =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== ABSENT))
  );
  return { arbitrary, size: 1 + sizeOf((key) => required.includes(key)) + share * optional };
}

function strings(fc: Library, { pattern, format, minLength = 0, maxLength }: JsonSchema): FastCheck.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  switch (format) {
    case "date-time":
      return fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
        .map((date) => `${date.toISOString().slice(0, 19)}Z`);
    case "hostname":
      return fc.domain();
    case "ipv4":
      return fc.ipV4();
    case "ipv6":
      return fc.ipV6();
    case "uri":
      return fc.webUrl();
    case "uuid":
      return fc.uuid();
    case "byte":
      return fc.base64String();
    default:
      return fc.string({ minLength, maxLength: Math.min(maxLength ?? 20, Math.max(minLength, 20)) });
  }
}

/** Returns a value as JSON represents it: without `undefined` and -0. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
