/** The runtime skips an apply if and only if a real API server would change no field. */
import { CustomResourceDefinition } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { applyInOrder, Switch } from "../fixtures/apply_sequences.ts";
import { adminClient } from "../fixtures/watched.ts";
import { untilServed } from "../fixtures/install.ts";

Deno.test("the runtime skips an apply if and only if a real API server would change no field", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await client.create(CustomResourceDefinition, Switch.crd as never);
  await untilServed(client);
  await applyInOrder(client);
});
