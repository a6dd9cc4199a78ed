/**
 * The expressions of `tests/cel_libraries` as validation rules: a real API server rejects
 * and evaluates them like `src/cel`, with the same errors.
 */
import { realCluster } from "../../src/testing/real_cluster.ts";
import { LIBRARY_TABLES } from "../cel_libraries/mod.ts";
import { checkTables } from "./_cel_comparison.ts";

Deno.test("the expressions of Kubernetes' CEL libraries have the same results on a real API server", async (t) => {
  await using cluster = await realCluster();
  await checkTables(t, cluster, LIBRARY_TABLES);
});
