/** Objects that nobody thought of, by a kind's schema, for property tests. */
import type * as FastCheck from "fast-check";
import { isObject } from "../base/json.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { validate } from "../resource/validation.ts";
import type { JsonSchema } from "../schema/json_schema.ts";

type Library = typeof FastCheck;

/**
 * How many values the optional properties of one object may add, on average. Where a schema has more, such as a pod's, fewer of them are present at a time:
 * objects of 30 kB would take most of a minute to try, and find no more than many small ones do.
 */
const OPTIONAL_VALUES = 12;

/** Each property appears now and then, however many there are. */
const RAREST = 0.02;

/** Values of a schema. */
interface Values {
  readonly arbitrary: FastCheck.Arbitrary<unknown>;
  /** How many values, nested ones included, one of them has on average. */
  readonly size: number;
}

/** Objects of a kind, and how large they are. */
export interface ObjectsOfKind {
  readonly objects: FastCheck.Arbitrary<KubeObject>;
  /** How many values, nested ones included, an object has on average. */
  readonly size: number;
}

/**
 * Objects of a kind as a server stores them: whatever the schema says, rules in CEL and patterns included.
 *
 * @param fc The library; who needs it brings it.
 * @param kind A kind made by `resource()`.
 * @throws {TypeError} If the kind has no schema here.
 */
export function objectsOf(fc: Library, kind: AnyKind): ObjectsOfKind {
  const version = kind.crd?.spec.versions.find(({ name }) => name === kind.version);
  if (version === undefined) {
    throw new TypeError(`Cannot make objects of ${kind.apiVersion} ${kind.kind}: it has no schema here`);
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
    // Formats and rules say more than what is made here knows.
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
  if (schema["x-kubernetes-int-or-string"]) return one(fc.oneof(fc.integer(), texts(fc, schema)));
  switch (schema.type) {
    case "string":
      return one(texts(fc, schema));
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
  // Large items, such as containers, are seldom many.
  const most = itemSize > OPTIONAL_VALUES ? 2 : 4;
  const lengths = { minLength: minItems, maxLength: Math.min(maxItems, Math.max(minItems, most)) };
  const size = 1 + itemSize * (lengths.minLength + lengths.maxLength) / 2;
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return { arbitrary: fc.uniqueArray(item, lengths), size };
    case "map": {
      // A property that is missing has its default: two items may have one key in both ways.
      const known = (items as JsonSchema).properties as Readonly<Record<string, JsonSchema>> | undefined;
      const keys = schema["x-kubernetes-list-map-keys"] ?? [];
      const selector = (value: unknown) =>
        JSON.stringify(keys.map((key) => (value as Record<string, unknown>)[key] ?? known?.[key]?.default));
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
    const takesAnything = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
    // What a schema does not name is gone before anything is converted.
    return {
      arbitrary: takesAnything
        ? fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 1 }))
        : fc.constant({}),
      size: 1,
    };
  }
  return record(fc, properties as Record<string, JsonSchema>, required);
}

const ABSENT = Symbol("absent");

/** Objects with these properties; so many of the optional ones that the objects stay small. */
function record(fc: Library, properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): Values {
  const values = Object.entries(properties).map(([key, schema]) => [key, valuesOf(fc, schema)] as const);
  const sizeOf = (isCounted: (key: string) => boolean): number =>
    values.reduce((sum, [key, { size }]) => isCounted(key) ? sum + size : sum, 0);
  const optional = sizeOf((key) => !required.includes(key));
  const share = Math.max(RAREST, Math.min(0.5, OPTIONAL_VALUES / optional));
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

function texts(fc: Library, { pattern, format, minLength = 0, maxLength }: JsonSchema): FastCheck.Arbitrary<string> {
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

/** JSON has neither undefined nor a minus in front of zero. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
