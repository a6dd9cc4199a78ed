/** Label and field selectors (`k8s.io/apimachinery/pkg/labels`, `.../fields`). */
import { labelValueFaults, qualifiedNameFaults } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { type FieldError, invalid } from "../../schema/field_error.ts";
import { type BuiltinFields, builtinFields } from "../builtin/fields.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { badRequest } from "../wire/status_error.ts";

/** Whether an object is chosen. */
export type Selection = (object: StoredObject) => boolean;

const TOKEN = /\s*(?:(==|=|!=|!|<|>|\(|\)|,)|([^\s=!<>(),]+))/y;

/**
 * Reads a label selector.
 *
 * @param text The selector, such as `app=web,tier in (a, b),!legacy`.
 * @throws {StatusError} If it is none.
 */
export function labelSelection(text: string): Selection {
  const tokens = tokenize(text);
  const requirements: ((labels: Readonly<Record<string, string>>) => boolean)[] = [];
  let i = 0;
  while (i < tokens.length) {
    const first = tokens[i] ?? "";
    if (first !== "!" && OPERATORS.has(first)) {
      throw badRequest(`found '${first}', expected: !, identifier, or 'end of string'`);
    }
    const [requirement, next] = readRequirement(tokens, i);
    requirements.push(requirement);
    i = next;
    if (i >= tokens.length) break;
    if (tokens[i] !== ",") throw badRequest(`found '${tokens[i]}', expected: ',' or 'end of string'`);
    i++;
    const after = tokens[i];
    if (after === undefined || (after !== "!" && OPERATORS.has(after))) {
      throw badRequest(`found '${after ?? ""}', expected: identifier after ','`);
    }
  }
  return ({ metadata }) => requirements.every((requirement) => requirement(metadata.labels ?? {}));
}

type Requirement = (labels: Readonly<Record<string, string>>) => boolean;

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (match === null) throw badRequest(`unable to parse requirement: ${JSON.stringify(text)}`);
    tokens.push(match[1] ?? match[2] ?? "");
  }
  return tokens;
}

const OPERATORS = new Set(["==", "=", "!=", "!", "<", ">", "(", ")", ","]);

function unparsable(found: string | undefined, expected: string): Error {
  return badRequest(`unable to parse requirement: found '${found ?? ""}', expected: ${expected}`);
}

function readRequirement(tokens: readonly string[], start: number): [Requirement, number] {
  const first = tokens[start];
  if (first === "!") {
    const absent = identifier(tokens, start + 1);
    checkKey(absent);
    return [without(absent), start + 2];
  }
  const key = identifier(tokens, start);
  checkKey(key);
  const operator = tokens[start + 1];
  switch (operator) {
    case undefined:
    case ",":
      return [(labels) => own(labels, key) !== undefined, start + 1];
    case "=":
    case "==":
    case "!=": {
      const [value, next] = exactValue(tokens, start + 2);
      checkValues(key, [value]);
      const isEqual = operator !== "!=";
      return [(labels) => (own(labels, key) === value) === isEqual, next];
    }
    case "in":
    case "notin": {
      const [values, next] = readValues(tokens, start + 2);
      checkValues(key, [...values]);
      const isIn = operator === "in";
      return [(labels) => values.has(own(labels, key) ?? MISSING) === isIn, next];
    }
    case "<":
    case ">": {
      const [text, next] = exactValue(tokens, start + 2);
      if (!/^[+-]?\d+$/.test(text)) {
        const fault = invalid("values[0]", text, "for 'Gt', 'Lt' operators, the value must be an integer");
        throw badRequest(`unable to parse requirement: ${fault.field}: ${fault.message}`);
      }
      const bound = Number(text);
      return [(labels) => {
        const value = Number(own(labels, key) ?? NaN);
        return operator === "<" ? value < bound : value > bound;
      }, next];
    }
    default:
      throw unparsable(operator, "in, notin, =, ==, !=, gt, lt");
  }
}

function checkKey(key: string): void {
  const faults = qualifiedNameFaults(key).map((why) => invalid("<nil>", key, why));
  if (faults.length > 0) throw unfit(faults);
}

function checkValues(key: string, values: readonly string[]): void {
  const faults = values.flatMap((value, i) => {
    const found = labelValueFaults(value);
    return found.length === 0 ? [] : [invalid(`values[${i}][${key}]`, value, found.join("; "))];
  });
  if (faults.length > 0) throw unfit(faults);
}

function unfit(faults: readonly FieldError[]): Error {
  const texts = faults.map(({ field, message }) => `${field}: ${message}`);
  return badRequest(`unable to parse requirement: ${texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`}`);
}

// No label has this value: a value holds no space.
const MISSING = " ";

function without(key: string): Requirement {
  return (labels) => own(labels, key) === undefined;
}

function identifier(tokens: readonly string[], i: number): string {
  const token = tokens[i];
  if (token === undefined || OPERATORS.has(token)) throw unparsable(token, "identifier");
  return token;
}

/** A value may be empty: `app=`. */
function exactValue(tokens: readonly string[], i: number): [string, number] {
  const token = tokens[i];
  return token === undefined || token === "," ? ["", i] : [identifier(tokens, i), i + 1];
}

function readValues(tokens: readonly string[], start: number): [Set<string>, number] {
  if (tokens[start] !== "(") {
    throw badRequest(`unable to parse requirement: found '${tokens[start] ?? ""}' expected: '('`);
  }
  const values = new Set<string>();
  let i = start + 1;
  while (tokens[i] !== ")") {
    if (tokens[i] === ",") values.add("");
    else {
      values.add(identifier(tokens, i));
      i++;
      if (tokens[i] === ")") break;
      if (tokens[i] !== ",") throw unparsable(tokens[i], "',' or ')'");
    }
    i++;
  }
  return [values, i + 1];
}

/**
 * Reads a field selector.
 *
 * @param kind Whose fields.
 * @param text The selector, such as `metadata.name=web`.
 * @throws {StatusError} If it is none, or names a field that cannot be selected by.
 */
export function fieldSelection(kind: ServedKind, text: string): Selection {
  const { fields, unknown } = selectableFields(kind);
  const requirements = fieldTerms(text).filter((part) => part !== "").map((part) => {
    const match = /^((?:[^\\=!]|\\.|!(?!=))*)(==|!=|=)((?:.|\n)*)$/.exec(part);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const [, field = "", operator, raw = ""] = match;
    const value = unescaped(raw);
    const read = fields.get(field);
    if (read === undefined) throw badRequest(unknown(field));
    return (object: StoredObject) => (read(object) === value) === (operator !== "!=");
  });
  return (object) => requirements.every((requirement) => requirement(object));
}

/** The terms of a field selector: a comma behind a backslash is part of a value. */
function fieldTerms(text: string): string[] {
  return text.match(/(?:[^\\,]|\\[^])+/g) ?? [];
}

/** A value without its backslashes, which stand before a comma, an equals sign or each other. */
function unescaped(value: string): string {
  let plain = "";
  for (let i = 0; i < value.length; i++) {
    const character = value[i] ?? "";
    if (character === "," || character === "=") {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    }
    if (character === "\\") {
      const next = value[++i] ?? "";
      if (!["\\", ",", "="].includes(next)) {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${next}`);
      }
      plain += next;
    } else plain += character;
  }
  return plain;
}

function selectableFields(kind: ServedKind): BuiltinFields {
  if (kind.isBuiltin) return builtinFields(`${kind.group}/${kind.plural}`);
  const fields = new Map<string, (object: StoredObject) => string>();
  fields.set("metadata.name", ({ metadata }) => metadata.name);
  if (kind.namespaced) fields.set("metadata.namespace", ({ metadata }) => metadata.namespace ?? "");
  for (const [path, read] of kind.selectableFields ?? []) fields.set(path, read);
  return { fields, unknown: (field) => `field label not supported: ${field}` };
}
