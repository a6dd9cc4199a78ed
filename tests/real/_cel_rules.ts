/**
 * Converts expressions to validation rules, with the response that `src/cel` predicts for a real
 * API server.
 */
import assert from "node:assert/strict";
import {
  CelError,
  CompileError,
  createEnvironment,
  DurationValue,
  List,
  MapValue,
  Optional,
  type Sizes,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "../../src/cel/mod.ts";
import { CidrValue } from "../../src/cel/kubernetes/cidr.ts";
import { IpValue } from "../../src/cel/kubernetes/ip.ts";
import { QuantityValue } from "../../src/cel/kubernetes/quantity.ts";
import { timestampText } from "../../src/cel/time.ts";
import { typeName } from "../../src/cel/type.ts";
import { withoutSyntaxWording } from "../contract/syntax_wording.ts";

const environment = createEnvironment({ variables: {} });
// The limit of a rule's estimated cost (k8s.io/apiextensions-apiserver,
// pkg/apis/apiextensions/validation).
const BUDGET = 10_000_000;
// A name such as "net.IP" has the size of the rule's value, here an object without properties.
const SIZES: Sizes = { sizeOf: () => ({ min: 0, max: 0 }) };
const TOO_EXPENSIVE = "estimated rule cost exceeds budget by factor of more than 100x";

/** A rule in a CRD. */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
}

/**
 * The expected response: an error on definition if the rule is rejected, or else an error for any
 * object.
 */
export interface Expected {
  readonly given: Rule;
  readonly refusal?: string;
  readonly message?: string;
}

/** Converts an expression to a rule that results in an error message. */
export function expectedOf(expression: string): Expected {
  // Compared with a value, so that the type is bool. The comparison is never evaluated, because the
  // expression fails.
  const failing = `dyn(${expression}) == 0`;
  const refused = ruleOf(failing);
  try {
    const program = environment.compile(expression);
    const { value } = program.evaluate({});
    const given = telling(program.type.kind === "string" ? expression : `string(${expression})`, expression, value);
    assert.equal(environment.compile(given.rule).evaluate({}).value, false, given.rule);
    if (isTooExpensive(given.rule)) return { given: { rule: given.rule }, refusal: TOO_EXPENSIVE };
    if (given.messageExpression !== undefined && isTooExpensive(given.messageExpression)) {
      return { given: { rule: `${given.messageExpression} == 'nothing'` }, refusal: TOO_EXPENSIVE };
    }
    const told = given.messageExpression === undefined ? given.message ?? `failed rule: ${given.rule}` : shown(value);
    return { given, message: `Invalid value: ${told}` };
  } catch (error) {
    if (error instanceof CompileError) return { given: refused, refusal: refusalOf(failing) };
    if (!(error instanceof CelError)) throw error;
    if (isTooExpensive(failing)) return { given: refused, refusal: TOO_EXPENSIVE };
    return { given: refused, message: `Invalid value: "object": ${failure(error.message, failing)}` };
  }
}

/** A server requires a message for a rule of several lines. */
function ruleOf(rule: string): Rule {
  return rule.includes("\n") ? { rule, message: "not kept" } : { rule };
}

/** Returns the part of a server's error that depends only on the rule. */
export function refusalIn(message: string): string {
  const refusal = /(?:compilation failed|program instantiation failed): .*$/s.exec(message)?.[0];
  if (refusal !== undefined) return withoutSyntaxWording(refusal);
  return message.includes(TOO_EXPENSIVE) ? TOO_EXPENSIVE : message;
}

function failure(message: string, rule: string): string {
  const shownRule = rule.replaceAll("\n", " ").trim();
  if (!message.startsWith("no such overload")) return `${message} evaluating rule: ${shownRule}`;
  const explained = "call arguments did not match a supported operator, function or macro signature";
  return `'${message}': ${explained} for rule: ${shownRule}`;
}

/**
 * Returns a rule that fails and reveals the value: in its message if it can be formatted, or else
 * by comparing it with the value.
 */
function telling(messageExpression: string, expression: string, value: Value): Rule {
  const text = shown(value);
  if (text !== undefined && text.trim() === text && text !== "" && !text.includes("\n")) {
    return { rule: "1 == 2", messageExpression };
  }
  if (Number.isNaN(value)) return ruleOf(`dyn(${expression}) == (${expression})`);
  if (value instanceof Optional && value.value === undefined) return ruleOf(`(${expression}).hasValue()`);
  if (value instanceof Optional) return ruleOf(`dyn((${expression}).value()) != ${literalOf(value.value!)}`);
  // Some types have no name in expressions.
  if (value instanceof TypeValue && typeName(value.type).startsWith("kubernetes.")) {
    return ruleOf(`dyn(${expression}) == 0`);
  }
  return ruleOf(`dyn(${expression}) != ${literalOf(value)}`);
}

function shown(value: Value): string | undefined {
  if (typeof value === "string" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (value instanceof IpValue) return value.address.toString();
  if (value instanceof CidrValue) return value.network.toString();
  return undefined;
}

function literalOf(value: Value): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return Number.isInteger(value) ? value.toFixed(1) : `double('${value}')`;
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `b'${Array.from(value, octal).join("")}'`;
  if (value instanceof DurationValue) return `duration('${value.nanoseconds}ns')`;
  if (value instanceof Timestamp) return `timestamp('${timestampText(value)}')`;
  if (value instanceof TypeValue) return typeName(value.type);
  // Literals of lists must not have mixed types.
  if (value instanceof List) return `[${value.items.map((item) => `dyn(${literalOf(item)})`).join(", ")}]`;
  if (value instanceof MapValue) {
    const entries = [...value.keys()].map((key) => `dyn(${literalOf(key)}): dyn(${literalOf(value.get(key) ?? null)})`);
    return `{${entries.join(", ")}}`;
  }
  if (value instanceof Optional) {
    return value.value === undefined ? "optional.none()" : `optional.of(${literalOf(value.value)})`;
  }
  if (value instanceof QuantityValue) return `quantity('${value.quantity}')`;
  return String(value);
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, "0")}`;
}

function isTooExpensive(rule: string): boolean {
  return environment.compile(rule).estimateCost(SIZES).max > BUDGET;
}

function refusalOf(rule: string): string {
  try {
    environment.compile(rule);
    return "nothing";
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    const what = error.stage === "check" ? "compilation failed" : "program instantiation failed";
    return withoutSyntaxWording(`${what}: ${error.message}`);
  }
}
