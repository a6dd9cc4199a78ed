/** Objects whose reconcilers misbehave, in one process with a thousand well-behaved ones. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ConfigMap } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { install } from "../fixtures/install.ts";
import op, { Item } from "../fixtures/operators/misbehaving.ts";
import { startOperator } from "../fixtures/operator_process.ts";
import { eventually } from "../eventually.ts";
import { temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

const IN_DEFAULT = { namespace: "default" };
const MAIN = fileURLToPath(new URL("../fixtures/operators/misbehaving.ts", import.meta.url));
const HEALTHY = 1000;
const HEAP_MEGABYTES = 400;
const MISBEHAVING = ["throws", "hangs", "rejects", "times", "litters"];

Deno.test("1,000 objects are reconciled although the reconciles of others throw, hang, leave rejections, throw in timers or allocate garbage", async () => {
  await using cluster = await realCluster();
  await using home = await temporaryFolder();
  const client = adminClient(cluster);
  await install(client, op);
  await using maps = await watched(client, ConfigMap);
  const port = freePort();
  const args = ["--health-port", String(port)];
  const pod = { ...cluster, token: cluster.admin.token };
  // If the garbage of 21 reconciles were retained, it would exceed 1,000 MB and end the process.
  const permissions = ["-A", `--v8-flags=--max-old-space-size=${HEAP_MEGABYTES}`];
  await using operator = await startOperator({ home: home.path, main: MAIN, args, pod, permissions });
  await operator.logged(({ msg }) => msg === "Controller started");

  const create = (name: string) => client.create(Item, { metadata: { name }, spec: { text: "0" } }, IN_DEFAULT);
  for (const name of MISBEHAVING) await create(name);
  await Promise.all(Array.from({ length: 10 }, async (_, writer) => {
    for (let i = writer; i < HEALTHY; i += 10) await create(`healthy-${i}`);
  }));
  const done = (text: string) => (all: { metadata: { name: string }; data?: { [key: string]: string } }[]): boolean =>
    all.filter(({ metadata, data }) => metadata.name.startsWith("healthy-") && data?.text === text).length === HEALTHY;
  await maps.until(done("0"));
  // The healthy objects are changed once more below, while the others continue to misbehave.
  for (let round = 1; round <= 20; round++) {
    for (const name of MISBEHAVING) await client.patch(Item, name, { spec: { text: `${round}` } }, IN_DEFAULT);
    // Waits for the reconcile, because it would include a change that follows at once.
    await maps.until((all) =>
      all.some(({ metadata, data }) => metadata.name === "litters" && data?.text === `${round}`)
    );
  }
  await Promise.all(Array.from({ length: 10 }, async (_, writer) => {
    for (let i = writer; i < HEALTHY; i += 10) {
      await client.patch(Item, `healthy-${i}`, { spec: { text: "1" } }, IN_DEFAULT);
    }
  }));
  await maps.until(done("1"));
  // The reconciles of these objects misbehave only after they have done their work.
  await maps.until((all) =>
    ["rejects", "times", "litters"].every((name) =>
      all.some(({ metadata, data }) => metadata.name === name && data?.text === "20")
    )
  );

  const stray = await operator.logged(({ msg }) => String(msg).startsWith("Unhandled rejection in user code"));
  assert.match(String(stray.error), /This rejection is not handled/);
  assert.deepEqual(
    [stray.name, stray.controller],
    ["rejects", "items"],
    "the line names the object and the controller",
  );
  await operator.logged((line) => /Uncaught error in user code.*I throw in a timer/.test(JSON.stringify(line)));
  await eventually(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    assert.match(text, /^controller_runtime_active_workers\{controller="items"\} 1$/m);
    assert(valueIn(text, "op_stray_errors_total") >= 4, `op_stray_errors_total is too low:\n${text}`);
  });
  await eventually(async () => {
    const { status } = await client.get(Item, "throws", IN_DEFAULT);
    assert.equal(status?.conditions?.find(({ type }) => type === "Ready")?.reason, "ReconcileFailed");
  });
  // The hanging reconcile is abandoned at the shutdown timeout.
  assert.equal(await operator.stop(), 0);
});

function valueIn(metrics: string, name: string): number {
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (.*)$`, "m").exec(metrics)?.[1]);
}
