/**
 * Writes schemas that contain no other schemas as builders: strings, numbers, booleans and values
 * of any type.
 */
import type { s } from "@op/sdk";
import type { JsonSchema } from "@op/sdk/resource";
import { call, type Expression, literal } from "./expression.ts";
import { optionalArgument, optionsOf } from "./options_of.ts";

type StringFormat = NonNullable<NonNullable<Parameters<typeof s.string>[0]>["format"]>;

const STRING_FORMATS: { readonly [Format in StringFormat]: true } = {
  bsonobjectid: true,
  byte: true,
  cidr: true,
  creditcard: true,
  date: true,
  "date-time": true,
  duration: true,
  email: true,
  hexcolor: true,
  hostname: true,
  ipv4: true,
  ipv6: true,
  isbn: true,
  isbn10: true,
  isbn13: true,
  "k8s-long-name": true,
  "k8s-short-name": true,
  mac: true,
  password: true,
  rgbcolor: true,
  ssn: true,
  uri: true,
  uuid: true,
  uuid3: true,
  uuid4: true,
  uuid5: true,
};

const LENGTHS = ["minLength", "maxLength"];
const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

interface Candidate {
  readonly callee: string;
  /** Keywords that the builder sets itself. */
  readonly structure: readonly string[];
  /** Keywords that this builder accepts in addition to those of all builders. */
  readonly own?: readonly string[];
  /** The arguments before the options. */
  readonly args?: readonly Expression[];
}

/**
 * Yields expressions for a schema that contains no other schemas, the most readable first. They are
 * candidates: the caller must evaluate them and compare the result.
 *
 * @param schema The schema.
 */
export function* scalars(schema: JsonSchema): Generator<Expression> {
  for (const { callee, structure, own, args = [] } of candidatesOf(schema)) {
    const options = optionsOf(schema, structure, own);
    if (options !== undefined) yield call(callee, ...args, ...optionalArgument(options));
  }
}

function candidatesOf(schema: JsonSchema): Candidate[] {
  switch (schema.type) {
    case "string":
      return [...formatCandidates(schema), ...enumCandidates(schema), {
        callee: "s.string",
        structure: ["type"],
        own: [...LENGTHS, "pattern", "enum", ...formatKeyword(schema, Object.keys(STRING_FORMATS))],
      }];
    case "integer":
      return [...enumCandidates(schema), {
        callee: "s.integer",
        structure: ["type"],
        own: [...BOUNDS, "enum", ...formatKeyword(schema, ["int32", "int64"])],
      }];
    case "number":
      return [...enumCandidates(schema), {
        callee: "s.number",
        structure: ["type"],
        own: [...BOUNDS, "enum", ...formatKeyword(schema, ["float", "double"])],
      }];
    case "boolean":
      return [...enumCandidates(schema), { callee: "s.boolean", structure: ["type"] }];
    case "object":
    case undefined:
      return untypedCandidates(schema);
    default:
      return [];
  }
}

/** Returns the builder of a format that has its own builder. */
function formatCandidates({ format }: JsonSchema): Candidate[] {
  const callee = { "date-time": "s.dateTime", duration: "s.duration", byte: "s.bytes" }[format ?? ""];
  return callee === undefined ? [] : [{ callee, structure: ["type", "format"], own: LENGTHS }];
}

function enumCandidates({ enum: values }: JsonSchema): Candidate[] {
  if (values === undefined || values.length === 0) return [];
  const one: Candidate = { callee: "s.literal", structure: ["type", "enum"], args: [literal(values[0])] };
  const some: Candidate = { callee: "s.enum", structure: ["type", "enum"], args: [literal(values)] };
  return values.length === 1 ? [one] : [some];
}

function untypedCandidates(schema: JsonSchema): Candidate[] {
  if (schema["x-kubernetes-int-or-string"] === true) {
    const structure = ["x-kubernetes-int-or-string", "anyOf"];
    const own = [...LENGTHS, "minimum", "maximum", "pattern"];
    return [
      { callee: "s.quantity", structure: [...structure, "pattern"], own: LENGTHS },
      { callee: "s.intOrString", structure, own },
      { callee: "s.intOrString", structure: ["x-kubernetes-int-or-string"], own },
    ];
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] !== true) return [];
  const structure = ["x-kubernetes-preserve-unknown-fields"];
  return [{ callee: "s.anything", structure, own: ["type"] }];
}

function formatKeyword({ format }: JsonSchema, known: readonly string[]): string[] {
  return format !== undefined && known.includes(format) ? ["format"] : [];
}
