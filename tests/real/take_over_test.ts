/**
 * Two processes of one operator on a real API server, of which one takes over from the other, and
 * pauses by `op pause`.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { operatorFolder } from "../../cli/_operator_folder.ts";
import { cli } from "../../cli/cli.ts";
import { RecordedIo } from "../../cli/_recorded_io.ts";
import { kubeconfigFor } from "../../src/apiserver/serve.ts";
import { ConfigMap, Lease, Namespace } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { install } from "../fixtures/install.ts";
import { temporaryFolder } from "../fixtures/kubeconfig_clients.ts";
import op, { Note } from "../fixtures/operators/elected.ts";
import { startOperator } from "../fixtures/operator_process.ts";
import { RunningIo } from "../fixtures/running_io.ts";
import { adminClient, watched } from "../fixtures/watched.ts";

const IN_DEFAULT = { namespace: "default" };
const MAIN = fileURLToPath(new URL("../fixtures/operators/elected.ts", import.meta.url));

Deno.test("one process takes over from another, op pause pauses it, and the other one leads again at its end", async (t) => {
  await using cluster = await realCluster();
  await using home = await temporaryFolder();
  await home.write({ kubeconfig: kubeconfigFor(cluster.url, { ...cluster, token: cluster.admin.token }) });
  const client = adminClient(cluster);
  await install(client, op);
  await using maps = await watched(client, ConfigMap);
  const lease = () => client.get(Lease, "elected-operator", IN_DEFAULT);
  const holder = async () => (await lease()).spec?.holderIdentity ?? "";
  const start = async (host: string, ...args: string[]) => {
    const { token } = await cluster.user(host, { groups: ["system:masters"] });
    const pod = { ...cluster, token };
    return await startOperator({ home: home.path, main: MAIN, pod, env: { HOSTNAME: host }, args: ["start", ...args] });
  };
  const write = (name: string) => client.create(Note, { metadata: { name }, spec: { text: "one" } }, IN_DEFAULT);
  const reconciled = (name: string) => maps.until((all) => all.some(({ metadata }) => metadata.name === name));
  const runOp = async (...args: string[]) => {
    const io = new RecordedIo(home.path);
    const code = await cli([...args, "--kubeconfig", "kubeconfig"], io);
    return { code, stdout: io.stdout, stderr: io.stderr };
  };

  await using deployed = await start("deployed");
  await deployed.logged(({ msg }) => msg === "Leadership gained");
  await using newcomer = await start("newcomer", "--take-over");
  await deployed.logged(({ msg, to }) => msg === "Leadership yielded" && String(to).startsWith("newcomer_"));
  await deployed.logged(({ msg }) => msg === "Lease released");
  await newcomer.logged(({ msg }) => msg === "Leadership gained");
  assert.match(await holder(), /^newcomer_/);
  assert.deepEqual((await lease()).metadata.annotations, { "elected-operator.op/priority": "100" });
  await write("first");
  await reconciled("first");

  await t.step("at equal priority, the newcomer waits and reports it", async () => {
    await using second = await start("second", "--take-over");
    const { leaderPriority } = await second.logged(({ msg }) =>
      msg === "Standing by because the leader's priority is not lower"
    );
    assert.equal(leaderPriority, 100);
    assert.equal(await second.stop(), 0);
    assert.match(await holder(), /^newcomer_/);
  });

  await t.step("without leader election, a process warns about the leader", async () => {
    await using standalone = await start("standalone", "--no-leader-election");
    const { leader } = await standalone.logged(({ msg }) =>
      msg === "Reconciling without leader election although another process leads"
    );
    assert.match(String(leader), /^newcomer_/);
    assert.equal(await standalone.stop(), 0);
  });

  await t.step("op pause pauses the leader until op resume, or for the given time", async () => {
    const paused = await runOp("pause", "elected-operator");
    assert.equal(paused.code, 0, paused.stderr);
    assert.match(
      paused.stdout,
      /^"elected-operator" is paused by \S+@\S+\. Resume it with "op resume elected-operator"/,
    );
    await newcomer.logged(({ msg }) => msg === "Operator paused");
    await write("second");
    const resumed = await runOp("resume", "elected-operator", "-n", "default");
    assert.equal(resumed.code, 0, resumed.stderr);
    await newcomer.logged(({ msg }) => msg === "Operator resumed");
    await reconciled("second");

    const limited = await runOp("pause", "elected-operator", "--for", "6s");
    assert.match(limited.stdout, /^"elected-operator" is paused by \S+@\S+ until \d{4}-\d\d-\d\dT[\d:]+Z \(Lease/);
    await newcomer.logged(({ msg }) => msg === "Operator paused");
    await write("third");
    assert.equal((await client.list(ConfigMap, IN_DEFAULT)).some(({ metadata }) => metadata.name === "third"), false);
    await newcomer.logged(({ msg }) => msg === "Operator resumed");
    await reconciled("third");
    assert.deepEqual((await lease()).metadata.annotations, { "elected-operator.op/priority": "100" });
  });

  await t.step("op pause rejects names of operators without a Lease, and suggests a similar one", async () => {
    const { code, stderr } = await runOp("pause", "elected-operater");
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^Cannot pause "elected-operater": no operator of this name has a Lease in https:\S+\. Did you mean "elected-operator"\?$/m,
    );
  });

  assert.equal(await newcomer.stop(), 0);
  await deployed.logged(({ msg }) => msg === "Leadership gained");
  assert.match(await holder(), /^deployed_/);

  await t.step("API servers drop the fields of coordinated leader election", async () => {
    const spec = { strategy: "OldestEmulationVersion", preferredHolder: "newcomer" };
    const stored = await client.create(Lease, { metadata: { name: "coordinated" }, spec }, IN_DEFAULT);
    assert.deepEqual([stored.spec?.strategy, stored.spec?.preferredHolder], [undefined, undefined]);
  });
  assert.equal(await deployed.stop(), 0);
});

Deno.test("op dev --take-over makes the leader stand by, keeps the Lease while it restarts, and hands it back", async () => {
  await using cluster = await realCluster();
  await using folder = await operatorFolder();
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const client = adminClient(cluster);
  await client.create(Namespace, { metadata: { name: "notes-system" } });
  await using leases = await watched(client, Lease);
  const holderOf = (all: readonly { metadata: { name: string }; spec?: { holderIdentity?: string } }[]) =>
    all.find(({ metadata }) => metadata.name === "notes")?.spec?.holderIdentity;
  const DEV = ["dev", "--kubeconfig", "kubeconfig", "--no-check"];

  const deployedIo = new RunningIo(folder.path);
  const election = ["--leader-election", "--leader-election-namespace", "notes-system"];
  const deployed = cli(["start", "--kubeconfig", "kubeconfig", "main.ts", "--", ...election], deployedIo);
  await deployedIo.waitForOutput(/Leadership gained/, 1, deployed);
  const first = holderOf((await client.list(Lease, { namespace: "notes-system" })) as never);
  assert(first);

  const rejected = await folder.op(...DEV);
  assert.equal(rejected.code, 1);
  assert.match(
    rejected.stderr,
    /is the leader .*Stop the other one first, add --take-over to make it stand by until op dev ends, or add --alongside\.$/m,
  );

  const devIo = new RunningIo(folder.path);
  const dev = cli([...DEV, "--take-over"], devIo);
  await devIo.waitForOutput(/Leadership gained/, 1, dev);
  assert(devIo.stderr.includes(`Taking over from ${first}, which stands by until this process ends\n`), devIo.stderr);
  await folder.write("main.ts", `${await folder.read("main.ts")}\n// changed\n`);
  await devIo.waitForOutput(/was saved, restarting/, 1, dev);
  await devIo.waitForOutput(/Leadership gained/, 2, dev);
  assert.equal(deployedIo.stderr.split("Leadership gained").length, 2, "the other process led during the restart");

  devIo.end();
  assert.equal(await dev, 0, devIo.stderr);
  await leases.until((all) => holderOf(all as never) === first);
  deployedIo.end();
  await deployed;
});
