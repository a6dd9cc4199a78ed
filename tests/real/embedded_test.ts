/** An operator that a program starts with `start()` on a real API server. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Lease } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { install } from "../fixtures/install.ts";
import { Note } from "../fixtures/notes.ts";
import { runOperator } from "../fixtures/operator_process.ts";
import { op } from "../fixtures/operators/embedded.ts";
import { adminClient } from "../fixtures/watched.ts";

const MAIN = fileURLToPath(new URL("../fixtures/operators/embedded.ts", import.meta.url));

Deno.test("a program starts an operator, uses its connection, stops it, and ends by itself", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await install(client, op);
  await client.create(Note, { metadata: { name: "a" }, spec: {} }, { namespace: "default" });
  const home = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${home}/config`, cluster.admin.kubeconfig);
    // Without options, the program connects as kubectl does.
    const env = { KUBECONFIG: `${home}/config` };
    const { code, stdout, stderr } = await runOperator({ home, main: MAIN, args: [String(freePort())], env });
    assert.equal(code, 0, stderr);
    const [access = "", reconciled] = stdout.split("\n");
    const { url, caCert, admin: { token } } = cluster;
    assert.deepEqual(JSON.parse(access), { url, ca: caCert, token, status: 200, served: true });
    assert.equal(reconciled, "a");
    const { spec } = await client.get(Lease, "note-operator", { namespace: "default" });
    assert.equal(spec?.holderIdentity, undefined, "the Lease was not released");
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
