/**
 * The expressions of `tests/cel_core` as validation rules: a real API server rejects, evaluates and
 * fails like `src/cel`, at the same cost.
 */
import assert from "node:assert/strict";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { CORE_TABLES } from "../cel_core/mod.ts";
import { checkCosts } from "./_cel_costs.ts";
import { checkTables, define } from "./_cel_kinds.ts";

const EXPRESSIONS = Object.values(CORE_TABLES).flatMap((cases) => cases.map(([expression]) => expression));

// Each measurement takes two requests, so only every fourth expression is measured.
const MEASURED = EXPRESSIONS.filter((_, i) => i % 4 === 0);

/**
 * Expressions that crash the server's compiler, so that there is no response. Here, the first two
 * compile and fail at run time; the third is rejected.
 */
const EXCEPTIONS: readonly string[] = ["[?dyn(1)].size() > 0", "{?'a': dyn(1)}.size() > 0", "{b'a': 1}.size() > 0"];

Deno.test(`${EXPRESSIONS.length} expressions of CEL's core have the same results on a real API server`, async (t) => {
  await using cluster = await realCluster();
  await checkTables(t, cluster, CORE_TABLES);
  await checkCosts(t, cluster, MEASURED);
  await t.step(`${EXCEPTIONS.length} are exceptions that crash the server's handler`, async () => {
    for (const rule of EXCEPTIONS) {
      await assert.rejects(define(cluster, "Exceptions", { type: "object", "x-kubernetes-validations": [{ rule }] }));
    }
  });
});
