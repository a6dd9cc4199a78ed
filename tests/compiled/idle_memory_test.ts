/**
 * The idle memory of a compiled operator as shipped: with Lease, metrics, health and logs, on Deno
 * 2.4.2. The test also prints the time to the first reconcile, without asserting it: `deno task
 * bench --parts first` measures that.
 */
import assert from "node:assert/strict";
import op from "../../examples/01_website/main.ts";
import { Website } from "../../examples/01_website/website.ts";
import { Namespace } from "../../src/kinds/mod.ts";
import { sleep, systemClock } from "../../src/base/clock.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { install } from "../fixtures/install.ts";
import { buildOperator, freePort } from "../fixtures/build_operator.ts";
import { startAsPod } from "../fixtures/operator_pod.ts";

const IDLE_MEGABYTES = 70;
/**
 * The number of processes, the number of measurements of each process, and the milliseconds between
 * two measurements. Only the lowest value counts, because V8 decides when it collects garbage.
 */
const PROCESSES = 6;
const MEASUREMENTS = 10;
const INTERVAL = 2000;

Deno.test(`a compiled operator that has no work uses at most ${IDLE_MEGABYTES} MB`, async () => {
  await using built = await buildOperator(`
    import { controller, operator } from "@op/sdk";
    import { ConfigMap } from "@op/sdk/kinds";
    import { Website } from "repository/examples/01_website/website.ts";
    const websites = controller(Website, { owns: [ConfigMap], reconcile: (site, { log }) => log.info("Reconcile entered") });
    const op = operator({ name: "website-operator", parts: { websites }, health: { hostname: "127.0.0.1", port: ${freePort()} } });
    export default op;
    if (import.meta.main) await op.main();
  `);
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await install(client, op);
  await client.create(Namespace, { metadata: { name: "one" } });
  await client.create(Website, { metadata: { name: "a" }, spec: { host: "a.example" } }, { namespace: "one" });
  const { token } = await cluster.user("pod", { groups: ["system:masters"] });
  const startTimes: number[] = [];
  let idle = Infinity;
  for (let i = 0; i < PROCESSES && idle > IDLE_MEGABYTES; i++) {
    await using pod = await startAsPod("/bin/sh", {
      cluster,
      token,
      // The shell prints the time, then becomes the operator.
      args: ["-c", `echo "{\\"started\\":$(date +%s%3N)}" >&2; exec ${built.path} start`],
    });
    const { ts } = await pod.logged(({ msg }) => msg === "Reconcile entered");
    startTimes.push(Date.parse(String(ts)) - Number(pod.log[0]!.started));
    for (let j = 0; j < MEASUREMENTS && idle > IDLE_MEGABYTES; j++) {
      await sleep(systemClock, INTERVAL);
      idle = Math.min(idle, residentMegabytes(await Deno.readTextFile(`/proc/${pod.pid}/smaps_rollup`)));
    }
    assert.equal(await pod.stop("SIGTERM"), 0);
  }
  console.log(`first reconcile after ${startTimes.join(", ")} ms; ${idle.toFixed(1)} MB when idle`);
  assert(idle <= IDLE_MEGABYTES, `${idle} MB`);
});

/** Returns the resident memory in the text of `/proc/<pid>/smaps_rollup`. */
function residentMegabytes(rollup: string): number {
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(rollup)?.[1]);
  return kilobytes("Rss") / 1000;
}
