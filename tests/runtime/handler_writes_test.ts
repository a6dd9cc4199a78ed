/** Writes of objects by handlers, on the in-process API server. */
import { memoryCluster } from "@op/sdk/testing";
import { checkHandlerWrites, Draft, HANDLER_WRITES, OPERATOR, Site } from "../fixtures/handler_writes.ts";
import { startProcess } from "./_processes.ts";

const WRITES = ["create", "update", "patch", "delete"];

for (const handlerWrites of HANDLER_WRITES) {
  Deno.test(`writes of an object: ${handlerWrites.name}`, async () => {
    await using cluster = await memoryCluster({ kinds: [Site, Draft] });
    await checkHandlerWrites({
      client: cluster.client,
      namespace: "default",
      start: (op) => Promise.resolve(startProcess(cluster, op)),
      relist: () => Promise.resolve(cluster.restartServer({ compact: true })),
      idle: () => cluster.advance("5s"),
      writes: () =>
        Promise.resolve(
          cluster.sent({ client: OPERATOR, where: ({ verb }) => WRITES.includes(verb) }),
        ),
    }, handlerWrites);
  });
}
