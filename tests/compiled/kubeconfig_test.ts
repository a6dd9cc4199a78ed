/** A compiled operator with a kubeconfig outside of a cluster. */
import assert from "node:assert/strict";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { buildOperator } from "../fixtures/build_operator.ts";
import { followProcess } from "../fixtures/followed_process.ts";

Deno.test("a compiled operator uses a kubeconfig that it may read, and reports that exec plugins are not supported", async (t) => {
  await using cluster = await realCluster();
  const folder = await Deno.makeTempDir();
  try {
    const { server, login } = { server: `${folder}/kubeconfig.yaml`, login: `${folder}/login.yaml` };
    await Deno.writeTextFile(server, cluster.admin.kubeconfig);
    await Deno.writeTextFile(login, LOGIN);
    await using built = await buildOperator(`
      import { controller, operator } from "@op/sdk";
      import { Namespace } from "@op/sdk/kinds";
      const op = operator({
        name: "spaces",
        parts: { namespaces: controller(Namespace, { reconcile() {} }) },
        health: false,
        leaderElection: false,
        sandbox: { net: ["127.0.0.1"], read: ${JSON.stringify([server, login])} },
      });
      export default op;
      if (import.meta.main) await op.main();
    `);
    const start = (kubeconfig: string) =>
      new Deno.Command(built.path, {
        args: ["start", "--kubeconfig", kubeconfig],
        clearEnv: true,
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      });

    await t.step("it connects with a kubeconfig that it declares", async () => {
      const process = start(server).spawn();
      await using operator = await followProcess(process, {
        pid: () => Promise.resolve(process.pid),
        dispose: async () => {},
      });
      await operator.logged(({ msg }) => msg === "Controller started");
      assert.equal(await operator.stop("SIGTERM"), 0);
    });

    await t.step("it rejects an exec plugin, and reports how to use one", async () => {
      const { code, stderr } = await start(login).output();
      assert.notEqual(code, 0);
      assert.match(
        new TextDecoder().decode(stderr),
        /an executable does not support logins by exec plugin or OIDC\. Run the operator from source/,
      );
    });

    await t.step("it reports the declaration that lets it read another kubeconfig", async () => {
      const { code, stderr } = await start(`${folder}/other.yaml`).output();
      assert.notEqual(code, 0);
      assert.match(new TextDecoder().decode(stderr), /needs a sandbox permission of this executable\. .*read: \[/);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const LOGIN = `apiVersion: v1
kind: Config
current-context: cloud
clusters: [{ name: cloud, cluster: { server: "https://127.0.0.1:6443" } }]
users: [{ name: me, user: { exec: { apiVersion: client.authentication.k8s.io/v1, command: cat } } }]
contexts: [{ name: cloud, context: { cluster: cloud, user: me } }]
`;
