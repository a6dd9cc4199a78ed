/** One measurement each, on a cluster of its own: an idle program, a backlog, and a start when all is done. */
import { sleep, systemClock } from "../src/base/clock.ts";
import { CustomResourceDefinition } from "../src/kinds/mod.ts";
import type { Client } from "../src/kube/client.ts";
import { type RealCluster, realCluster } from "../src/testing/real_cluster.ts";
import { type OperatorProcess, startAsPod } from "../tests/compiled/_operator_process.ts";
import { adminClient, watched } from "../tests/_watched.ts";
import { cpuSeconds, type Memory, memory } from "./_proc.ts";
import { followWrites, type Write } from "./_writes.ts";
import { Item } from "./workload/item.ts";

/** What a backlog cost. */
export interface Backlog {
  /** Seconds from the start of the process to the answer to its last write. */
  readonly wall: number;
  /** Seconds from the start of the process until its first write reached the server. */
  readonly first: number;
  /** Seconds of CPU, user and system. */
  readonly cpu: number;
  /** MB. */
  readonly peak: number;
  readonly writesPerObject: number;
}

/** What a start cost when there was nothing to do. */
export interface Restart {
  /** Seconds of CPU, until it was at rest. */
  readonly cpu: number;
  /** MB. */
  readonly peak: number;
  readonly writes: number;
}

const USER = "bench";
const POLL = 20;
// A program that used no CPU for this long is at rest: the tick of its clock is 10 ms.
const REST = 1500;
const LONGEST_RUN = 120_000;

/**
 * Measures a program that works a backlog off, and on wish a second start of it.
 *
 * @param program Its path.
 * @param objects How many there are.
 * @param hasRestart Whether it is started again when all is done.
 */
export async function measureBacklog(
  program: string,
  objects: number,
  hasRestart: boolean,
): Promise<{ backlog: Backlog; restart?: Restart }> {
  await using cluster = await clusterWithItems(objects);
  const backlog = await workOff(cluster, program, objects);
  return hasRestart ? { backlog, restart: await startAgain(cluster, program) } : { backlog };
}

async function workOff(cluster: RealCluster, program: string, objects: number): Promise<Backlog> {
  using log = followWrites(`${cluster.folder}/audit.log`, USER);
  const started = Date.now();
  await using process = await start(cluster, program);
  const writes: Write[] = [];
  for (const done = new Set<string>(); done.size < objects;) {
    await sleep(systemClock, POLL);
    for (const write of log.next()) {
      writes.push(write);
      if (write.code < 300) done.add(write.path.split("?")[0]!);
    }
    if (Date.now() - started > LONGEST_RUN) throw new Error(`Cannot measure: ${done.size} of ${objects} were written`);
  }
  await atRest(process.pid);
  writes.push(...log.next());
  const used = { cpu: cpuSeconds(process.pid), peak: memory(process.pid).peak };
  await stop(process);
  return {
    wall: (Math.max(...writes.map(({ answered }) => answered)) - started) / 1000,
    first: (Math.min(...writes.map(({ received }) => received)) - started) / 1000,
    ...used,
    writesPerObject: writes.length / objects,
  };
}

async function startAgain(cluster: RealCluster, program: string): Promise<Restart> {
  using log = followWrites(`${cluster.folder}/audit.log`, USER);
  await using process = await start(cluster, program);
  await process.logged(({ msg }) => msg === "Controller started");
  await atRest(process.pid);
  const restart = {
    cpu: cpuSeconds(process.pid),
    peak: memory(process.pid).peak,
    writes: log.next().length,
  };
  await stop(process);
  return restart;
}

/**
 * Measures how soon a program writes when it starts, and there is one object.
 *
 * @param programs Paths, measured in turns.
 * @param rounds How many turns.
 * @returns Seconds, a list a program.
 */
export async function measureFirstWrite(programs: readonly string[], rounds: number): Promise<number[][]> {
  const times: number[][] = programs.map(() => []);
  await using cluster = await clusterWithItems(1);
  const client = adminClient(cluster);
  for (let round = 0; round < rounds; round++) {
    for (const [index, program] of programs.entries()) {
      const { first } = await workOff(cluster, program, 1);
      times[index]!.push(first);
      await client.patch(Item, "item-0", { status: null }, { namespace: "default", subresource: "status" });
    }
  }
  return times;
}

/**
 * Measures the memory of a program that has nothing to do.
 *
 * @param program Its path.
 * @param after Milliseconds after its start.
 */
export async function measureIdle(program: string, after: number): Promise<Memory> {
  await using cluster = await clusterWithItems(0);
  await using process = await start(cluster, program);
  await sleep(systemClock, after);
  const used = memory(process.pid);
  await stop(process);
  return used;
}

async function start(cluster: RealCluster, program: string): Promise<OperatorProcess> {
  const { token } = await cluster.user(USER, { groups: ["system:masters"] });
  return await startAsPod(program, { cluster, token });
}

async function stop(process: OperatorProcess): Promise<void> {
  const code = await process.stop("SIGTERM");
  if (code !== 0) throw new Error(`Cannot measure: the program ended with ${code}: ${JSON.stringify(process.log)}`);
}

async function atRest(pid: number): Promise<void> {
  for (let used = -1, since = 0; Date.now() - since < REST;) {
    const now = cpuSeconds(pid);
    if (now !== used) since = Date.now();
    used = now;
    await sleep(systemClock, POLL);
  }
}

async function clusterWithItems(count: number): Promise<RealCluster> {
  const cluster = await realCluster();
  const client = adminClient(cluster);
  await client.create(CustomResourceDefinition, Item.crd as never);
  await established(client);
  const numbers = Array.from({ length: count }, (_, i) => i);
  await Promise.all(Array.from({ length: 20 }, async () => {
    for (let i = numbers.pop(); i !== undefined; i = numbers.pop()) {
      await client.create(Item, { metadata: { name: `item-${i}`, namespace: "default" }, spec: { size: i } });
    }
  }));
  return cluster;
}

async function established(client: Client): Promise<void> {
  await using definitions = await watched(client, CustomResourceDefinition);
  await definitions.until((all) =>
    all.some(({ status }) =>
      status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")
    )
  );
}
