import assert from "node:assert/strict";
import { ApiError } from "@op/sdk";
import { Namespace } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import op from "./main.ts";
import { Shop } from "./shop.ts";

const SPEC = { host: "Tea.example.com", address: { street: "High Street", town: "Bath" } };

Deno.test("shopRules converts hosts to lowercase", async () => {
  await using cluster = await memoryCluster({ operator: op });
  const shop = await cluster.create(Shop, "tea", { spec: SPEC });
  assert.equal(shop.spec.host, "tea.example.com");
});

Deno.test("shopRules rejects a host that another shop has, and names the field", async () => {
  await using cluster = await memoryCluster({ operator: op });
  await cluster.create(Shop, "tea", { spec: SPEC });

  const error = await rejection(cluster.create(Shop, "more-tea", { spec: SPEC }));
  assert.equal(error.status, 422);
  assert.deepEqual(error.causes.map(({ field, message }) => [field, message]), [
    ["spec.host", '"tea.example.com" is the host of shop "tea"'],
  ]);
});

Deno.test("shopRules rejects a change of the host", async () => {
  await using cluster = await memoryCluster({ operator: op });
  await cluster.create(Shop, "tea", { spec: SPEC });
  await cluster.patch(Shop, "tea", { spec: { tier: "paid" } });

  const error = await rejection(cluster.patch(Shop, "tea", { spec: { host: "coffee.example.com" } }));
  assert.match(error.message, /the host of a shop cannot change/);
});

Deno.test("namespaceRules rejects the deletion of a protected namespace that has shops", async () => {
  await using cluster = await memoryCluster({ operator: op });
  const labels = { "shop.example.com/protected": "true" };
  await cluster.client.create(Namespace, { metadata: { name: "bath", labels } });
  await cluster.create(Shop, "tea", { spec: SPEC }, { namespace: "bath" });

  const error = await rejection(cluster.delete(Namespace, "bath"));
  assert.equal(error.status, 409);
  assert.match(error.message, /the namespace has shops: 1/);

  await cluster.delete(Shop, "tea", { namespace: "bath" });
  await cluster.delete(Namespace, "bath");
});

async function rejection(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(() => assert.fail("the request was not rejected"), (error: unknown) => error);
  assert(error instanceof ApiError, String(error));
  return error;
}
