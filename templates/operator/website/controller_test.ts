import assert from "node:assert/strict";
import { Deployment } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { websites } from "./controller.ts";
import { Website } from "./v1.ts";

Deno.test("websites creates a Deployment with the requested replicas", async () => {
  await using cluster = await memoryCluster({ parts: { websites } });
  await cluster.create(Website, "blog", { spec: { host: "blog.example.com", replicas: 2 } });

  await cluster.settle(); // runs the operator in virtual time until no work is due

  const deployment = await cluster.get(Deployment, "blog");
  assert.equal(deployment.spec.replicas, 2);
});

Deno.test("websites reports the URL in the status", async () => {
  await using cluster = await memoryCluster({ parts: { websites } });
  await cluster.create(Website, "blog", { spec: { host: "blog.example.com" } });

  await cluster.settle();

  const site = await cluster.get(Website, "blog");
  assert.equal(site.status?.url, "https://blog.example.com");
});

Deno.test("Website rejects more than 20 replicas", async () => {
  await using cluster = await memoryCluster({ parts: { websites } });

  await assert.rejects(
    cluster.create(Website, "blog", { spec: { host: "blog.example.com", replicas: 21 } }),
    /spec\.replicas/,
  );
});
