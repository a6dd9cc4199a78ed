import assert from "node:assert/strict";
import { createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";

Deno.test("op deploy tells once what the API server refuses, and names the object", async () => {
  await using apiserver = createApiserver();
  await using served = serveApiserver(apiserver);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfigFor(served));
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { text: 1 } };
    await Deno.writeTextFile(`${folder}/map.json`, JSON.stringify(map));
    const io = new RecordedIo(folder);
    assert.equal(await cli(["deploy", "map.json", "--kubeconfig", "kubeconfig"], io), 1);
    assert.match(io.stderr, /^Cannot apply ConfigMap "default\/x": the apiserver answered /m);
    assert.equal(io.stderr.match(/Cannot apply/g)?.length, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
