/**
 * Paths to fields of a schema in rules and selectable fields
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel`, ValidFieldPath).
 */
import { isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import type { JsonSchema } from "./json_schema.ts";

/** The target of a path. */
export interface FieldTarget {
  /** The path in messages: `spec.labels[app]`. */
  readonly field: string;
  /** The first name of the path. */
  readonly root: string;
  /** The schema of the target; `undefined` if it may be any value. */
  readonly schema: JsonSchema | undefined;
}

/** Thrown if a path is well-formed, but the schema has no such field. */
export class UnknownFieldError extends SyntaxError {
  override name = "UnknownFieldError";

  constructor() {
    super("does not refer to a valid field");
  }
}

/** Options for {@linkcode fieldTarget}. */
export interface FieldPathOptions {
  /** Whether names in brackets are allowed. @default {true} */
  readonly brackets?: boolean;
}

/**
 * Resolves a path in a schema.
 *
 * @param path The path, such as `.spec.host` or `.spec['a-b']`.
 * @param schema The schema.
 * @param options Additional options.
 * @returns The target.
 * @throws {UnknownFieldError} If the schema has no such field.
 * @throws {SyntaxError} If the path is malformed. Messages are the server's.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = { properties: { spec: { properties: { host: { type: "string" } } } } } as const;
 * assert.deepEqual(fieldTarget(".spec.host", schema), {
 *   field: "spec.host",
 *   root: "spec",
 *   schema: { type: "string" },
 * });
 * ```
 */
export function fieldTarget(path: string, schema: JsonSchema, options: FieldPathOptions = {}): FieldTarget {
  const { brackets = true } = options;
  const tokens = tokenize(path);
  let target: FieldTarget = { field: "", root: "", schema };
  for (let i = 0; i < tokens.length;) {
    const token = tokens[i] ?? "";
    const name = tokens[i + 1];
    if (token === ".") {
      if (name === undefined) throw new SyntaxError("unexpected end of JSON path");
      target = step(target, name);
      i += 2;
    } else if (token === "[") {
      if (!brackets) throw new SyntaxError("array notation is not allowed");
      if (name === undefined) throw new SyntaxError("unexpected end of JSON path");
      if (!/^'.*'$/s.test(name) || name.length < 2) {
        throw new SyntaxError(`expected single quoted string but got ${name}`);
      }
      target = step(target, unescapeText(name.slice(1, -1)));
      const end = tokens[i + 2];
      if (end === undefined) throw new SyntaxError("unexpected end of JSON path");
      if (end !== "]") throw new SyntaxError(`expected ] but got ${end}`);
      i += 3;
    } else throw new SyntaxError(`expected [ or . but got: ${token}`);
  }
  return target;
}

// A delimiter, a quoted string (possibly unterminated), or the text up to the next delimiter.
const TOKEN = /[.[\]]|'(?:.*?[^\\])??'|'.*$|[^.[\]'][^.[\]]*/gs;

function tokenize(path: string): string[] {
  return [...path.matchAll(TOKEN)].map(([token]) => token);
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

function unescapeText(text: string): string {
  return text.replaceAll(/\\(.)/g, (sequence, character: string) => {
    const unescapedCharacter = ESCAPES[character];
    if (unescapedCharacter === undefined) {
      throw new SyntaxError(`invalid string literal: invalid escape char ${sequence}`);
    }
    return unescapedCharacter;
  });
}

function step({ field, root, schema }: FieldTarget, name: string): FieldTarget {
  const first = root === "" ? name : root;
  if (schema?.properties !== undefined) {
    const property = own(schema.properties, name);
    if (property === undefined) throw new UnknownFieldError();
    return { field: field === "" ? name : `${field}.${name}`, root: first, schema: property };
  }
  const values = schema?.additionalProperties;
  if (values === undefined) throw new UnknownFieldError();
  return { field: `${field}[${name}]`, root: first, schema: isObject(values) ? values : undefined };
}
