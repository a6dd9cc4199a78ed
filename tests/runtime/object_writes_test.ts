/** Writes of a reconciled object, on the in-process API server. */
import { memoryCluster } from "@op/sdk/testing";
import { checkWrites, Ledger, OBJECT_WRITES } from "../fixtures/object_writes.ts";

for (const write of OBJECT_WRITES) {
  Deno.test(write.name, async () => {
    await using cluster = await memoryCluster({ kinds: [Ledger] });
    await checkWrites(cluster.client, write);
  });
}
