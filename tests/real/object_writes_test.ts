/** Writes of a reconciled object, on a real API server. */
import { realCluster } from "../../src/testing/real_cluster.ts";
import { CustomResourceDefinition } from "../../src/kinds/mod.ts";
import { untilServed } from "../fixtures/install.ts";
import { checkWrites, Ledger, OBJECT_WRITES } from "../fixtures/object_writes.ts";
import { adminClient } from "../fixtures/watched.ts";

Deno.test("a reconciled object is written as on the in-process API server", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await client.create(CustomResourceDefinition, Ledger.crd as never);
  await untilServed(client);
  for (const write of OBJECT_WRITES) await t.step(write.name, () => checkWrites(client, write));
});
