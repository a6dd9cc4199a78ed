/**
 * The webhook suite on the in-process API server: without a connection in a memory cluster, and
 * over TLS by URL.
 */
import assert from "node:assert/strict";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { CustomResourceDefinition } from "../../src/kinds/mod.ts";
import { Client } from "../../src/kube/client.ts";
import { startOperator } from "../../src/operator/running.ts";
import { memoryCluster } from "../../src/testing/memory_cluster.ts";
import { gadgetOperator, parts } from "../fixtures/operators/webhooks.ts";
import { createWebhookObjects } from "../fixtures/webhook_objects.ts";
import { type Send, untilWebhooksCalled, WEBHOOK_SUITE } from "../fixtures/webhook_suite.ts";
import { QUICK } from "../fixtures/reviews.ts";

Deno.test("webhooks in a memory cluster work as users of a cluster expect", async (t) => {
  await using cluster = await memoryCluster({ parts, failures: "collect" });
  const send = sending(cluster.fetch);
  for (const [name, check] of Object.entries(WEBHOOK_SUITE)) {
    await t.step(name, () => check((...request) => send(...request).then(renamed)));
  }

  /** Replaces the name of the operator, which is "test" in a memory cluster. */
  function renamed<T>(value: T): T {
    return JSON.parse(JSON.stringify(value).replaceAll(".test.gadgets", ".gadget-operator.gadgets"));
  }
});

Deno.test("webhooks over TLS by URL work as users of a cluster expect", async (t) => {
  await using server = createApiserver();
  const connection = {
    url: "http://api.server",
    fetch: (request: Request) => server.fetch(request),
    namespace: "op-system",
    close() {},
  };
  const client = new Client(connection);
  const send = sending(connection.fetch);
  assert.equal((await send("POST", "/api/v1/namespaces", { metadata: { name: "op-system" } })).status, 201);
  const op = gadgetOperator(0);
  await using running = startOperator(op, { connection, serveWebhooks: true, certificateTimes: QUICK });
  const webhookUrl = `https://127.0.0.1:${running.webhookPort}`;
  const { crd, webhook } = op.manifests({ namespace: "op-system", webhookUrl });
  for (const one of crd) await client.create(CustomResourceDefinition, one as never);
  // The operator has already created its Secret.
  await createWebhookObjects(client, webhook.filter(({ kind }) => kind !== "Secret"));
  await untilWebhooksCalled(send);
  for (const [name, check] of Object.entries(WEBHOOK_SUITE)) await t.step(name, () => check(send));
});

function sending(fetch: (request: Request) => Promise<Response>): Send {
  return async (method, path, body, type = "application/json") => {
    const request = new Request(`http://api.server${path}`, {
      method,
      headers: { "content-type": type },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const response = await fetch(request);
    return { status: response.status, body: await response.json(), warnings: response.headers.get("warning") };
  };
}
