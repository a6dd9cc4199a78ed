/** The expressions of `tests/cel_core` as validation rules: a real API server refuses, computes and fails as `src/cel` does, at the same cost. */
import assert from "node:assert/strict";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { CORE_TABLES } from "../cel_core/mod.ts";
import { checkCosts } from "./_cel_costs.ts";
import { checkTables, define } from "./_cel_kinds.ts";

const EXPRESSIONS = Object.values(CORE_TABLES).flatMap((cases) => cases.map(([expression]) => expression));

// To measure what one expression costs takes two requests: of every fourth there is time for it in each run.
const MEASURED = EXPRESSIONS.filter((_, i) => i % 4 === 0);

/** Where the server differs: what compiles these panics, and the request has no answer. Here they compile, and fail when they run; the third is refused. */
const EXCEPTIONS: readonly string[] = ["[?dyn(1)].size() > 0", "{?'a': dyn(1)}.size() > 0", "{b'a': 1}.size() > 0"];

Deno.test(`${EXPRESSIONS.length} expressions of CEL's core fare on a real API server as here`, async (t) => {
  await using cluster = await realCluster();
  await checkTables(t, cluster, CORE_TABLES);
  await checkCosts(t, cluster, MEASURED);
  await t.step(`${EXCEPTIONS.length} are named exceptions: the server does not survive them`, async () => {
    for (const rule of EXCEPTIONS) {
      await assert.rejects(define(cluster, "Exceptions", { type: "object", "x-kubernetes-validations": [{ rule }] }));
    }
  });
});
