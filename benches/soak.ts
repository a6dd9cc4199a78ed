/**
 * Runs an operator as in a pod on a real API server for an hour (or OP_SOAK_MINUTES). Objects
 * change ten times per second, the reconciles of some of them fail, and the server is killed five
 * times. Each minute it prints the live and resident memory of the process and the number of
 * reconciles; at the end, whether all objects are in the desired state and how fast memory grew.
 * The exit code is 1 if an object is not in the desired state.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ConfigMap } from "../src/kinds/mod.ts";
import { sleep, systemClock } from "../src/base/clock.ts";
import { realCluster } from "../src/testing/real_cluster.ts";
import { freePort } from "../tests/fixtures/build_operator.ts";
import { adminClient, watched } from "../tests/fixtures/watched.ts";
import op, { Item } from "../tests/fixtures/operators/misbehaving.ts";
import { install } from "../tests/fixtures/install.ts";
import { startOperator } from "../tests/fixtures/operator_process.ts";
import { temporaryFolder } from "../tests/fixtures/kubeconfig_clients.ts";

const MINUTES = Number(Deno.env.get("OP_SOAK_MINUTES") ?? 60);
assert(Number.isInteger(MINUTES) && MINUTES > 0, `OP_SOAK_MINUTES must be a positive integer, got "${MINUTES}"`);
const OBJECTS = 500;
const CHANGES_A_SECOND = 10;
// The server is killed five times, whatever the duration.
const KILL_EVERY = Math.max(1, Math.round(MINUTES / 6));
// Minutes until caches are full and V8 has compiled the hot code. Growth is measured afterwards.
const WARMUP_MINUTES = Math.floor(MINUTES / 6);
// A reconcile that hangs occupies one worker until the process exits.
const MISBEHAVING = ["throws", "rejects", "times", "litters"];
const OPTIONS = { namespace: "default" };

/** The report of a minute. Memory is in MB of 1,000,000 bytes. */
interface Minute {
  readonly minute: number;
  readonly live: number;
  readonly resident: number;
  readonly cpu: number;
  readonly runs: Readonly<Record<string, number>>;
  readonly strayErrors: number;
  readonly watchRestarts: number;
}

await using cluster = await realCluster();
await using home = await temporaryFolder();
const client = adminClient(cluster);
await install(client, op);
await using maps = await watched(client, ConfigMap);
const port = freePort();
const { token } = await cluster.user("soak", { groups: ["system:masters"] });
await using operator = await startOperator({
  home: home.path,
  main: fileURLToPath(new URL("workload/soaked.ts", import.meta.url)),
  permissions: ["-A", "--v8-flags=--expose-gc,--max-semi-space-size=2"],
  pod: { url: cluster.url, caCert: cluster.caCert, token },
  args: [
    "--health-hostname",
    "127.0.0.1",
    "--health-port",
    String(port),
    "--log-level",
    "error",
  ],
});
const healthy = Array.from({ length: OBJECTS }, (_, i) => `item-${i}`);
for (const name of [...MISBEHAVING, ...healthy]) {
  await client.create(Item, { metadata: { name }, spec: { text: "0" } }, OPTIONS);
}

let changes = 0;
let failed = 0;
async function change(name: string): Promise<void> {
  try {
    await client.patch(Item, name, { spec: { text: String(++changes) } }, OPTIONS);
  } catch {
    // The server is down. The next change is another object's.
    failed++;
  }
}

async function readMinute(minute: number): Promise<Minute> {
  operator.signal("SIGUSR1");
  const { heapUsed, rss } = await operator.logged(({ msg }) => msg === "Memory measured");
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const series = [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (.*)$/gm)];
  const sum = (metric: string): number =>
    series.reduce((total, [, name, , value]) => name === metric ? total + Number(value) : total, 0);
  const results = series.filter(([, name]) => name === "controller_runtime_reconcile_total");
  return {
    minute,
    live: Number(heapUsed) / 1e6,
    resident: Number(rss) / 1e6,
    cpu: sum("process_cpu_seconds_total"),
    runs: Object.fromEntries(results.map(([, , labels, value]) => [/result="(\w+)"/.exec(labels!)![1], Number(value)])),
    strayErrors: sum("op_stray_errors_total"),
    watchRestarts: sum("op_watch_restarts_total"),
  };
}

const minutes: Minute[] = [];
for (let minute = 1; minute <= MINUTES; minute++) {
  const end = systemClock.elapsed() + 60_000;
  if (minute % KILL_EVERY === 0 && minute < MINUTES) await cluster.restartApiserver({ signal: "SIGKILL" });
  while (systemClock.elapsed() < end) {
    await change(healthy[changes % OBJECTS]!);
    if (changes % 100 === 0) { for (const name of MISBEHAVING) await change(name); }
    await sleep(systemClock, 1000 / CHANGES_A_SECOND);
  }
  const seen = await readMinute(minute);
  minutes.push(seen);
  const runs = Object.entries(seen.runs).map(([result, count]) => `${count} ${result}`).join(", ");
  console.log(
    `${minute} min: live heap ${seen.live.toFixed(2)} MB, resident ${seen.resident.toFixed(1)} MB, CPU ${
      seen.cpu.toFixed(1)
    } s, ${changes} changes (${failed} failed), runs: ${runs}; ${seen.strayErrors} stray errors, ${seen.watchRestarts} watch restarts`,
  );
}

const desired = new Map((await client.list(Item, OPTIONS)).map(({ metadata, spec }) => [metadata.name, spec.text]));
desired.delete("throws");
await maps.until((all) => {
  const actual = new Map(all.map(({ metadata, data }) => [metadata.name, data?.text]));
  return [...desired].every(([name, text]) => actual.get(name) === text);
});
console.log(`All ${desired.size} objects are in the desired state`);
const measured = minutes.filter(({ minute }) => minute > WARMUP_MINUTES);
for (const held of ["live", "resident"] as const) {
  const hourly = 60 * slope(measured.map((one) => [one.minute, one[held]]));
  const [first] = measured;
  console.log(
    `${held}: ${first![held].toFixed(2)} MB after ${first!.minute} min, ${
      measured.at(-1)![held].toFixed(2)
    } MB at the end; slope ${hourly.toFixed(2)} MB an hour, ${(100 * hourly / first![held]).toFixed(1)} %`,
  );
}
Deno.exit(await operator.stop());

/** Returns the slope of the least-squares line through some points; 0 for a single point. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  if (points.length < 2) return 0;
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [mx, my] = [mean(([x]) => x), mean(([, y]) => y)];
  const above = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return above / points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}
