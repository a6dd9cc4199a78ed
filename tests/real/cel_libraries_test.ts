/** The expressions of `tests/cel_libraries` as validation rules: a real API server refuses, computes and fails as `src/cel` does. */
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
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import type { Case } from "../cel_libraries/case.ts";
import { CIDRS } from "../cel_libraries/cidr.ts";
import { FORMATS } from "../cel_libraries/format.ts";
import { IPS } from "../cel_libraries/ip.ts";
import { LISTS } from "../cel_libraries/lists.ts";
import { QUANTITIES } from "../cel_libraries/quantity.ts";
import { REGEX } from "../cel_libraries/regex.ts";
import { SEMVERS } from "../cel_libraries/semver.ts";
import { URLS } from "../cel_libraries/urls.ts";
import { soon } from "./_soon.ts";

const TABLES: Readonly<Record<string, readonly Case[]>> = {
  Lists: LISTS,
  Regex: REGEX,
  Urls: URLS,
  Quantities: QUANTITIES,
  Ips: IPS,
  Cidrs: CIDRS,
  Formats: FORMATS,
  Semvers: SEMVERS,
};
const environment = createEnvironment({ variables: {} });
// What a rule may cost by its estimate (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation).
const BUDGET = 10_000_000;
// A name such as "net.IP" has the size of what the rule is of: here an object without properties.
const SIZES: Sizes = { sizeOf: () => ({ min: 0, max: 0 }) };
const TOO_EXPENSIVE = "estimated rule cost exceeds budget by factor of more than 100x";

/** A rule as a CRD has it. */
interface Rule {
  readonly rule: string;
  readonly messageExpression?: string;
}

/** What must be said of a rule: when the kind is defined where it is refused, else of any object. */
interface Expected {
  readonly given: Rule;
  readonly refusal?: string;
  readonly message?: string;
}

interface Cause {
  readonly field: string;
  readonly message: string;
}

Deno.test("the expressions of Kubernetes' CEL libraries fare on a real API server as here", async (t) => {
  await using cluster = await realCluster();
  const expected = Object.entries(TABLES).map(([kind, cases]) => {
    const rules = cases.map(([expression]) => expectedOf(expression));
    const isRefused = ({ refusal }: Expected) => refusal !== undefined;
    return { kind, refused: rules.filter(isRefused), taken: rules.filter((rule) => !isRefused(rule)) };
  });

  for (const { kind, refused } of expected) {
    await t.step(`${kind}: ${refused.length} are refused when the kind is defined`, async () => {
      const { status, causes } = await define(cluster, kind, refused);
      assert.equal(status, 422);
      const heard = new Map<number, string>();
      for (const { field, message } of causes) {
        const place = Number(/x-kubernetes-validations\[(\d+)\]\.rule$/.exec(field)?.[1]);
        if (!heard.has(place)) heard.set(place, refusalIn(message));
      }
      assert.deepEqual(
        refused.map(({ given }, place) => [given.rule, heard.get(place)]),
        refused.map(({ given, refusal }) => [given.rule, refusal]),
      );
    });
  }

  // All are defined before one is used: it takes a server seconds to serve a new kind.
  for (const { kind, taken } of expected) {
    await t.step(`${kind}: ${taken.length} are taken`, async () => {
      assert.deepEqual(await define(cluster, kind, taken), { status: 201, causes: [] });
    });
  }
  for (const { kind, taken } of expected) {
    await t.step(`${kind}: ${taken.length} come out the same`, async () => {
      const told = await soon(() => complaints(cluster, kind));
      assert.deepEqual(
        taken.map(({ given }, place) => [given, told[place]]),
        taken.map(({ given, message }) => [given, message]),
      );
    });
  }
});

/** An expression as a rule of which something will be said. */
function expectedOf(expression: string): Expected {
  // Compared with something of any type, so that it is a rule: that comes to nothing, since the expression fails.
  const failing = `dyn(${expression}) == 0`;
  try {
    const program = environment.compile(expression);
    const { value } = program.evaluate({});
    const given = telling(program.type.kind === "string" ? expression : `string(${expression})`, expression, value);
    if (isTooExpensive(given.rule)) return { given: { rule: given.rule }, refusal: TOO_EXPENSIVE };
    if (given.messageExpression !== undefined && isTooExpensive(given.messageExpression)) {
      return { given: { rule: `${given.messageExpression} == 'nothing'` }, refusal: TOO_EXPENSIVE };
    }
    return { given, message: `Invalid value: ${given.messageExpression === undefined ? failed(given) : shown(value)}` };
  } catch (error) {
    if (error instanceof CompileError) return { given: { rule: failing }, refusal: refusalOf(failing) };
    if (!(error instanceof CelError)) throw error;
    if (isTooExpensive(failing)) return { given: { rule: failing }, refusal: TOO_EXPENSIVE };
    return { given: { rule: failing }, message: `Invalid value: "object": ${failure(error.message, failing)}` };
  }
}

function failure(message: string, rule: string): string {
  if (!message.startsWith("no such overload")) return `${message} evaluating rule: ${rule}`;
  const explained = "call arguments did not match a supported operator, function or macro signature";
  return `'${message}': ${explained} for rule: ${rule}`;
}

function failed({ rule }: Rule): string {
  return `failed rule: ${rule}`;
}

/** A rule that is not kept, and tells the value: by its message where it can be text, else by denying what it is. */
function telling(messageExpression: string, expression: string, value: Value): Rule {
  const text = shown(value);
  if (text !== undefined && text.trim() === text && text !== "" && !text.includes("\n")) {
    return { rule: "1 == 2", messageExpression };
  }
  if (value instanceof TypeValue) return { rule: `dyn(${expression}) == 0` };
  if (Number.isNaN(value)) return { rule: `${expression} == ${expression}` };
  if (!(value instanceof Optional)) return { rule: `${expression} != ${literalOf(value)}` };
  if (value.value === undefined) return { rule: `${expression}.hasValue()` };
  return { rule: `${expression}.value() != ${literalOf(value.value)}` };
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
  if (value instanceof Uint8Array) return `bytes(${JSON.stringify(new TextDecoder().decode(value))})`;
  if (value instanceof DurationValue) return `duration('${value.nanoseconds}ns')`;
  if (value instanceof Timestamp) return `timestamp(${value.seconds})`;
  if (value instanceof List) return `[${value.items.map(literalOf).join(", ")}]`;
  if (value instanceof MapValue) {
    return `{${[...value.keys()].map((key) => `${literalOf(key)}: ${literalOf(value.get(key) ?? null)}`).join(", ")}}`;
  }
  if (value instanceof QuantityValue) return `quantity('${value.quantity}')`;
  return String(value);
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
    return `${error.stage === "check" ? "compilation failed" : "program instantiation failed"}: ${error.message}`;
  }
}

function refusalIn(message: string): string {
  return /(?:compilation failed|program instantiation failed): .*$/s.exec(message)?.[0] ??
    (message.includes(TOO_EXPENSIVE) ? TOO_EXPENSIVE : message);
}

async function define(
  cluster: RealCluster,
  kind: string,
  rules: readonly Expected[],
): Promise<{ status: number; causes: readonly Cause[] }> {
  const plural = kind.toLowerCase();
  const spec = { type: "object", "x-kubernetes-validations": rules.map(({ given }) => given) };
  const response = await post(cluster, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
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
  const answer = await response.json();
  return { status: response.status, causes: answer.details?.causes ?? [] };
}

/** What is said of an object that keeps no rule: one thing for each. */
async function complaints(cluster: RealCluster, kind: string): Promise<readonly string[]> {
  const object = { apiVersion: "cel.example.com/v1", kind, metadata: { name: "one" }, spec: {} };
  const response = await post(cluster, `/apis/cel.example.com/v1/${kind.toLowerCase()}`, object);
  const answer = await response.json();
  assert.equal(response.status, 422, JSON.stringify(answer));
  return answer.details.causes.map(({ message }: Cause) => message);
}

function post(cluster: RealCluster, path: string, body: unknown): Promise<Response> {
  return cluster.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
