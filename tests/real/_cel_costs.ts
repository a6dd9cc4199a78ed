/**
 * What an expression costs a real API server, to the unit. A server does not tell; but it breaks off a rule that costs more than it may. So an expression
 * is put beside work whose cost is known, as much as brings both to the limit, by what `src/cel` counts; and once more with a unit more.
 */
import assert from "node:assert/strict";
import { CelError, CompileError, createEnvironment, type Program } from "../../src/cel/mod.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { define, make } from "./_cel_kinds.ts";
import { eventually } from "../eventually.ts";

// What one rule may cost when it runs, and all of an object together (k8s.io/apiserver, pkg/apis/cel/config.go).
const LIMIT = 1_000_000;
const RULES_AN_OBJECT = 9;
// What the rules of a kind may cost by their estimates; somewhat below, as estimates of all levels add up.
const KIND_BUDGET = 90_000_000;

// Costs 980 * 980, nearly all there is, and takes no time: the first number is the first one of the other list.
const WORK = "sets.intersects(lists.range(980), lists.range(980))";
const environment = createEnvironment({ variables: {} });

/** An expression beside work up to the limit, and beyond. */
interface Measured {
  readonly expression: string;
  readonly within: string;
  readonly beyond: string;
  /** What both may cost by their estimates. */
  readonly estimate: number;
}

/**
 * Shows that expressions cost a server what they cost here.
 *
 * @param t The test.
 * @param cluster The server.
 * @param expressions The expressions. Some cannot be measured: those that do not compile, may cost more than any rule, or end the evaluation.
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
  await t.step(`${measured.length} of ${expressions.length} cost what they cost here, to the unit`, async () => {
    const wrong = (await Promise.all(kinds.map((rules, i) => differing(cluster, `Costs${i}`, rules)))).flat();
    assert.deepEqual(wrong, []);
  });
}

/** Those of which a server says something else: that they cost more, or less. */
async function differing(cluster: RealCluster, kind: string, rules: readonly Measured[]): Promise<readonly string[]> {
  await eventually(async () => assert.equal((await make(cluster, kind, {})).status, 201));
  const wrong: string[] = [];
  for (let i = 0; i < rules.length; i += RULES_AN_OBJECT) {
    const places = rules.slice(i, i + RULES_AN_OBJECT).map((_, place) => i + place);
    const { causes } = await make(cluster, kind, Object.fromEntries(places.map((place) => [`within${place}`, true])));
    for (const { field } of causes) wrong.push(`more: ${rules[Number(/\d+$/.exec(field)?.[0])]?.expression}`);
  }
  // The first rule that is broken off ends all others of the object.
  for (const [place, { expression }] of rules.entries()) {
    const { causes } = await make(cluster, kind, { [`beyond${place}`]: true });
    if (!causes.some(({ message }) => message.includes("actual cost limit exceeded"))) {
      wrong.push(`less: ${expression}`);
    }
  }
  return wrong;
}

function measure(expression: string): Measured | undefined {
  // Rules of several lines want a message besides.
  if (expression.includes("\n")) return undefined;
  const least = costOf(ruleOf(expression, 0));
  if (least === undefined || least > LIMIT) return undefined;
  const [within, beyond] = [LIMIT - least, LIMIT - least + 1].map((work) => ruleOf(expression, work));
  if (costOf(within!) !== LIMIT) return undefined;
  const estimate = environment.compile(beyond!).estimateCost().max * 2;
  return estimate > KIND_BUDGET / 10 ? undefined : { expression, within: within!, beyond: beyond!, estimate };
}

/** Whatever the expression comes to, a value or a failure: the work is done after it. */
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
