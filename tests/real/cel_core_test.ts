/** The expressions of `tests/cel_core` as validation rules: a real API server refuses, computes and fails as `src/cel` does, at the same cost. */
import { realCluster } from "../../src/testing/real_cluster.ts";
import { CORE_TABLES } from "../cel_core/mod.ts";
import { checkTables } from "./_cel_kinds.ts";

Deno.test("the expressions of CEL's core fare on a real API server as here", async (t) => {
  await using cluster = await realCluster();
  await checkTables(t, cluster, CORE_TABLES);
});
