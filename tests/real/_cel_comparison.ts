/**
 * Compares `src/cel` with a real API server: defines kinds with expressions as validation rules,
 * and creates objects of these kinds.
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
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import type { Case } from "../cel_libraries/case.ts";
import { withoutSyntaxWording } from "../contract/syntax_wording.ts";
import { eventually } from "../eventually.ts";

/** A cause in the details of a rejection. */
export interface Cause {
  readonly field: string;
  readonly message: string;
}

/** The server's response to a create request. */
export interface CreateResponse {
  readonly status: number;
  readonly causes: readonly Cause[];
}

/**
 * Checks that the server rejects and evaluates expressions like `src/cel`, with the same errors.
 * Each table becomes a kind. It has a step for the rejected expressions, one for the accepted ones,
 * and one for their results.
 *
 * @param t The test.
 * @param cluster The cluster.
 * @param tables The expressions of each kind.
 */
export async function checkTables(
  t: Deno.TestContext,
  cluster: RealCluster,
  tables: Readonly<Record<string, readonly Case[]>>,
): Promise<void> {
  const expected = Object.entries(tables).map(([kind, cases]) => {
    const rules = cases.map(([expression]) => expectedOf(expression));
    const isRejected = ({ rejection }: Expected) => rejection !== undefined;
    return { kind, rejected: rules.filter(isRejected), accepted: rules.filter((rule) => !isRejected(rule)) };
  });

  for (const { kind, rejected } of expected) {
    await t.step(
      `the server rejects ${rejected.length} invalid expressions of ${kind} when the kind is defined`,
      async () => {
        const { status, causes } = await defineKind(cluster, kind, objectWith(rejected));
        assert.equal(status, 422);
        // The server may report several causes for one rule. Only the first one is compared.
        const actual = new Map<number, string>();
        for (const { field, message } of causes) {
          const index = Number(/x-kubernetes-validations\[(\d+)\]\.rule$/.exec(field)?.[1]);
          if (!actual.has(index)) actual.set(index, rejectionIn(message));
        }
        assert.deepEqual(
          rejected.map(({ given }, index) => [given.rule, actual.get(index)]),
          rejected.map(({ given, rejection }) => [given.rule, rejection]),
        );
      },
    );
  }

  // All kinds are defined first, because a server takes seconds to serve a new kind.
  for (const { kind, accepted } of expected) {
    await t.step(`the server accepts ${accepted.length} valid expressions of ${kind}`, async () => {
      assert.deepEqual(await defineKind(cluster, kind, objectWith(accepted)), { status: 201, causes: [] });
    });
  }
  for (const { kind, accepted } of expected) {
    await t.step(`${accepted.length} expressions of ${kind} have the same results on the server and here`, async () => {
      const { causes } = await eventually(async () => {
        const response = await createObject(cluster, kind, {});
        assert.equal(response.status, 422);
        return response;
      });
      assert.deepEqual(
        accepted.map(({ given }, index) => [given, causes[index]?.message]),
        accepted.map(({ given, message }) => [given, message]),
      );
    });
  }
}

function objectWith(rules: readonly Expected[]): Record<string, unknown> {
  return { type: "object", "x-kubernetes-validations": rules.map(({ given }) => given) };
}

/**
 * Creates a CustomResourceDefinition.
 *
 * @param cluster The cluster.
 * @param kind The kind's name.
 * @param spec The schema of its `spec`.
 */
export async function defineKind(
  cluster: RealCluster,
  kind: string,
  spec: Record<string, unknown>,
): Promise<CreateResponse> {
  const plural = kind.toLowerCase();
  return await post(cluster, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.cel.example.com` },
    spec: {
      group: "cel.example.com",
      scope: "Cluster",
      names: { plural, singular: plural, kind },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      }],
    },
  });
}

/**
 * Creates an object in a dry run.
 *
 * @param cluster The cluster.
 * @param kind The name of its kind.
 * @param spec Its `spec`.
 */
export async function createObject(
  cluster: RealCluster,
  kind: string,
  spec: Record<string, unknown>,
): Promise<CreateResponse> {
  const object = { apiVersion: "cel.example.com/v1", kind, metadata: { name: "one" }, spec };
  return await post(cluster, `/apis/cel.example.com/v1/${kind.toLowerCase()}?dryRun=All`, object);
}

async function post(cluster: RealCluster, path: string, body: unknown): Promise<CreateResponse> {
  const response = await cluster.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const status = text.startsWith("{") ? JSON.parse(text) : {};
  return { status: response.status, causes: status.details?.causes ?? [] };
}

const environment = createEnvironment({ variables: {} });
// The limit of a rule's estimated cost (k8s.io/apiextensions-apiserver,
// pkg/apis/apiextensions/validation).
const BUDGET = 10_000_000;
// A name such as "net.IP" has the size of the rule's value, here an object without properties.
const SIZES: Sizes = { sizeOf: () => ({ min: 0, max: 0 }) };
const TOO_EXPENSIVE = "estimated rule cost exceeds budget by factor of more than 100x";

/** A validation rule in a CRD. */
interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
}

/** A rule, and the server's response that `src/cel` predicts. */
interface Expected {
  readonly given: Rule;
  /** The error of the definition, if the server rejects the rule. */
  readonly rejection?: string;
  /** The error of any object, if the server accepts the rule. */
  readonly message?: string;
}

/** Converts an expression to a rule that fails for every object. */
function expectedOf(expression: string): Expected {
  // Compared with a value, so that the type is bool. The comparison is never evaluated, because the
  // expression fails.
  const failing = `dyn(${expression}) == 0`;
  const failingRule = ruleOf(failing);
  try {
    const program = environment.compile(expression);
    const { value } = program.evaluate({});
    const given = revealingRule(
      program.type.kind === "string" ? expression : `string(${expression})`,
      expression,
      value,
    );
    assert.equal(environment.compile(given.rule).evaluate({}).value, false, given.rule);
    if (isTooExpensive(given.rule)) return { given: { rule: given.rule }, rejection: TOO_EXPENSIVE };
    if (given.messageExpression !== undefined && isTooExpensive(given.messageExpression)) {
      return { given: { rule: `${given.messageExpression} == 'no such message'` }, rejection: TOO_EXPENSIVE };
    }
    const detail = given.messageExpression === undefined
      ? given.message ?? `failed rule: ${given.rule}`
      : formatForMessage(value);
    return { given, message: `Invalid value: ${detail}` };
  } catch (error) {
    if (error instanceof CompileError) return { given: failingRule, rejection: rejectionOf(failing) };
    if (!(error instanceof CelError)) throw error;
    if (isTooExpensive(failing)) return { given: failingRule, rejection: TOO_EXPENSIVE };
    return { given: failingRule, message: `Invalid value: "object": ${runtimeError(error.message, failing)}` };
  }
}

/** Returns a rule. The server requires a message for a rule of several lines. */
function ruleOf(rule: string): Rule {
  return rule.includes("\n") ? { rule, message: "the rule failed" } : { rule };
}

/** Returns the part of the server's error that depends only on the rule. */
function rejectionIn(message: string): string {
  const rejection = /(?:compilation failed|program instantiation failed): .*$/s.exec(message)?.[0];
  if (rejection !== undefined) return withoutSyntaxWording(rejection);
  return message.includes(TOO_EXPENSIVE) ? TOO_EXPENSIVE : message;
}

/** Returns the server's message for an error at run time. */
function runtimeError(message: string, rule: string): string {
  const shownRule = rule.replaceAll("\n", " ").trim();
  if (!message.startsWith("no such overload")) return `${message} evaluating rule: ${shownRule}`;
  const explained = "call arguments did not match a supported operator, function or macro signature";
  return `'${message}': ${explained} for rule: ${shownRule}`;
}

/**
 * Returns a rule that fails and reveals the value: in its message if it can be formatted, or else
 * by comparing it with the value.
 */
function revealingRule(messageExpression: string, expression: string, value: Value): Rule {
  const text = formatForMessage(value);
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

/** Returns a value as a `messageExpression` formats it, or `undefined` if it cannot. */
function formatForMessage(value: Value): string | undefined {
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

/** Returns the error with which the server rejects a rule, as `src/cel` predicts it. */
function rejectionOf(rule: string): string {
  try {
    environment.compile(rule);
    return "no error";
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    const failure = error.stage === "check" ? "compilation failed" : "program instantiation failed";
    return withoutSyntaxWording(`${failure}: ${error.message}`);
  }
}
