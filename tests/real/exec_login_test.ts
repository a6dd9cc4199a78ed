/** A kubeconfig whose login is another program, as those of most clouds are, on a real API server. */
import assert from "node:assert/strict";
import { Namespace } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { clientBy, temporaryFolder } from "./_ways_in.ts";

Deno.test("a kubeconfig with an exec plugin logs in, and logs in again when its token has expired", async () => {
  await using cluster = await realCluster();
  await using folder = await temporaryFolder();
  const [first, second] = [
    await cluster.user("cloudy", { groups: ["system:masters"] }),
    await cluster.user("cloudy", { groups: ["system:masters"] }),
  ];
  const credential = `${folder.path}/credential.json`;
  const offer = (token: string) =>
    Deno.writeTextFile(
      credential,
      JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token } }),
    );
  await offer(first.token);
  await folder.write({
    "config": JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "cloud",
      clusters: [{
        name: "cloud",
        cluster: { server: cluster.url, "certificate-authority-data": btoa(cluster.caCert) },
      }],
      users: [{
        name: "me",
        user: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: "cat",
            args: [credential],
            interactiveMode: "Never",
          },
        },
      }],
      contexts: [{ name: "cloud", context: { cluster: "cloud", user: "me" } }],
    }),
  });
  using way = await clientBy(`${folder.path}/config`);
  assert.equal((await way.client.get(Namespace, "default")).metadata.name, "default");

  await offer(second.token);
  await cluster.expire(first.token);
  assert.equal((await way.client.get(Namespace, "default")).metadata.name, "default");
});
