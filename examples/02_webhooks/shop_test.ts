import assert from "node:assert/strict";
import { memoryCluster, roundTrips } from "@op/sdk/testing";
import op from "./main.ts";
import { Shop, ShopV1, shopV1 } from "./shop.ts";

Deno.test("a shop that is created in v1 can be read and changed in v2", async () => {
  await using cluster = await memoryCluster({ operator: op });
  await cluster.create(ShopV1, "tea", { spec: { host: "tea.example.com", address: "High Street, Bath" } });

  const shop = await cluster.get(Shop, "tea");
  assert.deepEqual(shop.spec.address, { street: "High Street", town: "Bath" });
  await cluster.patch(Shop, "tea", { spec: { address: { town: "Wells" } } });

  const old = await cluster.get(ShopV1, "tea");
  assert.equal(old.spec.address, "High Street, Wells");
  assert.equal(old.metadata.uid, shop.metadata.uid);
  assert.deepEqual((await cluster.list(ShopV1)).map(({ spec }) => spec.host), ["tea.example.com"]);
});

Deno.test("shopV1 converts generated shops of both versions without loss", async () => {
  await roundTrips(shopV1, { runs: 1000 });
});
