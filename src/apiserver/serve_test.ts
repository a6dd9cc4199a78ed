import assert from "node:assert/strict";
import { localCertificate } from "../testing/local_certificate.ts";
import { CONFIG_MAPS, configMap, Wire } from "./_wire.ts";
import { createApiserver } from "./mod.ts";
import { kubeconfigFor, serveApiserver } from "./serve.ts";

Deno.test("serveApiserver answers over TCP, and a watch ends with the client that left", async () => {
  await using wire = new Wire();
  await using served = serveApiserver(wire.server);
  const client = new AbortController();
  const watch = await fetch(`${served.url}${CONFIG_MAPS}?watch=1`, { signal: client.signal });
  const reader = watch.body!.getReader();
  await wire.post(CONFIG_MAPS, configMap("a"));
  const { value } = await reader.read();
  const open = wire.server.watches;

  client.abort();
  await reader.closed.catch(() => {});
  for (let turn = 0; turn < 1000 && wire.server.watches > 0; turn++) {
    await new Promise((resolve) => setTimeout(resolve));
  }

  assert.match(new TextDecoder().decode(value), /"type":"ADDED"/);
  assert.deepEqual([open, wire.server.watches], [1, 0]);
});

Deno.test("serveApiserver speaks HTTPS with a certificate, and knows users by their tokens", async () => {
  const certificate = await localCertificate();
  await using server = createApiserver({
    rbac: true,
    tokens: { secret: { name: "jane", groups: ["system:masters"] } },
  });
  await using served = serveApiserver(server, { certificate });
  using client = Deno.createHttpClient({ caCerts: [certificate.caCert] });
  const status = async (headers: Record<string, string>) => {
    const response = await fetch(`${served.url}/api/v1/namespaces`, { headers, client });
    await response.body?.cancel();
    return response.status;
  };

  assert.match(served.url, /^https:/);
  assert.equal(await status({ authorization: "Bearer secret" }), 200);
  assert.equal(await status({ authorization: "Bearer other" }), 401);
  assert.equal(await status({}), 403);
});

Deno.test("kubeconfigFor names the server", () => {
  const config = JSON.parse(kubeconfigFor("http://127.0.0.1:1", "demo"));

  assert.equal(config.clusters[0].cluster.server, "http://127.0.0.1:1");
  assert.equal(config["current-context"], "demo");
});
