/** The kubeconfig that `op apiserver` writes, used by kubectl over HTTPS and over plain HTTP. */
import assert from "node:assert/strict";
import { cli } from "../../cli/cli.ts";
import { RunningIo } from "../fixtures/running_io.ts";
import { kubectlPath } from "./_kubectl.ts";

for (const flags of [[], ["--rbac"], ["--no-tls"]]) {
  Deno.test(`kubectl creates and lists objects with the kubeconfig of "${["op apiserver", ...flags].join(" ")}"`, async () => {
    const kubectl = await kubectlPath();
    const folder = await Deno.makeTempDir();
    const io = new RunningIo(folder);
    const ended = cli(["apiserver", "--kubeconfig", "config", ...flags], io);
    await io.waitForOutput(/Ctrl-C/, 1, ended);
    for (const args of [["create", "configmap", "a", "--from-literal=b=c"], ["get", "configmaps", "-o", "name"]]) {
      const { code, stdout, stderr } = await new Deno.Command(kubectl, {
        args: [...args, "--kubeconfig", `${folder}/config`],
        clearEnv: true,
        env: { HOME: folder },
      }).output();
      const decoder = new TextDecoder();
      assert.equal(code, 0, decoder.decode(stderr));
      assert.match(decoder.decode(stdout), /^configmap\/a/m);
    }
    io.end();
    assert.equal(await ended, 0);
    await Deno.remove(folder, { recursive: true });
  });
}
