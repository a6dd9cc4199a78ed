/** Compares kubectl with a client certificate on the in-process API server and on a real one. */
import assert from "node:assert/strict";
import {
  createApiserver,
  kubeconfigFor,
  localAuthority,
  realCluster,
  serveWithClientCertificates,
} from "../../src/testing/mod.ts";
import { eventually } from "../eventually.ts";
import { type CommandResult, comparable, kubectlPath } from "./_kubectl.ts";

const JANE = "jane";
const GROUPS = ["team", "other"];

const COMMANDS: readonly (readonly string[])[] = [
  ["auth", "whoami", "-o", "yaml"],
  ["auth", "can-i", "list", "pods"],
  ["auth", "can-i", "create", "configmaps"],
  ["create", "configmap", "mine", "--from-literal=a=b"],
  ["get", "configmaps", "-o", "name"],
  ["get", "secrets"],
  ["auth", "whoami", "-o", "yaml", "--as=robot"],
  ["delete", "configmap", "mine"],
];

Deno.test("kubectl authenticates with a client certificate as on a real API server", async (t) => {
  await using real = await realCluster();
  const authority = await localAuthority();
  await using server = createApiserver({ rbac: true });
  await using served = await serveWithClientCertificates(server, { certificate: await authority.server() });
  const kubectl = await kubectlPath();
  const ours = async (name: string, groups: readonly string[]) =>
    kubeconfigFor(served.url, { certificate: await authority.client(name, groups), caCert: authority.caCert });
  const theirs = async (name: string, groups: readonly string[]) =>
    (await real.certificateUser(name, { groups })).kubeconfig;
  const folder = await Deno.makeTempDir({ prefix: "kubectl-" });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(folder, { recursive: true }));

  const shells = await Promise.all([["real", theirs], ["ours", ours]].map(async ([name, configFor]) => {
    const kubeconfigOf = configFor as typeof ours;
    await Deno.writeTextFile(`${folder}/${name}-admin`, await kubeconfigOf("admin", ["system:masters"]));
    await Deno.writeTextFile(`${folder}/${name}`, await kubeconfigOf(JANE, GROUPS));
    return async (args: readonly string[], user = ""): Promise<CommandResult> => {
      const { code, stdout, stderr } = await new Deno.Command(kubectl, {
        args: [...args, "--kubeconfig", `${folder}/${name}${user}`],
        clearEnv: true,
        env: { HOME: folder },
      }).output();
      const decoder = new TextDecoder();
      return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    };
  }));
  for (const shell of shells) {
    const role = ["create", "role", "writer", "--verb=create,list,delete", "--resource=configmaps"];
    assert.equal((await shell(role, "-admin")).code, 0);
    assert.equal((await shell(["create", "rolebinding", "team", "--role=writer", "--group=team"], "-admin")).code, 0);
    // A real server applies the binding shortly after it stored it.
    await eventually(async () => {
      const { code, stdout, stderr } = await shell(["auth", "can-i", "create", "configmaps"]);
      assert.equal(code, 0, stdout + stderr);
    });
  }

  for (const args of COMMANDS) {
    await t.step(`kubectl ${args.join(" ")}`, async () => {
      const [expected, actual] = await Promise.all(shells.map((shell) => shell(args)));
      assert(expected && actual);
      const withoutHash = (ended: CommandResult): CommandResult => ({
        ...ended,
        stdout: ended.stdout.replace(/X509SHA256=[0-9a-f]{64}/, "X509SHA256=<hash>"),
      });
      assert.deepEqual(comparable(withoutHash(actual), { args }), comparable(withoutHash(expected), { args }));
    });
  }
});
