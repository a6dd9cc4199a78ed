import assert from "node:assert/strict";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { things } from "./controller.ts";
import { Thing } from "./v1.ts";

Deno.test("things puts the text of a Thing into a ConfigMap, and its length into the status", async () => {
  await using cluster = await memoryCluster({ parts: { things } });
  await cluster.create(Thing, "first", { spec: { text: "Hi" } });

  await cluster.settle(); // virtual time, until nothing is left to do

  const made = await cluster.get(ConfigMap, "first");
  assert.deepEqual(made.data, { text: "Hi" });
  const object = await cluster.get(Thing, "first");
  assert.equal(object.status?.length, 2);
});
