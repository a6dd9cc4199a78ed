import assert from "node:assert/strict";
import { memoryCluster } from "@op/sdk/testing";
import { namespaces } from "./controller.ts";

Deno.test("namespaces runs on a cluster", async () => {
  await using cluster = await memoryCluster({ parts: { namespaces } });
  await cluster.settle(); // virtual time, until nothing is left to do
  assert.equal(cluster.sent({ verb: "watch" }).length, 1);
});
