/**
 * The expressions of `tests/cel_core` as validation rules: a real API server rejects and evaluates
 * them like `src/cel`, with the same errors and costs.
 *
 * A server does not report costs, but aborts a rule above the limit. So each expression is combined
 * with work of a known cost that brings the total, as `src/cel` counts it, exactly to the limit,
 * and with one unit more.
 */
import assert from "node:assert/strict";
import { CelError, CompileError, createEnvironment, type Program } from "../../src/cel/mod.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { CORE_TABLES } from "../cel_core/mod.ts";
import { eventually } from "../eventually.ts";
import { checkTables, createObject, defineKind } from "./_cel_comparison.ts";

const EXPRESSIONS = Object.values(CORE_TABLES).flatMap((cases) => cases.map(([expression]) => expression));

// Each measurement takes two requests, so only every fourth expression is measured.
const MEASURED = EXPRESSIONS.filter((_, i) => i % 4 === 0);

/**
 * Expressions that crash the server's compiler, so that it does not respond. In `src/cel`, the
 * first two compile and fail at run time, and the third does not compile.
 */
const CRASHING: readonly string[] = ["[?dyn(1)].size() > 0", "{?'a': dyn(1)}.size() > 0", "{b'a': 1}.size() > 0"];

// The limits at run time of the cost of one rule, and of the number of such rules of an object
// (k8s.io/apiserver, pkg/apis/cel/config.go).
const LIMIT = 1_000_000;
const RULES_PER_OBJECT = 9;
// A little below the limit of a kind's estimated cost, because the estimates of all levels add up.
const KIND_BUDGET = 90_000_000;

// Costs 980 * 980 units, almost the limit, but is fast, because the first items of the lists are
// equal.
const WORK = "sets.intersects(lists.range(980), lists.range(980))";
const environment = createEnvironment({ variables: {} });

/** An expression in two rules: with a cost at the limit, and one unit above it. */
interface Measurement {
  readonly expression: string;
  readonly within: string;
  readonly beyond: string;
  /** The estimated cost of both rules. */
  readonly estimate: number;
}

Deno.test(`${EXPRESSIONS.length} expressions of CEL's core have the same results on a real API server`, async (t) => {
  await using cluster = await realCluster();
  await checkTables(t, cluster, CORE_TABLES);
  await checkCosts(t, cluster, MEASURED);
  await t.step(`${CRASHING.length} expressions crash the server's request handler`, async () => {
    for (const rule of CRASHING) {
      await assert.rejects(defineKind(cluster, "Crashing", { type: "object", "x-kubernetes-validations": [{ rule }] }));
    }
  });
});

/** Checks that expressions have the same costs on the server and here. */
async function checkCosts(t: Deno.TestContext, cluster: RealCluster, expressions: readonly string[]): Promise<void> {
  const measurements = expressions.map(measurementOf).filter((measurement) => measurement !== undefined);
  const kinds = groupedByBudget(measurements);
  for (const [i, rules] of kinds.entries()) {
    const properties = Object.fromEntries(
      rules.flatMap(({ within, beyond }, index) => [
        [`within${index}`, propertyWith(within)],
        [`beyond${index}`, propertyWith(beyond)],
      ]),
    );
    assert.deepEqual(await defineKind(cluster, `Costs${i}`, { type: "object", properties }), {
      status: 201,
      causes: [],
    });
  }
  await t.step(
    `${measurements.length} of ${expressions.length} expressions can be measured, and have the same cost on the server and here`,
    async () => {
      const wrong = (await Promise.all(kinds.map((rules, i) => differing(cluster, `Costs${i}`, rules)))).flat();
      assert.deepEqual(wrong, []);
    },
  );
}

/** Returns the expressions whose cost differs on the server. */
async function differing(
  cluster: RealCluster,
  kind: string,
  rules: readonly Measurement[],
): Promise<readonly string[]> {
  await eventually(async () => assert.equal((await createObject(cluster, kind, {})).status, 201));
  const wrong: string[] = [];
  for (let first = 0; first < rules.length; first += RULES_PER_OBJECT) {
    const indexes = rules.slice(first, first + RULES_PER_OBJECT).map((_, i) => first + i);
    const { causes } = await createObject(
      cluster,
      kind,
      Object.fromEntries(indexes.map((index) => [`within${index}`, true])),
    );
    for (const { field } of causes) {
      wrong.push(`costs more on the server: ${rules[Number(/\d+$/.exec(field)?.[0])]?.expression}`);
    }
  }
  // The first aborted rule also ends all other rules of the object.
  for (const [index, { expression }] of rules.entries()) {
    const { causes } = await createObject(cluster, kind, { [`beyond${index}`]: true });
    if (!causes.some(({ message }) => message.includes("actual cost limit exceeded"))) {
      wrong.push(`costs less on the server: ${expression}`);
    }
  }
  return wrong;
}

/**
 * Returns the rules that measure an expression, or `undefined` if it does not compile, costs more
 * than one rule may, or aborts the evaluation.
 */
function measurementOf(expression: string): Measurement | undefined {
  // Rules of several lines require a message.
  if (expression.includes("\n")) return undefined;
  const ownCost = costOf(ruleOf(expression, 0));
  if (ownCost === undefined || ownCost > LIMIT) return undefined;
  const [within, beyond] = [LIMIT - ownCost, LIMIT - ownCost + 1].map((work) => ruleOf(expression, work));
  if (costOf(within!) !== LIMIT) return undefined;
  const estimate = environment.compile(beyond!).estimateCost().max * 2;
  return estimate > KIND_BUDGET / 10 ? undefined : { expression, within: within!, beyond: beyond!, estimate };
}

/**
 * Returns a rule that does the work after the expression, whether the expression succeeds or fails.
 */
function ruleOf(expression: string, work: number): string {
  return `dyn(${expression}) == 'never equal' || ${WORK} && lists.range(${work}).size() >= 0`;
}

/** Returns the cost of a rule, or `undefined` if it does not compile or aborts the evaluation. */
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

/** Groups the measurements into kinds whose estimated cost is within the limit. */
function groupedByBudget(measurements: readonly Measurement[]): readonly (readonly Measurement[])[] {
  const kinds: Measurement[][] = [[]];
  let left = KIND_BUDGET;
  for (const measurement of measurements) {
    if (measurement.estimate > left) {
      kinds.push([]);
      left = KIND_BUDGET;
    }
    left -= measurement.estimate;
    kinds.at(-1)!.push(measurement);
  }
  return kinds;
}

function propertyWith(rule: string): Record<string, unknown> {
  return { type: "boolean", "x-kubernetes-validations": [{ rule }] };
}
