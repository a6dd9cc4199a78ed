/**
 * Measures the exact cost of an expression on a real API server. A server does not report costs,
 * but aborts a rule above the limit. So an expression is combined with work of a known cost that
 * brings the total exactly to the limit, by the count of `src/cel`, and once more with one unit
 * more.
 */
import assert from "node:assert/strict";
import { CelError, CompileError, createEnvironment, type Program } from "../../src/cel/mod.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { define, make } from "./_cel_kinds.ts";
import { eventually } from "../eventually.ts";

// The limits of one rule and of all rules of an object at run time (k8s.io/apiserver,
// pkg/apis/cel/config.go).
const LIMIT = 1_000_000;
const RULES_AN_OBJECT = 9;
// Somewhat below the limit of a kind's estimated cost, because the estimates of all levels add up.
const KIND_BUDGET = 90_000_000;

// Costs 980 * 980, almost the limit, and is fast: the first number equals the first one of the
// other list.
const WORK = "sets.intersects(lists.range(980), lists.range(980))";
const environment = createEnvironment({ variables: {} });

/** An expression with work up to the limit, and beyond. */
interface Measured {
  readonly expression: string;
  readonly within: string;
  readonly beyond: string;
  /** The estimated cost of both. */
  readonly estimate: number;
}

/**
 * Checks that expressions have the same costs on a server and here.
 *
 * @param t The test.
 * @param cluster The server.
 * @param expressions The expressions. Some cannot be measured: they do not compile, exceed the
 * limit of a rule, or abort the evaluation.
 */
export async function checkCosts(
  t: Deno.TestContext,
  cluster: RealCluster,
  expressions: readonly string[],
): Promise<void> {
  const measured = expressions.map(measure).filter((one) => one !== undefined);
  const kinds = inKinds(measured);
  for (const [i, rules] of kinds.entries()) {
    const properties = Object.fromEntries(
      rules.flatMap(({ within, beyond }, place) => [
        [`within${place}`, propertyWith(within)],
        [`beyond${place}`, propertyWith(beyond)],
      ]),
    );
    assert.deepEqual(await define(cluster, `Costs${i}`, { type: "object", properties }), { status: 201, causes: [] });
  }
  await t.step(`${measured.length} of ${expressions.length} have exactly the same cost here`, async () => {
    const wrong = (await Promise.all(kinds.map((rules, i) => differing(cluster, `Costs${i}`, rules)))).flat();
    assert.deepEqual(wrong, []);
  });
}

/** Returns the expressions whose cost differs on the server. */
async function differing(cluster: RealCluster, kind: string, rules: readonly Measured[]): Promise<readonly string[]> {
  await eventually(async () => assert.equal((await make(cluster, kind, {})).status, 201));
  const wrong: string[] = [];
  for (let i = 0; i < rules.length; i += RULES_AN_OBJECT) {
    const places = rules.slice(i, i + RULES_AN_OBJECT).map((_, place) => i + place);
    const { causes } = await make(cluster, kind, Object.fromEntries(places.map((place) => [`within${place}`, true])));
    for (const { field } of causes) wrong.push(`more: ${rules[Number(/\d+$/.exec(field)?.[0])]?.expression}`);
  }
  // The first aborted rule also ends all other rules of the object.
  for (const [place, { expression }] of rules.entries()) {
    const { causes } = await make(cluster, kind, { [`beyond${place}`]: true });
    if (!causes.some(({ message }) => message.includes("actual cost limit exceeded"))) {
      wrong.push(`less: ${expression}`);
    }
  }
  return wrong;
}

function measure(expression: string): Measured | undefined {
  // Rules of several lines require a message.
  if (expression.includes("\n")) return undefined;
  const least = costOf(ruleOf(expression, 0));
  if (least === undefined || least > LIMIT) return undefined;
  const [within, beyond] = [LIMIT - least, LIMIT - least + 1].map((work) => ruleOf(expression, work));
  if (costOf(within!) !== LIMIT) return undefined;
  const estimate = environment.compile(beyond!).estimateCost().max * 2;
  return estimate > KIND_BUDGET / 10 ? undefined : { expression, within: within!, beyond: beyond!, estimate };
}

/**
 * Returns a rule that does the work after the expression, whether the expression succeeds or fails.
 */
function ruleOf(expression: string, work: number): string {
  return `dyn(${expression}) == 'no value is this' || ${WORK} && lists.range(${work}).size() >= 0`;
}

function costOf(rule: string): number | undefined {
  let program: Program;
  try {
    program = environment.compile(rule);
  } catch (error) {
    if (error instanceof CompileError) return undefined;
    throw error;
  }
  try {
    return program.evaluate({}).cost;
  } catch (error) {
    if (error instanceof CelError) return undefined;
    throw error;
  }
}

function inKinds(measured: readonly Measured[]): readonly (readonly Measured[])[] {
  const kinds: Measured[][] = [[]];
  let left = KIND_BUDGET;
  for (const one of measured) {
    if (one.estimate > left) {
      kinds.push([]);
      left = KIND_BUDGET;
    }
    left -= one.estimate;
    kinds.at(-1)!.push(one);
  }
  return kinds;
}

function propertyWith(rule: string): Record<string, unknown> {
  return { type: "boolean", "x-kubernetes-validations": [{ rule }] };
}
