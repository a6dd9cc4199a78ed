/** How a kind that cannot be is refused. */
import type { FieldError } from "../schema/mod.ts";

/**
 * Refuses a kind.
 *
 * @param kind The kind.
 * @param why What is wrong with it.
 * @param cause The error behind it.
 */
export function refuse(kind: string, why: string, cause?: unknown): never {
  throw new TypeError(`Cannot make kind "${kind}": ${why}`, cause === undefined ? {} : { cause });
}

/**
 * Refuses a kind for what an API server would refuse in its schema.
 *
 * @param kind The kind.
 * @param faults The faults, whose fields begin below the schema.
 */
export function refuseSchema(kind: string, faults: readonly FieldError[]): never {
  const texts = faults.map((fault) => `${placeOf(fault)}: ${messageOf(fault)}`);
  const [only] = texts;
  const list = texts.length === 1 ? ` ${only}` : `:${texts.map((text) => `\n  ${text}`).join("")}`;
  refuse(kind, `an API server would refuse${list}`);
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

function messageOf({ message, rule }: FieldError): string {
  return rule === undefined ? message : message.replace(QUOTED_RULE, "");
}
