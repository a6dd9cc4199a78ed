import assert from "node:assert/strict";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { things } from "./controller.ts";
import { Thing } from "./v1.ts";

Deno.test("things copies the text of a Thing into a ConfigMap and reports its length", async () => {
  await using cluster = await memoryCluster({ parts: { things } });
  await cluster.create(Thing, "first", { spec: { text: "Hi" } });

  await cluster.settle(); // runs the operator in virtual time until no work is due

  const configMap = await cluster.get(ConfigMap, "first");
  assert.deepEqual(configMap.data, { text: "Hi" });
  const object = await cluster.get(Thing, "first");
  assert.equal(object.status?.length, 2);
});
