/** The order in which an operator's program starts: health endpoints, services, watches. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { CustomResourceDefinition } from "@op/sdk/kinds";
import { createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
import { Client } from "../../src/kube/client.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { Note } from "../fixtures/notes.ts";
import { startOperator } from "../fixtures/operator_process.ts";

const MAIN = fileURLToPath(new URL("../fixtures/operators/slow_services.ts", import.meta.url));

Deno.test("a program answers probes and sends no request while its services are created", async () => {
  await using apiserver = createApiserver();
  await using served = serveApiserver(apiserver);
  const client = new Client({ url: served.url, fetch: (request) => apiserver.fetch(request), close() {} });
  await client.create(CustomResourceDefinition, Note.crd as never);
  await client.create(Note, { metadata: { name: "a" }, spec: {} }, { namespace: "default" });
  const home = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${home}/kubeconfig`, kubeconfigFor(served));
    const port = freePort();
    const args = ["--kubeconfig", `${home}/kubeconfig`, "--health-port", String(port)];
    const before = apiserver.activity;
    await using operator = await startOperator({ home, main: MAIN, args });
    const probe = async (path: string): Promise<readonly [number, string]> => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return [response.status, await response.text()];
    };

    await operator.logged(({ msg }) => msg === "Services are being created");
    assert.deepEqual(await probe("/readyz"), [503, "[-]operator: creating services\n"]);
    assert.equal((await probe("/livez"))[0], 200);
    assert.equal((await probe("/metrics"))[0], 200);
    assert.equal(apiserver.activity, before);

    await Deno.writeTextFile(`${home}/created`, "");
    await operator.logged(({ msg, note }) => msg === "Note reconciled" && note === "a");
    const [status, lines] = await probe("/readyz");
    assert.equal(status, 200);
    assert.match(lines, /^\[\+\]leadership: leads$/m);
    assert.match(lines, /^\[\+\]RBAC permission to .*: granted$/m);
    assert.equal(await operator.stop(), 0);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
