import assert from "node:assert/strict";
import { ApiError } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { DIRECTORY, websites } from "./controller.ts";
import { Website } from "./website.ts";

const SPEC = { host: "blog.example.com" };

Deno.test("websites creates a page and a record, and reports the URL", async () => {
  await using cluster = await memoryCluster({ parts: { websites }, namespaces: [DIRECTORY] });
  await cluster.create(Website, "blog", { spec: SPEC });

  await cluster.settle();

  const page = await cluster.get(ConfigMap, "blog-page");
  assert.match(page.data?.["index.html"] ?? "", /class="light"/);
  const record = await cluster.get(ConfigMap, "default.blog", { namespace: DIRECTORY });
  assert.deepEqual(record.data, { host: "blog.example.com" });
  const { status } = await cluster.get(Website, "blog");
  assert.equal(status?.url, "https://blog.example.com");
  assert.equal(status?.observedGeneration, 1);
});

Deno.test("websites restores a page that was changed by hand", async () => {
  await using cluster = await memoryCluster({ parts: { websites }, namespaces: [DIRECTORY] });
  await cluster.create(Website, "blog", { spec: SPEC });
  await cluster.settle();
  const { data } = await cluster.get(ConfigMap, "blog-page");

  await cluster.patch(ConfigMap, "blog-page", { data: { "index.html": "hacked" } });
  await cluster.settle();

  assert.deepEqual((await cluster.get(ConfigMap, "blog-page")).data, data);
});

Deno.test("websites deletes the record when a website is deleted; the garbage collector deletes the page", async () => {
  await using cluster = await memoryCluster({ parts: { websites }, namespaces: [DIRECTORY] });
  await cluster.create(Website, "blog", { spec: SPEC });
  await cluster.settle();

  await cluster.delete(Website, "blog");
  await cluster.settle();

  assert(!await cluster.exists(Website, "blog"));
  assert(!await cluster.exists(ConfigMap, "blog-page"));
  assert(!await cluster.exists(ConfigMap, "default.blog", { namespace: DIRECTORY }));
});

Deno.test("Website rejects an unknown theme", async () => {
  await using cluster = await memoryCluster({ kinds: [Website] });
  const pink = { spec: { host: "blog.example.com", theme: "pink" } };
  await assert.rejects(
    // @ts-expect-error the compiler rejects it too
    cluster.create(Website, "blog", pink),
    (error) => error instanceof ApiError && error.status === 422 && error.causes[0]?.field === "spec.theme",
  );
});
