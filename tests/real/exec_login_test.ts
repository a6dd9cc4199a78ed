/**
 * A kubeconfig that logs in with an exec plugin, as those of most clouds do, on a real API server.
 */
import assert from "node:assert/strict";
import { mainModule, operatorFolder } from "../../cli/_operator_folder.ts";
import { cli } from "../../cli/cli.ts";
import { Namespace } from "../../src/kinds/mod.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { RunningIo } from "../fixtures/running_io.ts";
import { clientBy, temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

Deno.test("a client with an exec plugin logs in, and logs in again when its token has expired", async () => {
  await using cluster = await realCluster();
  await using folder = await temporaryFolder();
  const [first, second] = [
    await cluster.user("cloudy", { groups: ["system:masters"] }),
    await cluster.user("cloudy", { groups: ["system:masters"] }),
  ];
  const credential = `${folder.path}/credential.json`;
  const writeCredential = (token: string) => Deno.writeTextFile(credential, credentialOf(token));
  await writeCredential(first.token);
  await folder.write({ "config": kubeconfigOf(cluster, credential) });
  using plugin = await clientBy(`${folder.path}/config`);
  assert.equal((await plugin.client.get(Namespace, "default")).metadata.name, "default");

  await writeCredential(second.token);
  await cluster.expire(first.token);
  assert.equal((await plugin.client.get(Namespace, "default")).metadata.name, "default");
});

Deno.test("op start and op dev log in with an exec plugin", async (t) => {
  await using cluster = await realCluster();
  await using folder = await operatorFolder();
  const { token } = await cluster.user("cloudy", { groups: ["system:masters"] });
  await folder.write("credential.json", credentialOf(token));
  await folder.write("kubeconfig", kubeconfigOf(cluster, `${folder.path}/credential.json`));
  await folder.write(
    "main.ts",
    mainModule(`
const namespaces = controller(Namespace, { reconcile() {} });
export default operator({ name: "spaces", version: "1.2.0", health: false, parts: { namespaces } });
`),
  );
  for (const command of [["dev"], ["dev", "--as-me"], ["start"]]) {
    await t.step(`op ${command.join(" ")} starts its controller`, async () => {
      const io = new RunningIo(folder.path);
      const ended = cli([...command, "--kubeconfig", "kubeconfig"], io);
      await io.waitForOutput(/Controller started/, 1, ended);
      io.end();
      assert.equal(await ended, 0, io.stdout + io.stderr);
    });
  }
});

/** Returns the output of an exec plugin with a token. */
function credentialOf(token: string): string {
  return JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token } });
}

/** Returns a kubeconfig whose exec plugin prints a file. */
function kubeconfigOf(cluster: RealCluster, credential: string): string {
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "cat",
    args: [credential],
    interactiveMode: "Never",
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "cloud",
    clusters: [{ name: "cloud", cluster: { server: cluster.url, "certificate-authority-data": btoa(cluster.caCert) } }],
    users: [{ name: "me", user: { exec } }],
    contexts: [{ name: "cloud", context: { cluster: "cloud", user: "me" } }],
  });
}
