import assert from "node:assert/strict";
import { clusterAccess } from "./cluster_access.ts";
import type { Connection } from "./connection.ts";
import { withToken } from "./http.ts";

/** Creates a connection whose server accepts one token, and records the requests. */
function connect(tokens: string[], accepted: string): { connection: Connection; requests: string[] } {
  const requests: string[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const authorization = request.headers.get("authorization");
    requests.push(`${request.method} ${request.url} ${authorization} ${await request.text()}`);
    return new Response("", { status: authorization === `Bearer ${accepted}` ? 200 : 401 });
  };
  const token = (again: boolean) => {
    if (again) tokens.shift();
    return Promise.resolve(tokens[0]!);
  };
  return { connection: { url: "https://cluster/prefix", close() {}, ...withToken({ fetch }, token) }, requests };
}

Deno.test("clusterAccess sends requests with the token, relative to the URL of the API server", async () => {
  const { connection, requests } = connect(["one"], "one");
  const access = clusterAccess({ ...connection, ca: "PEM", namespace: "team" });
  assert.deepEqual([access.url, access.ca, access.namespace], ["https://cluster/prefix", "PEM", "team"]);
  assert.equal((await access.fetch("/api/v1/pods", { method: "POST", body: "{}" })).status, 200);
  assert.equal((await access.fetch(new URL("https://cluster/prefix/version"))).status, 200);
  assert.deepEqual(requests, [
    "POST https://cluster/prefix/api/v1/pods Bearer one {}",
    "GET https://cluster/prefix/version Bearer one ",
  ]);
  assert.equal(await access.token(), "one");
});

Deno.test("clusterAccess repeats a request with a new token when the server rejects the old one", async () => {
  const { connection, requests } = connect(["old", "new"], "new");
  const response = await clusterAccess(connection).fetch("/api/v1/pods", { method: "POST", body: "{}" });
  assert.equal(response.status, 200);
  assert.deepEqual(requests, [
    "POST https://cluster/prefix/api/v1/pods Bearer old {}",
    "POST https://cluster/prefix/api/v1/pods Bearer new {}",
  ]);
});

Deno.test("clusterAccess sends no credentials to other servers", async () => {
  const { connection, requests } = connect(["one"], "one");
  const access = clusterAccess(connection);
  for (const url of ["https://other/api", "http://cluster/prefix/api"]) {
    await assert.rejects(access.fetch(url), TypeError);
  }
  assert.deepEqual(requests, []);
});

Deno.test("clusterAccess has no token if the connection has none", async () => {
  const access = clusterAccess({ url: "http://cluster", fetch: () => Promise.resolve(new Response()), close() {} });
  assert.deepEqual([await access.token(), access.ca, access.namespace], [undefined, undefined, undefined]);
});
