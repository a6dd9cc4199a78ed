/** Faults of a real API server and of the way to it: nothing is lost by them. The numbers are small here; all of them with OP_TEST_FAULTS=full. */
import assert from "node:assert/strict";
import { connect, operator } from "../../mod.ts";
import { ClusterRole, ClusterRoleBinding, ConfigMap, CustomResourceDefinition } from "../../src/kinds/mod.ts";
import { startOperator } from "../../src/operator/running.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../_watched.ts";
import { applyText, Note, recording } from "../runtime/_notes.ts";
import { compactEtcd } from "./_etcd.ts";
import { faultyProxy } from "./_faulty_proxy.ts";
import { install } from "./_install.ts";
import { soon } from "./_soon.ts";
import { temporaryFolder } from "./_ways_in.ts";

const IN_DEFAULT = { namespace: "default" };
const COUNT = 20;
const IS_FULL = Deno.env.get("OP_TEST_FAULTS") === "full";
const [RESTARTS, CHANGES] = IS_FULL ? [10, 2000] : [3, 300];

Deno.test("faults of a real API server and of the way to it", async (t) => {
  await using cluster = await realCluster({ apiserverArgs: ["--shutdown-watch-termination-grace-period=1s"] });
  await using folder = await temporaryFolder();
  using proxy = faultyProxy(cluster.port);
  const client = adminClient(cluster);
  const { notes, runs } = recording(applyText);
  const op = operator({ name: "faults", parts: { notes }, health: false });
  await install(client, op);
  await using maps = await watched(client, ConfigMap);

  const texts = (): Map<string, string | undefined> =>
    new Map(maps.values().map(({ metadata, data }) => [metadata.name, data?.text]));
  const write = async (name: string, text: string): Promise<void> => {
    // The server may be away: what was not taken is sent again.
    await soon(() => client.apply(Note, { metadata: { name, ...IN_DEFAULT }, spec: { text } }, { manager: "test" }));
  };

  await folder.write({ config: cluster.admin.kubeconfig.replace(cluster.url, `https://127.0.0.1:${proxy.port}`) });
  const connection = await connect({ kubeconfig: `${folder.path}/config` });
  using _connection = { [Symbol.dispose]: () => connection.close() };
  await using _running = startOperator(op, { connection });
  for (let i = 0; i < COUNT; i++) await write(`n${i}`, "0");
  await maps.until(() => texts().get(`n${COUNT - 1}`) === "0");

  await t.step("a connection that brings nothing any more, of which nobody is told, is found within 10 s", async () => {
    proxy.freeze();
    const from = performance.now();
    await write("n0", "frozen");
    await maps.until(() => texts().get("n0") === "frozen");
    const took = performance.now() - from;
    assert(took < 11_000, `${took} ms`);
  });

  await t.step("a watch that was cut off while etcd was compacted lists anew and misses nothing", async () => {
    proxy.cut();
    await write("n1", "behind its back");
    await client.delete(Note, "n2", IN_DEFAULT);
    await compactEtcd(cluster);
    await cluster.restartApiserver({ signal: "SIGKILL" });
    await write("n3", "after it");
    await compactEtcd(cluster);
    runs.length = 0;
    proxy.mend();
    await maps.until(() => texts().get("n1") === "behind its back" && texts().get("n3") === "after it");
    // A run that was cut off is tried again.
    const changed = runs.filter((run) => !run.endsWith("retried"));
    assert.deepEqual(changed.sort(), ["n1 behind its back: changed", "n3 after it: changed"]);
  });

  await t.step(`a server killed and started again ${RESTARTS} times under ${CHANGES} changes loses none`, async () => {
    const wanted = new Map<string, string>();
    let isOver = false;
    const restarting = (async () => {
      for (let i = 0; i < RESTARTS; i++) await cluster.restartApiserver({ signal: "SIGKILL" });
      isOver = true;
    })();
    let made = 0;
    const lanes = Array.from({ length: 5 }, async (_, lane) => {
      for (let i = lane; i < CHANGES || !isOver; i += 5) {
        // n2 went.
        const name = `n${3 + i % (COUNT - 3)}`;
        if (i % 5 !== lane) continue;
        await write(name, `change ${i}`);
        wanted.set(name, `change ${i}`);
        made++;
      }
    });
    await Promise.all([restarting, ...lanes]);
    assert(made >= CHANGES, `${made} changes`);
    for (const { metadata, spec } of await client.list(Note, IN_DEFAULT)) wanted.set(metadata.name, spec.text);
    await maps.until(() => [...wanted].every(([name, text]) => texts().get(name) === text));
  });

  await t.step("a definition that is deleted and made anew is waited for, and its objects are reconciled", async () => {
    for (const { metadata } of await client.list(ConfigMap, IN_DEFAULT)) {
      if (metadata.name.startsWith("n")) await client.delete(ConfigMap, metadata.name, IN_DEFAULT);
    }
    await client.delete(CustomResourceDefinition, Note.crd!.metadata.name);
    await soon(async () => await assert.rejects(client.list(Note, IN_DEFAULT), { status: 404 }));
    await install(client, op);
    for (const { metadata } of await client.list(ConfigMap, IN_DEFAULT)) {
      if (metadata.name.startsWith("n")) await client.delete(ConfigMap, metadata.name, IN_DEFAULT);
    }
    await write("n0", "again");
    await maps.until(() => texts().get("n0") === "again");
  });
});

Deno.test("a permission that is taken away and given back on a real API server: it waits, says so, and goes on", async () => {
  await using cluster = await realCluster();
  await using folder = await temporaryFolder();
  const client = adminClient(cluster);
  const { notes } = recording(applyText);
  const op = operator({ name: "faults", parts: { notes }, health: false });
  await install(client, op);
  await using maps = await watched(client, ConfigMap);
  const { rbac } = op.manifests({ namespace: "default" });
  const rules = rbac.flatMap((manifest) => "rules" in manifest ? manifest.rules as { verbs: string[] }[] : []);
  const role = (verbs: (verb: string) => boolean) =>
    client.apply(ClusterRole, {
      metadata: { name: "op" },
      rules: rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter(verbs) })).filter(({ verbs }) =>
        verbs.length > 0
      ),
    }, { manager: "test", force: true });
  await role(() => true);
  await client.create(ClusterRoleBinding, {
    metadata: { name: "op" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "op" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "limited" }],
  });
  const { kubeconfig } = await cluster.user("limited");
  await folder.write({ config: kubeconfig });
  const connection = await connect({ kubeconfig: `${folder.path}/config` });
  using _connection = { [Symbol.dispose]: () => connection.close() };
  await using running = startOperator(op, { connection });
  const told = (name: string): string | undefined => running.readiness().find((line) => line.name === name)?.told;
  const create = (name: string) => client.create(Note, { metadata: { name }, spec: { text: name } }, IN_DEFAULT);
  await create("before");
  await maps.until((all) => all.some(({ metadata }) => metadata.name === "before"));

  await role((verb) => verb !== "patch");
  await soon(async () => {
    await client.delete(Note, "probe", IN_DEFAULT).catch(() => undefined);
    await create("probe").catch(() => undefined);
    assert.match(told("controller notes") ?? "", /^waits for the permission to patch/);
  });
  await create("during");
  assert.equal(maps.values().some(({ metadata }) => metadata.name === "during"), false);

  await role(() => true);
  await maps.until((all) => all.some(({ metadata }) => metadata.name === "during"));
  await soon(() => assert.equal(told("controller notes"), "running"));
});
