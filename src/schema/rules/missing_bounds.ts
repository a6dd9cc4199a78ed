/**
 * Advice for rules that are too expensive: the missing bounds, and an equivalent message expression
 * whose length is known.
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { Program } from "../../cel/program.ts";
import { celName } from "../_cel_name.ts";
import type { JsonSchema } from "../json_schema.ts";
import { compileRules, maxValues } from "./compiled_rule.ts";
import { type DeclaredType, declaredType, maxElements } from "./declared_type.ts";
import { RULE_LIMIT } from "./limits.ts";

/** A bound that would reduce the cost of a rule. */
export interface MissingBound {
  readonly keyword: "maxItems" | "maxLength" | "maxProperties";
  /** The path where it is missing, such as `.spec.hosts[]`. */
  readonly path: string;
}

/** Advice for a rule. */
export interface CostAdvice {
  readonly bounds: readonly MissingBound[];
  /** An equivalent message expression with a known length. */
  readonly better?: string;
}

/**
 * Returns advice for a rule or message expression that is too expensive.
 *
 * @param root The schema of a whole object.
 * @param field The path of the error, such as `.properties[spec].x-kubernetes-validations[0].rule`.
 */
export function costAdvice(root: JsonSchema, field: string): CostAdvice {
  const found = findRule(root, field);
  if (found === undefined) return { bounds: [] };
  const { node, index, isMessage, nodes, path } = found;
  const type = declaredType(node, node === root || (node["x-kubernetes-embedded-resource"] ?? false));
  const compiled = type && compileRules(node, type)[index];
  const program = isMessage ? compiled?.message?.program : compiled?.program;
  if (type === undefined || program === undefined) return { bounds: [] };
  const containers = isMessage ? [] : containersIn(nodes);
  const bounds = usefulBounds({ node, type, program, path, containers });
  const better = isMessage ? betterMessage(node, index, type) : undefined;
  return { bounds, ...(better && { better }) };
}

/** A node of a schema on the path to a rule. */
interface Step {
  readonly schema: JsonSchema;
  readonly path: string;
}

interface FoundRule {
  readonly node: JsonSchema;
  readonly path: string;
  readonly index: number;
  readonly isMessage: boolean;
  /** Its ancestors, starting at the root. */
  readonly nodes: readonly Step[];
}

const STEP = /^\.(?:properties\[(.*?)\](?=\.)|(items|additionalProperties)(?=\.))/s;
const RULE = /^\.x-kubernetes-validations\[(\d+)\]\.(rule|messageExpression)$/;

function findRule(root: JsonSchema, field: string): FoundRule | undefined {
  let [node, path, rest]: [JsonSchema | undefined, string, string] = [root, "", field];
  const nodes: Step[] = [];
  for (let step = STEP.exec(rest); step !== null && node !== undefined; step = STEP.exec(rest)) {
    const [text, name, below] = step;
    nodes.push({ schema: node, path });
    const { additionalProperties } = node;
    if (name !== undefined) node = own(node.properties, name);
    else node = below === "items" ? node.items : isObject(additionalProperties) ? additionalProperties : undefined;
    path += name !== undefined ? `.${name}` : below === "items" ? "[]" : ".*";
    rest = rest.slice(text.length);
  }
  const [, index, part] = RULE.exec(rest) ?? [];
  if (node === undefined || index === undefined) return undefined;
  return { node, path, index: Number(index), isMessage: part === "messageExpression", nodes };
}

/**
 * Returns the lists and maps among nodes. A rule below them is evaluated for each of their entries.
 */
function containersIn(nodes: readonly Step[]): Step[] {
  return nodes.filter(({ schema }) => schema.type === "array" || isObject(schema.additionalProperties));
}

interface RuleToPrice {
  readonly node: JsonSchema;
  readonly type: DeclaredType;
  readonly program: Program;
  readonly path: string;
  readonly containers: readonly Step[];
}

/** The assumed size of a list or map once it is bounded. */
const ASSUMED_SIZE = 10;

function usefulBounds({ node, type, program, path, containers }: RuleToPrice): MissingBound[] {
  const missing = new Map<string, MissingBound>();
  const addIfUnbounded = (schema: JsonSchema, at: string) => {
    const keyword = missingKeyword(schema);
    if (keyword !== undefined) missing.set(at, { keyword, path: at });
  };
  for (const each of containers) addIfUnbounded(each.schema, each.path);
  const cost = (isBounded: (path: string) => boolean): number => {
    const sizeOf = ([, ...steps]: readonly string[]) => {
      const max = maxElements(type, steps);
      if (max === undefined) return undefined;
      const part = partAt(node, path, steps);
      if (part !== undefined) addIfUnbounded(part.schema, part.path);
      const isSmall = part !== undefined && missing.has(part.path) && isBounded(part.path);
      return { min: 0, max: isSmall ? ASSUMED_SIZE : max };
    };
    return program.estimateCost({ sizeOf }).max * timesEvaluated(containers, type, isBounded);
  };
  cost(() => false);
  const minCost = cost(() => true);
  return [...missing.values()].filter((bound) => cost((path) => path !== bound.path) > 1.1 * minCost)
    .sort((a, b) => a.path < b.path ? -1 : 1);
}

function timesEvaluated(containers: readonly Step[], type: DeclaredType, isBounded: (path: string) => boolean): number {
  const sizes = containers.map(({ schema, path }) => {
    return (schema.type === "array" ? schema.maxItems : schema.maxProperties) ??
      (isBounded(path) ? ASSUMED_SIZE : undefined);
  });
  return sizes.reduce<number>((all, each) => all * (each ?? NaN), 1) || maxValues(type);
}

function missingKeyword(schema: JsonSchema): MissingBound["keyword"] | undefined {
  const { type, format = "", maxItems, maxLength, maxProperties, additionalProperties, enum: values } = schema;
  if (type === "array") return maxItems === undefined ? "maxItems" : undefined;
  if (isObject(additionalProperties)) return maxProperties === undefined ? "maxProperties" : undefined;
  if (type !== "string" && !schema["x-kubernetes-int-or-string"]) return undefined;
  if (maxLength !== undefined || values !== undefined || ["date", "date-time", "duration"].includes(format)) {
    return undefined;
  }
  return "maxLength";
}

/** Returns the node at the end of a path of the cost estimate. */
function partAt(schema: JsonSchema, path: string, steps: readonly string[]): Step | undefined {
  let current: Step = { schema, path };
  for (const step of steps) {
    const next = stepInto(current, step);
    if (next === undefined) return undefined;
    current = next;
  }
  return current;
}

function stepInto({ schema, path }: Step, step: string): Step | undefined {
  const { items, additionalProperties, properties = {} } = schema;
  if (step === "@items") return items && { schema: items, path: `${path}[]` };
  if (step === "@values") {
    return isObject(additionalProperties) ? { schema: additionalProperties, path: `${path}.*` } : undefined;
  }
  const name = Object.keys(properties).find((each) => celName(each) === step);
  return name === undefined ? undefined : { schema: properties[name]!, path: `${path}.${name}` };
}

/**
 * Returns an equivalent message expression with `format`, if that makes it cheap enough: the length
 * of a concatenation with `string(...)` is unknown, but that of a format is known.
 */
function betterMessage(node: JsonSchema, index: number, type: DeclaredType): string | undefined {
  const rule = node["x-kubernetes-validations"]?.[index];
  const better = asFormat(rule?.messageExpression ?? "");
  if (rule === undefined || better === undefined) return undefined;
  const changed = { ...rule, messageExpression: better };
  const [compiled] = compileRules({ ...node, "x-kubernetes-validations": [changed] }, type);
  const message = compiled?.message;
  return message?.program !== undefined && message.cost <= RULE_LIMIT ? better : undefined;
}

/**
 * Rewrites a concatenation as a format: `'a' + string(self.n)` becomes `'a%s'.format([self.n])`.
 */
function asFormat(expression: string): string | undefined {
  const terms = termsOf(expression).map((term) => term.trim());
  if (terms.length < 2 || terms.includes("")) return undefined;
  let format = "";
  const values: string[] = [];
  for (const term of terms) {
    const [, literal] = /^'((?:[^'\\]|\\.)*)'$/.exec(term) ?? [];
    const [, value] = /^string\(([^()]+)\)$/.exec(term) ?? [];
    format += literal === undefined ? "%s" : literal.replaceAll("%", "%%");
    if (literal === undefined) values.push(value ?? term);
  }
  return `'${format}'.format([${values.join(", ")}])`;
}

/** Splits an expression at the plus signs outside of brackets and quotes. */
function termsOf(expression: string): string[] {
  const terms = [""];
  let depth = 0;
  for (const [token] of expression.matchAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^]/g)) {
    if ("([{".includes(token)) depth++;
    else if (")]}".includes(token)) depth--;
    if (token === "+" && depth === 0) terms.push("");
    else terms[terms.length - 1] += token;
  }
  return terms;
}
