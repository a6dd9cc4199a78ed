/**
 * An operator on a real API server for an hour, or for OP_SOAK_MINUTES: changes come all the time, the server is killed now and then. Told each minute: what
 * the process holds and has done; at the end whether all is as it is wanted, and how much the memory grew.
 */
import { fileURLToPath } from "node:url";
import { ConfigMap } from "../src/kinds/mod.ts";
import { sleep, systemClock } from "../src/base/clock.ts";
import { realCluster } from "../src/testing/real_cluster.ts";
import { freePort } from "../tests/compiled/_build.ts";
import { adminClient, watched } from "../tests/_watched.ts";
import op, { Item } from "../tests/real/_misbehaving.ts";
import { install } from "../tests/real/_install.ts";
import { startOperator } from "../tests/real/_operator_command.ts";
import { temporaryFolder } from "../tests/real/_ways_in.ts";

const MINUTES = Number(Deno.env.get("OP_SOAK_MINUTES") ?? 60);
const OBJECTS = 500;
const CHANGES_A_SECOND = 10;
// The server is killed so often, in minutes.
const KILL_EVERY = 10;
const IN_DEFAULT = { namespace: "default" };

await using cluster = await realCluster();
await using home = await temporaryFolder();
const client = adminClient(cluster);
await install(client, op);
await using maps = await watched(client, ConfigMap);
const port = freePort();
await home.write({ config: cluster.admin.kubeconfig });
await using operator = await startOperator({
  home: home.path,
  main: fileURLToPath(new URL("../tests/real/_misbehaving.ts", import.meta.url)),
  args: ["--kubeconfig", "config", "--health-port", String(port), "--log-level", "error"],
});
// Two of them misbehave for as long as it runs.
const names = ["throws", "litters", ...Array.from({ length: OBJECTS }, (_, i) => `item-${i}`)];
for (const name of names) await client.create(Item, { metadata: { name }, spec: { text: "0" } }, IN_DEFAULT);

const resident: number[] = [];
for (let minute = 1, change = 1; minute <= MINUTES; minute++) {
  const end = systemClock.elapsed() + 60_000;
  if (minute % KILL_EVERY === 0) await cluster.restartApiserver({ signal: "SIGKILL" });
  while (systemClock.elapsed() < end) {
    const name = names[2 + change % OBJECTS]!;
    // A change that the server did not take is another one's to make.
    await client.patch(Item, name, { spec: { text: String(change++) } }, IN_DEFAULT).catch(() => undefined);
    if (change % 100 === 0) await client.patch(Item, "litters", { spec: { text: String(change) } }, IN_DEFAULT);
    await sleep(systemClock, 1000 / CHANGES_A_SECOND);
  }
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const value = (metric: string): number => Number(new RegExp(`^${metric}(?:\\{[^}]*\\})? (.*)$`, "m").exec(text)?.[1]);
  resident.push(value("process_resident_memory_bytes") / 1e6);
  console.log(
    `${minute} min: ${resident.at(-1)!.toFixed(1)} MB resident, ${
      (value("op_heap_used_bytes") / 1e6).toFixed(1)
    } MB heap, ` +
      `${value("process_cpu_seconds_total").toFixed(1)} s CPU, ${change} changes`,
  );
}
const wanted = new Map((await client.list(Item, IN_DEFAULT)).map(({ metadata, spec }) => [metadata.name, spec.text]));
wanted.delete("throws");
await maps.until((all) => {
  const made = new Map(all.map(({ metadata, data }) => [metadata.name, data?.text]));
  return [...wanted].every(([name, text]) => made.get(name) === text);
});
const third = Math.max(1, Math.floor(resident.length / 3));
const mean = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / list.length;
console.log(
  `All ${wanted.size} objects are as they are wanted. Resident memory, mean of the second and the last third: ` +
    `${mean(resident.slice(third, 2 * third)).toFixed(1)} and ${mean(resident.slice(-third)).toFixed(1)} MB`,
);
Deno.exit(await operator.stop());
