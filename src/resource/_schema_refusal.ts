/** How a kind is refused for its schema: each fault at its place, and what to do about it. */
import type { FieldError, JsonSchema } from "../schema/mod.ts";
import { costAdvice } from "../schema/rules/missing_bounds.ts";
import { refuse } from "./_refusal.ts";

/**
 * Refuses a kind for what an API server would reject in its schema.
 *
 * @param kind The kind.
 * @param root Its schema.
 * @param faults The faults, whose fields begin below the schema.
 */
export function refuseSchema(kind: string, root: JsonSchema, faults: readonly FieldError[]): never {
  const advised = new Set<string>();
  const texts = faults.map((fault) => `${placeOf(fault)}: ${messageOf(fault)}${adviceFor(fault, root, advised)}`);
  const [only] = texts;
  const list = texts.length === 1 ? ` ${only}` : `:${texts.map((text) => `\n  ${text}`).join("")}`;
  refuse(kind, `an API server would reject${list}`);
}

const STEP = /^\.(?:properties\[(.*?)\](?=\.|$)|(items|additionalProperties)(?=\.))/s;

const RULE = /^x-kubernetes-validations\[\d+\]\.(\w+)$/;

/** The place of a fault as users know it: the keyword or the rule, and the path in an object where it stands. */
function placeOf({ field, rule }: FieldError): string {
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

// A server quotes the whole rule, with what it does not say.
const QUOTED_RULE = /^Invalid value: \{"Rule":.*?"OptionalOldSelf":(?:null|true|false)\}: /s;

// And the whole schema, thousands of letters.
const QUOTED_SCHEMA = /^Invalid value: \{"ID":.*\}: (?=only \[)/s;

function messageOf({ message, rule }: FieldError): string {
  return message.replace(rule === undefined ? QUOTED_SCHEMA : QUOTED_RULE, "");
}

const TOO_EXPENSIVE = /^Forbidden: (?:estimated \w+ cost exceeds budget|contributed to estimated rule cost total)/;

/** What to do about a rule that may cost too much, where that is known; said once of each. */
function adviceFor({ field, message }: FieldError, root: JsonSchema, advised: Set<string>): string {
  if (!TOO_EXPENSIVE.test(message) || advised.has(field)) return "";
  advised.add(field);
  const { bounds, better } = costAdvice(root, field);
  const advice = [
    ...(bounds.length === 0 ? [] : [`add ${bounds.map(({ keyword, path }) => `${keyword} to ${path}`).join(", ")}`]),
    ...(better === undefined ? [] : [`write ${better}, whose length is known`]),
  ];
  return advice.length === 0 ? "" : `; ${advice.join("; ")}`;
}
