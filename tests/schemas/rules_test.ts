/**
 * CEL rules on the real API server, on ours, and in `validate`: the results of each library's
 * expressions, rejected definitions, rules at every level of a schema, messages, and costs.
 */
import assert from "node:assert/strict";
import { equal } from "../../src/base/json.ts";
import { ruleDefinition, tryRules, validateCase } from "./_rule_trial.ts";
import { ruleTrials, type Trial, trialKinds } from "./_rule_trials.ts";
import { define, forEachOf, ourServer, realServer } from "./_servers.ts";
import { table } from "./_table.ts";
import { RULE_KINDS } from "./rules/levels.ts";
import { EXPRESSIONS } from "./rules/mod.ts";

Deno.test("CEL rules have the same results on our API server as on the real one", async (t) => {
  await using real = await realServer();
  await using ours = ourServer();
  const kinds = [...trialKinds(), ...RULE_KINDS.map(ruleDefinition)];
  await Promise.all([define(real, kinds), define(ours, kinds)]);
  const groups = Object.groupBy(ruleTrials(), ({ about }) => about);

  for (const [about, trials = []] of Object.entries(groups)) {
    await t.step(about, async () => {
      const differences: unknown[] = [];
      await forEachOf(trials, async (trial) => {
        const [expected, actual] = [await trial.run(real), await trial.run(ours)];
        const causes = expected.causes ?? [];
        const local = trial.validate?.() ?? causes;
        if (equal(expected, actual) && equal(local, causes)) return;
        differences.push({ name: trial.name, real: expected, ours: actual, local });
      }, 8);
      assertNone(differences);
    });
  }

  await t.step("levels, messages and transitions", async () => {
    const [expected, actual] = [await tryRules(real, RULE_KINDS), await tryRules(ours, RULE_KINDS)];
    assertNone(RULE_KINDS.flatMap((kind) =>
      kind.cases.flatMap((each) => {
        const [real, ours] = [expected.get(each)!, actual.get(each)!];
        const local = validateCase(kind, each, real.old);
        if (equal(real.verdict, ours.verdict) && equal(local, real.verdict.causes ?? [])) return [];
        return [{ name: `${kind.kind}: ${each.name}`, real: real.verdict, ours: ours.verdict, local }];
      })
    ));
  });

  await t.step("each category has enough cases", () => {
    const counts = [
      ...countsOf(groups),
      ...RULE_KINDS.map(({ kind, cases }) => [`kind ${kind}`, cases.length, cases.length] as const),
    ];
    const all = counts.reduce((sum, [, , evaluations]) => sum + evaluations, 0);
    console.log(`\n${table(["about", "requests", "evaluations"], [...counts, ["all", "", all]])}`);
    assert(all >= 300);
    for (const { library, expressions, values } of EXPRESSIONS) {
      assert(expressions.length * values.length >= 50, library);
    }
  });
});

function countsOf(groups: Partial<Record<string, Trial[]>>): (readonly [string, number, number])[] {
  return Object.entries(groups).map(([about, trials = []]) => {
    return [about, trials.length, trials.reduce((sum, { evaluations }) => sum + evaluations, 0)];
  });
}

/** Fails with some of the differences, if there are any. */
function assertNone(differences: readonly unknown[]): void {
  const shown = JSON.stringify(differences.slice(0, 5), undefined, 1);
  assert.equal(differences.length, 0, `${differences.length} differ, such as\n${shown}`);
}
