/**
 * A program that `apiserver.ts` starts: our API server as `op apiserver` serves it. It prints its
 * start time.
 */
import { DEFINITION, GROUP } from "./_apiserver_load.ts";

const start = performance.now();
const { createApiserver } = await import("../src/apiserver/mod.ts");
const { serveApiserver } = await import("../src/apiserver/serve.ts");
const imported = performance.now();
const server = createApiserver();
await server.fetch(
  new Request("http://server/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(DEFINITION),
  }),
);
const path = `/apis/${GROUP}/v1/namespaces/default/widgets`;
while (!(await server.fetch(new Request(`http://server${path}`))).ok) await Promise.resolve();
const ready = performance.now();
const { url } = serveApiserver(server, { anonymous: true });
console.log(JSON.stringify({ url, import: imported - start, ready: ready - start }));
