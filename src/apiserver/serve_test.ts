import assert from "node:assert/strict";
import { localCertificate } from "../testing/local_certificate.ts";
import { CONFIG_MAPS, configMap, Wire } from "./_wire.ts";
import { createApiserver } from "./mod.ts";
import { kubeconfigFor, serveApiserver } from "./serve.ts";
import { serveWithClientCertificates, supportsClientCertificates } from "./serve_certificates.ts";
import { eventually } from "../../tests/eventually.ts";

Deno.test("serveApiserver serves over TCP, and a watch ends when its client disconnects", async () => {
  await using wire = new Wire();
  await using served = serveApiserver(wire.server);
  const client = new AbortController();
  const headers = { authorization: `Bearer ${served.token}` };
  const watch = await fetch(`${served.url}${CONFIG_MAPS}?watch=1`, { signal: client.signal, headers });
  const reader = watch.body!.getReader();
  await wire.post(CONFIG_MAPS, configMap("a"));
  const { value } = await reader.read();
  const open = wire.server.watches;

  client.abort();
  await reader.closed.catch(() => {});
  await eventually(() => assert.equal(wire.server.watches, 0));

  assert.match(new TextDecoder().decode(value), /"type":"ADDED"/);
  assert.equal(open, 1);
});

Deno.test("serveApiserver serves HTTPS with a certificate, and authenticates users by their tokens", async () => {
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

Deno.test("kubeconfigFor returns a kubeconfig with the URL of the server", () => {
  const config = JSON.parse(kubeconfigFor("http://127.0.0.1:1", "demo"));

  assert.equal(config.clusters[0].cluster.server, "http://127.0.0.1:1");
  assert.equal(config["current-context"], "demo");
});

/**
 * Sends a request over plain HTTP with any Host header, which `fetch` does not allow. The method is
 * POST if there is a body.
 */
async function statusOf(url: string, path: string, headers: Record<string, string>, body = ""): Promise<number> {
  const { port, hostname } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const all = { Connection: "close", "Content-Length": String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const method = body === "" ? "GET" : "POST";
  await connection.write(new TextEncoder().encode(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`));
  const answer = await new Response(connection.readable).text();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
}

Deno.test("serveApiserver rejects requests with another host, and requests without its token", async (t) => {
  await using server = createApiserver();
  await using served = serveApiserver(server);
  const { host, port } = new URL(served.url);
  const authorization = `Bearer ${served.token}`;
  const path = "/api/v1/namespaces";
  const cases: { name: string; path: string; headers: Record<string, string>; status: number }[] = [
    { name: "its token", path, headers: { host, authorization }, status: 200 },
    {
      name: "its token, with the host localhost",
      path,
      headers: { host: `localhost:${port}`, authorization },
      status: 200,
    },
    { name: "no token", path, headers: { host }, status: 401 },
    { name: "another token", path, headers: { host, authorization: "Bearer anything" }, status: 401 },
    { name: "no token, for its health endpoint", path: "/readyz", headers: { host }, status: 200 },
    { name: "another host", path, headers: { host: "attacker.example" }, status: 403 },
    {
      name: "another host and its token",
      path,
      headers: { host: `attacker.example:${port}`, authorization },
      status: 403,
    },
    {
      name: "another host, for its health endpoint",
      path: "/readyz",
      headers: { host: "attacker.example" },
      status: 403,
    },
  ];
  for (const { name, path, headers, status } of cases) {
    await t.step(name, async () => assert.equal(await statusOf(served.url, path, headers), status));
  }
});

Deno.test("serveApiserver with anonymous accepts requests without a token, but not those with another host", async () => {
  await using server = createApiserver();
  await using served = serveApiserver(server, { anonymous: true });
  const { host } = new URL(served.url);
  const path = "/api/v1/namespaces";
  assert.equal(await statusOf(served.url, path, { host }), 200);
  assert.equal(await statusOf(served.url, path, { host: "attacker.example" }), 403);
  assert.equal(await statusOf(served.url, path, { host: "[::1].attacker.example" }), 403);
});

Deno.test("serveApiserver rejects requests from web pages of another origin, even without a content type", async () => {
  await using server = createApiserver();
  await using served = serveApiserver(server, { anonymous: true });
  const { host } = new URL(served.url);
  const path = "/api/v1/namespaces";
  const body = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "planted" } });
  for (const origin of ["https://attacker.example", "http://localhost:3000", "null"]) {
    // A POST without a content type needs no CORS preflight.
    assert.equal(await statusOf(served.url, path, { host, origin }, body), 403, origin);
  }
  assert.equal(await statusOf(served.url, `${path}/planted`, { host }), 404);
  assert.equal(await statusOf(served.url, path, { host, origin: served.url }, body), 201);
});

Deno.test("serveWithClientCertificates rejects requests from web pages of another origin", async () => {
  if (!supportsClientCertificates()) return;
  const certificate = await localCertificate();
  await using server = createApiserver();
  await using served = await serveWithClientCertificates(server, { certificate, anonymous: true });
  using client = Deno.createHttpClient({ caCerts: [certificate.caCert] });
  const headers = { origin: "https://attacker.example" };
  const response = await fetch(`${served.url}/api/v1/namespaces`, { headers, client });
  await response.body?.cancel();
  assert.equal(response.status, 403);
});

Deno.test("kubeconfigFor includes the token and the certificate authority of a served API server", async () => {
  const certificate = await localCertificate();
  await using server = createApiserver();
  await using served = serveApiserver(server, { certificate });
  const { clusters, users } = JSON.parse(kubeconfigFor(served));
  assert.equal(users[0].user.token, served.token);
  assert.equal(atob(clusters[0].cluster["certificate-authority-data"]), certificate.caCert);
});
