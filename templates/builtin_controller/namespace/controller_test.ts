import assert from "node:assert/strict";
import { memoryCluster } from "@op/sdk/testing";
import { namespaces } from "./controller.ts";

Deno.test("namespaces reconciles the Namespaces of a cluster", async () => {
  await using cluster = await memoryCluster({ parts: { namespaces } });
  await cluster.settle(); // runs the operator in virtual time until no work is due
  assert.equal(cluster.sent({ verb: "watch" }).length, 1);
});
