/**
 * Compares the output of kubectl on the in-process API server and on a real one. The commands run
 * in order on both servers in parallel. Uids, versions, times and addresses are ignored.
 */
import assert from "node:assert/strict";
import {
  createApiserver,
  kubeconfigFor,
  localCertificate,
  realCluster,
  serveApiserver,
} from "../../src/testing/mod.ts";
import { eventually } from "../eventually.ts";
import { temporaryFolder } from "../fixtures/kubeconfig_clients.ts";
import { type CommandResult, comparable, kubectlPath } from "./_kubectl.ts";
import { type Command, COMMANDS, FILES } from "./_kubectl_commands.ts";

Deno.test("kubectl prints the same output for the in-process API server as for a real one", async (t) => {
  await using real = await realCluster({
    controllerManager: ["garbage-collector-controller", "namespace-controller"],
  });
  const certificate = await localCertificate();
  const user = { name: "admin", groups: ["system:masters"] };
  await using server = createApiserver({ rbac: true, tokens: { admin: user } });
  await using served = serveApiserver(server, { certificate });
  const kubectl = await kubectlPath();

  await using folder = await temporaryFolder();
  const kubeconfigs = {
    real: real.admin.kubeconfig,
    ours: kubeconfigFor(served.url, { token: "admin", caCert: certificate.caCert }),
  };
  const shells = await Promise.all(
    Object.entries(kubeconfigs).map(([name, config]) => shell(kubectl, `${folder.path}/${name}`, config)),
  );

  for (const command of COMMANDS) {
    await t.step(title(command), async () => {
      const compare = async (): Promise<void> => {
        const [expected, actual] = await Promise.all(shells.map((run) => run(command)));
        assert(expected && actual);
        assert.deepEqual(comparable(actual, command), comparable(expected, command));
        assert.equal(expected.code, command.code ?? 0, `${expected.stdout}${expected.stderr}`);
      };
      await (command.isRepeated ? eventually(compare) : compare());
    });
  }
});

function title({ args, meanwhile }: Command): string {
  return `kubectl ${args.join(" ")}${meanwhile === undefined ? "" : ` (meanwhile: kubectl ${meanwhile.join(" ")})`}`;
}

/**
 * Writes the files that the commands read. Returns a function that runs kubectl in their folder.
 */
async function shell(
  kubectl: string,
  folder: string,
  kubeconfig: string,
): Promise<(command: Command) => Promise<CommandResult>> {
  for (const [name, text] of Object.entries(FILES)) {
    const path = `${folder}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
  await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfig);
  const start = (args: readonly string[], input: string | undefined) => {
    const child = new Deno.Command(kubectl, {
      args: [...args],
      cwd: folder,
      clearEnv: true,
      // Discovery is cached below HOME; diff calls the program of that name.
      env: { KUBECONFIG: `${folder}/kubeconfig`, HOME: folder, PATH: "/usr/bin:/bin", TZ: "UTC" },
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (input !== undefined) new Response(input).body?.pipeTo(child.stdin).catch(() => {});
    return child;
  };
  return async ({ args, input, meanwhile, until }) => {
    const child = start(args, input);
    const ended = Promise.all([new Response(child.stderr).text(), child.status]);
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let stdout = "";
    // A watch prints the existing objects first, and wait prints no output before its end. Both end
    // without a signal.
    if (args.includes("-w")) {
      for (let next; !stdout.endsWith("\n") && !(next = await reader.read()).done;) stdout += next.value;
    }
    if (meanwhile !== undefined) await start(meanwhile, undefined).output();
    if (until !== undefined) {
      for (let next; !until.test(stdout) && !(next = await reader.read()).done;) stdout += next.value;
      assert.match(stdout, until);
      child.kill("SIGKILL");
    }
    for (let next = await reader.read(); !next.done; next = await reader.read()) stdout += next.value;
    const [stderr, { code }] = await ended;
    return { code: until === undefined ? code : 0, stdout, stderr };
  };
}
