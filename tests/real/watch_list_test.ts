/**
 * Watch lists of a real API server, read by each HTTP client and command. Kubernetes 1.37
 * compresses them as several gzip members; `fetch` decodes only the first one.
 */
import assert from "node:assert/strict";
import { operator } from "@op/sdk";
import type { Connection } from "@op/sdk/client";
import { operatorFolder } from "../../cli/_operator_folder.ts";
import { cli } from "../../cli/cli.ts";
import { systemClock } from "../../src/base/clock.ts";
import { ConfigMap, Namespace } from "../../src/kinds/mod.ts";
import { connect } from "../../src/kube/connect.ts";
import { denoMachine } from "../../src/operator/machine.ts";
import { startOperator } from "../../src/operator/running.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { eventually, HANG_LIMIT } from "../eventually.ts";
import { Note, recording } from "../fixtures/notes.ts";
import { podConnection } from "../fixtures/connections.ts";
import { install } from "../fixtures/install.ts";
import { RunningIo } from "../fixtures/running_io.ts";
import { temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

const COUNT = 300;
/** The first minor version that compresses watch lists by default. */
const COMPRESSING_MINOR = 37;

Deno.test(`operators and op commands read all ${COUNT} objects of a watch list of a real API server`, async (t) => {
  await using cluster = await realCluster();
  await using folder = await temporaryFolder();
  await folder.write({ kubeconfig: cluster.admin.kubeconfig });
  const client = adminClient(cluster);
  await install(client, operator({ name: "kinds", parts: { notes: recording().notes } }));
  const names = Array.from({ length: COUNT }, (_, i) => `note-${i}`);
  await client.create(Namespace, { metadata: { name: "many" } });
  await Promise.all(names.map((name) => client.create(Note, { metadata: { name, namespace: "many" }, spec: {} })));
  const access = { ...cluster, token: cluster.admin.token };

  await t.step("the server compresses the list for a fetch that accepts gzip, from Kubernetes 1.37 on", async () => {
    const { minor } = await client.raw<{ minor: string }>("/version");
    const isCompressed = await compresses(cluster);
    assert.equal(isCompressed, Number(minor) >= COMPRESSING_MINOR);
  });

  await t.step("an operator with a kubeconfig reconciles all objects", async () => {
    await reconcileAll(await connect(denoMachine, systemClock, { kubeconfig: `${folder.path}/kubeconfig` }));
  });
  await t.step(
    "an operator in a pod reconciles all objects",
    async () => await reconcileAll(await podConnection(access)),
  );
  await t.step(
    "an operator in a pod with tracing reconciles all objects",
    async () => await reconcileAll(await podConnection(access, { isTraced: true })),
  );

  await using project = await operatorFolder(COPIES);
  await project.write("kubeconfig", cluster.admin.kubeconfig);

  await t.step("op plan plans a write for each object", async () => {
    const planned = await project.op("plan", "--kubeconfig", "kubeconfig", "-o", "json");
    assert.equal(planned.code, 0, planned.stderr);
    const writes: { verb: string; kind: string; name: string }[] = JSON.parse(planned.stdout);
    const applied = writes.filter(({ verb, kind }) => verb === "apply" && kind === "ConfigMap");
    assert.deepEqual(applied.map(({ name }) => name).sort(), names.toSorted());
  });

  await t.step("op dev reconciles all objects", async () => {
    const io = new RunningIo(project.path);
    const ended = cli(["dev", "--adopt", "--kubeconfig", "kubeconfig"], io);
    await eventually(async () => {
      const copies = await client.list(ConfigMap, { namespace: "many" });
      assert.equal(copies.filter(({ metadata }) => metadata.name.startsWith("note-")).length, COUNT);
    }, { state: () => io.stdout + io.stderr });
    io.end();
    assert.equal(await ended, 0);
  });
});

/** The source of an operator that copies each note into a ConfigMap. */
const COPIES = `
const Note = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string({ default: "hello" }) }),
  status: s.object({ text: s.optional(s.string()), runs: s.optional(s.integer()) }),
});
const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec: { text } }, { apply }) {
    await apply(ConfigMap, { metadata: { name }, data: { text } });
  },
});
export default operator({ name: "copies", version: "1.0.0", health: false, parts: { notes } });
`;

/** Runs an operator until it has reconciled all notes. */
async function reconcileAll(connection: Connection): Promise<void> {
  const reconciled = new Set<string>();
  const all = Promise.withResolvers<void>();
  const { notes } = recording(({ metadata }) => {
    if (reconciled.add(metadata.name).size === COUNT) all.resolve();
  });
  const op = operator({ name: "test", parts: { notes }, health: false });
  try {
    await using _ = startOperator(op, { connection, checkAccess: false });
    using _late = systemClock.after(
      HANG_LIMIT,
      () => all.reject(new Error(`only ${reconciled.size} objects were reconciled`)),
    );
    await all.promise;
  } finally {
    connection.close();
  }
}

/**
 * Returns whether the server compresses a watch list. The header `vary` shows it, because `fetch`
 * removes `content-encoding`.
 */
async function compresses({ url, caCert, admin }: RealCluster): Promise<boolean> {
  using client = Deno.createHttpClient({ caCerts: [caCert] });
  const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const headers = { authorization: `Bearer ${admin.token}` };
  const response = await fetch(`${url}/apis/demo.example.com/v1/notes?${query}`, { client, headers });
  await response.body?.cancel();
  return /accept-encoding/i.test(response.headers.get("vary") ?? "");
}
