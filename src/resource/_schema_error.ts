/** The error for a kind with an invalid schema: each error with its path and advice. */
import type { SchemaError } from "../schema/field_error.ts";
import type { JsonSchema } from "../schema/mod.ts";
import { costAdvice } from "../schema/rules/missing_bounds.ts";
import { rejectKind } from "./_kind_error.ts";

/**
 * Throws the error for a kind whose schema an API server would reject.
 *
 * @param kind The kind.
 * @param root Its schema.
 * @param errors The errors, with paths relative to the schema.
 */
export function rejectSchema(kind: string, root: JsonSchema, errors: readonly SchemaError[]): never {
  const advised = new Set<string>();
  const messages = errors.map((error) =>
    `${positionOf(error)}: ${error.detail ?? error.message}${adviceFor(error, root, advised)}`
  );
  const [only] = messages;
  const list = messages.length === 1 ? ` ${only}` : `:${messages.map((text) => `\n  ${text}`).join("")}`;
  rejectKind(kind, `an API server would reject${list}`);
}

const STEP = /^\.(?:properties\[(.*?)\](?=\.|$)|(items|additionalProperties)(?=\.))/s;

const RULE = /^x-kubernetes-validations\[\d+\]\.(\w+)$/;

/**
 * Returns the position of an error for the user: the keyword or rule, and its path in an object
 * instead of the schema.
 */
function positionOf({ field, rule }: SchemaError): string {
  let rest = field;
  let path = "";
  for (let step = STEP.exec(rest); step !== null; step = STEP.exec(rest)) {
    const [text, name, below] = step;
    path += name !== undefined ? `.${name}` : below === "items" ? "[]" : ".*";
    rest = rest.slice(text.length);
  }
  const place = path === "" ? "the whole object" : path;
  if (rest === "") return place;
  const keyword = rest.slice(1);
  const [, part] = RULE.exec(keyword) ?? [];
  if (rule === undefined || part === undefined) return `"${keyword}" of ${place}`;
  const text = `the rule ${JSON.stringify(rule)} of ${place}`;
  return part === "rule" ? text : `"${part}" of ${text}`;
}

/** Returns advice for a rule that is too expensive, once for each rule. */
function adviceFor({ field, isTooExpensive = false }: SchemaError, root: JsonSchema, advised: Set<string>): string {
  if (!isTooExpensive || advised.has(field)) return "";
  advised.add(field);
  const { bounds, better } = costAdvice(root, field);
  const advice = [
    ...(bounds.length === 0 ? [] : [`add ${bounds.map(({ keyword, path }) => `${keyword} to ${path}`).join(", ")}`]),
    ...(better === undefined ? [] : [`write ${better}, which has a limited length`]),
  ];
  return advice.length === 0 ? "" : `; ${advice.join("; ")}`;
}
