/** What the runtime takes for applied already is what a real API server would not change. */
import { CustomResourceDefinition } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { applyPairs, Switch } from "../runtime/_applied_pairs.ts";
import { adminClient } from "../fixtures/watched.ts";
import { established } from "../fixtures/install.ts";

Deno.test("what is taken for applied already is what a real server would not change, of custom and built-in kinds", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await client.create(CustomResourceDefinition, Switch.crd as never);
  await established(client);
  await applyPairs(client);
});
