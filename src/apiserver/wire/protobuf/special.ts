/**
 * Types whose JSON form differs from the fields of their message: quantities, times, raw JSON and
 * others.
 */
import { isObject } from "../../../base/json.ts";
import { own } from "../../../base/own.ts";

/** Converts between the JSON of a special type and the fields of its message. */
export interface SpecialType {
  toFields(value: unknown): Record<string, unknown>;
  /** Returns `undefined` if the message represents no value. */
  fromFields(fields: Readonly<Record<string, unknown>>): unknown;
}

// A field of the message, not a keyword of JSON Schema.
const SCHEMA = "schema";

const rawJson = (key: string): SpecialType => ({
  toFields: (value) => ({ [key]: toBase64(JSON.stringify(value)) }),
  fromFields(fields) {
    const raw = own(fields, key);
    return typeof raw === "string" && raw !== "" ? JSON.parse(fromBase64(raw)) : undefined;
  },
});

const time = (digits: 0 | 6): SpecialType => ({
  toFields(value) {
    if (typeof value !== "string") return {};
    const [, fraction = ""] = /\.(\d+)/.exec(value) ?? [];
    const seconds = Math.floor(Date.parse(value) / 1000);
    return { seconds, nanos: Number(fraction.slice(0, digits).padEnd(9, "0")) };
  },
  fromFields({ seconds, nanos = 0 }) {
    if (seconds === undefined) return undefined;
    const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
    return digits === 0 ? `${whole}Z` : `${whole}.${String(nanos).padStart(9, "0").slice(0, digits)}Z`;
  },
});

const stringList: SpecialType = {
  toFields: (value) => ({ items: value }),
  fromFields: ({ items = [] }) => items,
};

/** Special types by the names of their messages. */
export const SPECIAL: ReadonlyMap<string, SpecialType> = new Map<string, SpecialType>([
  ["api.resource.Quantity", {
    toFields: (value) => ({ string: String(value) }),
    fromFields: ({ string: amount }) => amount === undefined || amount === "" ? "0" : amount,
  }],
  ["util.intstr.IntOrString", {
    toFields: (value) => typeof value === "string" ? { type: 1, strVal: value } : { type: 0, intVal: value },
    fromFields: ({ type = 0, intVal = 0, strVal = "" }) => type === 0 ? intVal : strVal,
  }],
  ["meta.v1.Time", time(0)],
  ["meta.v1.MicroTime", time(6)],
  ["meta.v1.FieldsV1", rawJson("Raw")],
  ["pkg.runtime.RawExtension", rawJson("raw")],
  ["apiextensions.v1.JSON", rawJson("raw")],
  ["apiextensions.v1.JSONSchemaPropsOrArray", {
    toFields: (value) => Array.isArray(value) ? { jSONSchemas: value } : { [SCHEMA]: value },
    fromFields: ({ schema, jSONSchemas }) => schema ?? jSONSchemas ?? [],
  }],
  ["apiextensions.v1.JSONSchemaPropsOrBool", {
    toFields: (value) => isObject(value) ? { allows: true, [SCHEMA]: value } : { allows: value },
    fromFields: ({ allows = false, schema }) => schema ?? allows,
  }],
  ["apiextensions.v1.JSONSchemaPropsOrStringArray", {
    toFields: (value) => Array.isArray(value) ? { property: value } : { [SCHEMA]: value },
    fromFields: ({ schema, property = [] }) => schema ?? property,
  }],
  ["authentication.v1.ExtraValue", stringList],
  ["authorization.v1.ExtraValue", stringList],
  ["certificates.v1.ExtraValue", stringList],
]);

/** Keys of the fields of special types, which the generated data does not contain. */
export const SPECIAL_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ["util.intstr.IntOrString", ["type", "intVal", "strVal"]],
  ["meta.v1.FieldsV1", ["Raw"]],
  ["pkg.runtime.RawExtension", ["raw"]],
  ["apiextensions.v1.JSON", ["raw"]],
  ["apiextensions.v1.JSONSchemaPropsOrArray", [SCHEMA, "jSONSchemas"]],
  ["apiextensions.v1.JSONSchemaPropsOrBool", ["allows", SCHEMA]],
  ["apiextensions.v1.JSONSchemaPropsOrStringArray", [SCHEMA, "property"]],
]);

function toBase64(value: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(value)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function fromBase64(encoded: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0)));
}
