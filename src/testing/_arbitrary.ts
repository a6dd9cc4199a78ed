/** Objects that nobody thought of, by a kind's schema, for property tests. */
import type * as FastCheck from "fast-check";
import { isObject } from "../base/json.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { validate } from "../resource/validation.ts";
import type { JsonSchema } from "../schema/json_schema.ts";

/** A property may be missing as often as it is there. */
type Library = typeof FastCheck;

/**
 * Objects of a kind as a server stores them: whatever the schema says, rules in CEL and patterns included.
 *
 * @param fc The library; who needs it brings it.
 * @param kind A kind made by `resource()`.
 * @throws {TypeError} If the kind has no schema here.
 */
export function objectsOf(fc: Library, kind: AnyKind): FastCheck.Arbitrary<KubeObject> {
  const version = kind.crd?.spec.versions.find(({ name }) => name === kind.version);
  if (version === undefined) {
    throw new TypeError(`Cannot make objects of ${kind.apiVersion} ${kind.kind}: it has no schema here`);
  }
  const { properties = {}, required = [] } = version.schema.openAPIV3Schema;
  const body = Object.fromEntries(
    Object.entries(properties).filter(([key]) => !["apiVersion", "kind", "metadata"].includes(key))
      .map(([key, schema]) => [key, valuesOf(fc, schema as JsonSchema)]),
  );
  const metadata = { name: "a", ...(kind.namespaced ? { namespace: "default" } : {}), uid: "u", resourceVersion: "1" };
  return fc.record(body, { requiredKeys: required.filter((key) => key in body) })
    .map((value) =>
      plain({ apiVersion: kind.apiVersion, kind: kind.kind, metadata, ...value }) as unknown as KubeObject
    )
    // Formats and rules say more than what is made here knows.
    .filter((object) => validate(kind, object).length === 0);
}

function valuesOf(fc: Library, schema: JsonSchema): FastCheck.Arbitrary<unknown> {
  const values = presentValuesOf(fc, schema);
  return schema.nullable ? fc.option(values, { freq: 5 }) : values;
}

function presentValuesOf(fc: Library, schema: JsonSchema): FastCheck.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema["x-kubernetes-int-or-string"]) return fc.oneof(fc.integer(), texts(fc, schema));
  switch (schema.type) {
    case "string":
      return texts(fc, schema);
    case "integer": {
      const { minimum = -1000, maximum = Math.max(1000, minimum) } = schema;
      return fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) });
    }
    case "number":
      return fc.double({
        min: schema.minimum ?? -1e6,
        max: schema.maximum ?? Math.max(1e6, schema.minimum ?? 0),
        noNaN: true,
      });
    case "boolean":
      return fc.boolean();
    case "array": {
      const { items = {}, minItems = 0, maxItems = Math.max(minItems, 4) } = schema;
      const item = valuesOf(fc, items as JsonSchema);
      const size = { minLength: minItems, maxLength: Math.min(maxItems, Math.max(minItems, 4)) };
      return schema["x-kubernetes-list-type"] === "set" ? fc.uniqueArray(item, size) : fc.array(item, size);
    }
    case "object":
      return objects(fc, schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objects(fc: Library, schema: JsonSchema): FastCheck.Arbitrary<unknown> {
  const { properties, required = [], additionalProperties } = schema;
  if (isObject(additionalProperties)) {
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), valuesOf(fc, additionalProperties as JsonSchema), {
      maxKeys: 3,
      noNullPrototype: true,
    });
  }
  if (properties === undefined) {
    const takesAnything = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
    // What a schema does not name is gone before anything is converted.
    return takesAnything
      ? fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 1 }))
      : fc.constant({});
  }
  const known = Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, valuesOf(fc, value as JsonSchema)]),
  );
  return fc.record(known, { requiredKeys: required.filter((key) => key in known) });
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
