import assert from "node:assert/strict";
import { SERVICE_ACCOUNT } from "../base/pod.ts";
import { systemClock } from "../base/clock.ts";
import { localAuthority } from "../testing/local_certificate.ts";
import { inCluster } from "./in_cluster.ts";
import type { Machine } from "./machine.ts";

/** Headers that each HTTP client sends by itself: `fetch` accepts compressed responses. */
const CLIENTS: readonly {
  name: string;
  httpClient?: "http2" | "fetch";
  isTraced?: boolean;
  encodings: string | null;
}[] = [
  { name: "its own HTTP/2 client by default", encodings: null },
  { name: "its own HTTP/2 client", httpClient: "http2", encodings: null },
  { name: "fetch, if httpClient is fetch", httpClient: "fetch", encodings: "gzip,br" },
  { name: "fetch, if tracing is enabled", isTraced: true, encodings: "gzip,br" },
];

for (const { name, httpClient, isTraced = false, encodings } of CLIENTS) {
  Deno.test(`inCluster uses ${name}`, async () => {
    const authority = await localAuthority();
    const { certificate: cert, key } = await authority.server();
    const seen: (string | null)[][] = [];
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen() {} }, (request) => {
      seen.push([request.headers.get("authorization"), request.headers.get("accept-encoding")]);
      return Response.json({});
    });
    const files: Record<string, string> = { "ca.crt": authority.caCert, token: "secret", namespace: "team\n" };
    const machine: Machine = {
      env: (name) => name === "KUBERNETES_SERVICE_PORT" ? String(server.addr.port) : undefined,
      readText: (path) => Promise.resolve(files[path.slice(SERVICE_ACCOUNT.length + 1)]!),
      isTraced: () => isTraced,
    };
    const connection = await inCluster(machine, systemClock, httpClient);
    assert(connection?.isInPod);
    assert.equal(connection.namespace, "team");
    const request = { method: "GET", headers: {}, body: null, signal: null };
    const response = await connection.send!(`https://127.0.0.1:${server.addr.port}/version`, request);
    assert.deepEqual(await response.json(), {});
    connection.close();
    assert.deepEqual(seen, [["Bearer secret", encodings]]);
  });
}
