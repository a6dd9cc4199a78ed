import assert from "node:assert/strict";
import { memoryCluster } from "@op/sdk/testing";
import { Namespace, ServiceAccount } from "@op/sdk/kinds";

Deno.test("each namespace has a service account named default", async () => {
  await using cluster = await memoryCluster({ namespaces: ["team"] });
  for (const namespace of ["default", "kube-system", "team"]) {
    const { metadata } = await cluster.get(ServiceAccount, "default", { namespace });
    assert.equal(metadata.managedFields, undefined, "as the controller of a real cluster writes it");
  }
});

Deno.test("a default service account that is deleted is created again with another uid", async () => {
  await using cluster = await memoryCluster();
  const before = await cluster.get(ServiceAccount, "default");
  await cluster.delete(ServiceAccount, "default");
  const after = await cluster.get(ServiceAccount, "default");
  assert.notEqual(after.metadata.uid, before.metadata.uid);
});

Deno.test("a default service account is deleted with its namespace and does not block the deletion", async () => {
  await using cluster = await memoryCluster({ namespaces: ["team"] });
  await cluster.delete(Namespace, "team");
  await cluster.settle();
  assert.equal(await cluster.exists(Namespace, "team"), false);
  assert.deepEqual(await cluster.list(ServiceAccount, { namespace: "team" }), []);
});
