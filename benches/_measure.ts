/**
 * Measurements, each on a cluster of its own: an idle program, a backlog, a restart, repairs of
 * drift, latency.
 */
import { sleep, systemClock } from "../src/base/clock.ts";
import { ConfigMap, CustomResourceDefinition } from "../src/kinds/mod.ts";
import type { Client } from "../src/kube/client.ts";
import { type RealCluster, realCluster } from "../src/testing/real_cluster.ts";
import type { OperatorProcess } from "../tests/fixtures/followed_process.ts";
import { startAsPod } from "../tests/fixtures/operator_pod.ts";
import { adminClient, watched } from "../tests/fixtures/watched.ts";
import { median } from "./_figures.ts";
import { cpuSeconds, type Memory, memory } from "./_proc.ts";
import type { Program } from "./_programs.ts";
import { followWrites, type Write } from "./_writes.ts";
import { Item } from "./workload/item.ts";

/** Cost of reconciling a backlog. */
export interface Backlog {
  /** Seconds from the start of the process until its last status write was answered. */
  readonly wall: number;
  /** Seconds from the start of the process until its first write reached the server. */
  readonly first: number;
  /** Seconds of CPU, user and system. */
  readonly cpu: number;
  /** MB. */
  readonly peak: number;
  readonly writesPerObject: number;
}

/** Cost of a start when all objects are already reconciled. */
export interface Restart {
  /** Seconds of CPU until the process was idle. */
  readonly cpu: number;
  /** MB, read a configured time after the process became idle. */
  readonly rss: number;
  readonly pss: number;
  /** Number of writes that did not repair drift. */
  readonly writes: number;
  /**
   * How many of the {@linkcode DRIFTED} statuses that another manager had changed were repaired.
   */
  readonly repaired: number;
}

/**
 * Number of statuses that another manager changes before a start: by update, by forced apply, by
 * removing a field.
 */
export const DRIFTED = 20;

/**
 * Milliseconds from the arrival of a create at the server until the status write that follows it
 * was answered.
 */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

const USER = "bench";
const POLL = 20;
// A program that used no CPU for this long is idle. CPU time has a resolution of 10 ms.
const IDLE_TIME = 1500;
const TIMEOUT = 300_000;
// Number of rounds of drift; the result is their median.
const ROUNDS = 9;

/** Options for {@linkcode measureBacklog}. */
export interface BacklogOptions {
  readonly objects: number;
  /** How many ConfigMaps another manager changes after the backlog. @default {0} */
  readonly drifted?: number;
  /**
   * Milliseconds of idling after a second start, before memory is read. By default there is no
   * second start.
   */
  readonly restart?: number | undefined;
}

/** Result of {@linkcode measureBacklog}. */
export interface Measured {
  readonly backlog: Backlog;
  /**
   * Seconds from the first change until the last repair was answered: the median of several rounds.
   */
  readonly repair?: number;
  readonly restart?: Restart;
}

/**
 * Measures how a program processes a backlog. Options add the repair of drift, and a second start
 * afterwards.
 *
 * @param program The program.
 * @param options Number of objects, and the additional measurements.
 */
export async function measureBacklog(program: Program, options: BacklogOptions): Promise<Measured> {
  const { objects, drifted = 0, restart } = options;
  await using cluster = await clusterWithItems(objects);
  const { backlog, repair } = await processBacklog(cluster, program, objects, drifted);
  return {
    backlog,
    ...(repair !== undefined && { repair }),
    ...(restart !== undefined && { restart: await measureRestart(cluster, program, restart) }),
  };
}

async function processBacklog(
  cluster: RealCluster,
  program: Program,
  objects: number,
  drifted: number,
): Promise<{ backlog: Backlog; repair?: number }> {
  using log = followWrites(`${cluster.folder}/audit.log`, USER);
  const started = Date.now();
  await using process = await start(cluster, program);
  const writes: Write[] = [];
  const done = new Set<string>();
  await until(`${objects} statuses`, process, () => {
    for (const write of log.next()) {
      writes.push(write);
      if (write.code < 300 && isStatus(write)) done.add(pathOf(write));
    }
    return done.size >= objects;
  });
  await untilIdle(process.pid);
  writes.push(...log.next());
  const used = { cpu: cpuSeconds(process.pid), peak: memory(process.pid).peak };
  const repair = drifted === 0 ? undefined : await measureRepair(cluster, log, process, drifted);
  await stop(process);
  const backlog = {
    wall: (Math.max(...writes.filter(isStatus).map(({ answered }) => answered)) - started) / 1000,
    first: (Math.min(...writes.map(({ received }) => received)) - started) / 1000,
    ...used,
    writesPerObject: writes.length / objects,
  };
  return repair === undefined ? { backlog } : { backlog, repair };
}

/**
 * Changes ConfigMaps in several rounds and waits for the repairs. One round is too short to compare
 * programs.
 */
async function measureRepair(
  cluster: RealCluster,
  log: ReturnType<typeof followWrites>,
  process: OperatorProcess,
  drifted: number,
): Promise<number> {
  const client = adminClient(cluster);
  const rounds: number[] = [];
  while (rounds.length < ROUNDS) {
    await untilIdle(process.pid);
    log.next();
    const started = Date.now();
    await Promise.all(
      Array.from(
        { length: drifted },
        (_, i) => client.patch(ConfigMap, `item-${i}`, { data: { size: "drifted" } }, { namespace: "default" }),
      ),
    );
    const repaired = new Map<string, number>();
    await until(`${drifted} repairs`, process, () => {
      for (const write of log.next()) {
        if (write.code < 300 && pathOf(write).includes("/configmaps/")) repaired.set(pathOf(write), write.answered);
      }
      return repaired.size >= drifted;
    });
    rounds.push((Math.max(...repaired.values()) - started) / 1000);
  }
  return median(rounds);
}

async function measureRestart(cluster: RealCluster, program: Program, after: number): Promise<Restart> {
  const client = adminClient(cluster);
  for (let i = 1; i <= DRIFTED; i++) await drift(client, i);
  using log = followWrites(`${cluster.folder}/audit.log`, USER);
  await using process = await start(cluster, program);
  await untilIdle(process.pid);
  const cpu = cpuSeconds(process.pid);
  await sleep(systemClock, after);
  const { rss, pss } = memory(process.pid);
  const writes = log.next();
  await stop(process);
  let repaired = 0;
  const repairedNames = new Set<string>();
  for (let i = 1; i <= DRIFTED; i++) {
    const { spec, status } = await client.get(Item, `item-${i}`, { namespace: "default" });
    if (status?.double !== spec.size * 2) continue;
    repaired++;
    repairedNames.add(`item-${i}`);
  }
  // One write per repair.
  const others = writes.filter((write) => !repairedNames.delete(nameOf(write))).length;
  return { cpu, rss, pss, writes: others, repaired };
}

/** Changes a status as another manager. */
async function drift(client: Client, i: number): Promise<void> {
  const name = `item-${i}`;
  const options = { namespace: "default", subresource: "status", manager: "another-manager" } as const;
  if (i % 3 === 0) {
    await client.patch(Item, name, { status: { double: -1 } }, options);
  } else if (i % 3 === 1) {
    const { apiVersion, kind } = Item;
    await client.apply(
      Item,
      { apiVersion, kind, metadata: { name, namespace: "default" }, status: { double: -1 } } as never,
      { ...options, force: true },
    );
  } else {
    await client.patch(Item, name, { status: { double: null } }, options);
  }
}

/**
 * Measures the time from create to status while objects are created at a fixed rate, which does not
 * depend on the program.
 *
 * @param program The program.
 * @param samples Number of objects.
 * @param perSecond Number of objects created per second.
 */
export async function measureLatency(program: Program, samples: number, perSecond: number): Promise<Latency> {
  await using cluster = await clusterWithItems(1);
  using log = followWrites(`${cluster.folder}/audit.log`, USER);
  using created = followWrites(`${cluster.folder}/audit.log`, "admin");
  await using process = await start(cluster, program);
  const answered = new Map<string, number>();
  const untilStatuses = (wanted: number) =>
    until(`${wanted} statuses`, process, () => {
      for (const write of log.next()) {
        if (write.code < 300 && isStatus(write) && !answered.has(nameOf(write))) {
          answered.set(nameOf(write), write.answered);
        }
      }
      return answered.size >= wanted;
    });
  await untilStatuses(1);
  const client = adminClient(cluster);
  const pending: Promise<unknown>[] = [];
  const first = Date.now();
  for (let i = 1; i <= samples; i++) {
    await sleep(systemClock, Math.max(0, first + i * 1000 / perSecond - Date.now()));
    pending.push(client.create(Item, { metadata: { name: `item-${i}`, namespace: "default" }, spec: { size: i } }));
  }
  await Promise.all(pending);
  await untilStatuses(samples + 1);
  await stop(process);
  const received = new Map(
    created.next().filter(({ verb }) => verb === "create").map((write) => [nameOf(write), write.received]),
  );
  const times = [...answered].flatMap(([name, end]) => {
    const begin = received.get(name);
    return begin === undefined ? [] : [end - begin];
  }).sort((a, b) => a - b);
  return { p50: times[Math.floor(times.length * 0.5)]!, p99: times[Math.floor(times.length * 0.99)]! };
}

/**
 * Measures the time from the start of a program to its first write, with one object in the cluster.
 *
 * @param program The program.
 * @returns Seconds.
 */
export async function measureFirstWrite(program: Program): Promise<number> {
  await using cluster = await clusterWithItems(1);
  // The first start fills the page cache.
  await processBacklog(cluster, program, 1, 0);
  await adminClient(cluster).patch(Item, "item-0", { status: null }, { namespace: "default", subresource: "status" });
  const { backlog } = await processBacklog(cluster, program, 1, 0);
  return backlog.first;
}

/**
 * Measures the memory of an idle program.
 *
 * @param program The program.
 * @param after Milliseconds after its start.
 */
export async function measureIdle(program: Program, after: number): Promise<Memory> {
  await using cluster = await clusterWithItems(0);
  await using process = await start(cluster, program);
  await sleep(systemClock, after);
  const used = memory(process.pid);
  await stop(process);
  return used;
}

async function start(cluster: RealCluster, { command: [executable, ...args], env }: Program): Promise<OperatorProcess> {
  const { token } = await cluster.user(USER, { groups: ["system:masters"] });
  // The peers connect to the address in this variable, because the machine cannot resolve the
  // server's name.
  const host = { KUBERNETES_SERVICE_HOST: "kubernetes.default.svc" };
  return await startAsPod(executable, { cluster, token, args, env: { ...host, ...env }, direct: true });
}

async function stop(process: OperatorProcess): Promise<void> {
  const code = await process.stop("SIGTERM");
  if (code !== 0) {
    throw new Error(`Benchmark: the program exited with ${code}: ${lastLogLines(process)}`);
  }
}

function lastLogLines({ log }: OperatorProcess): string {
  return JSON.stringify(log.slice(-20));
}

async function until(description: string, process: OperatorProcess, condition: () => boolean): Promise<void> {
  const started = Date.now();
  while (!condition()) {
    if (process.hasEnded) throw new Error(`Benchmark: the program exited: ${lastLogLines(process)}`);
    if (Date.now() - started > TIMEOUT) {
      throw new Error(`Benchmark: no ${description} within ${TIMEOUT / 1000} s`);
    }
    await sleep(systemClock, POLL);
  }
}

async function untilIdle(pid: number): Promise<void> {
  for (let used = -1, since = Date.now(); Date.now() - since < IDLE_TIME;) {
    const now = cpuSeconds(pid);
    if (now !== used) since = Date.now();
    used = now;
    await sleep(systemClock, POLL);
  }
}

function pathOf({ path }: Write): string {
  return path.split("?")[0]!;
}

function isStatus(write: Write): boolean {
  return /\/items\/[^/]+\/status$/.test(pathOf(write));
}

/** Returns the name of the written object. The path of a create does not contain it. */
function nameOf(write: Write): string {
  return write.name ?? /\/items\/([^/]+)/.exec(pathOf(write))?.[1] ?? "";
}

async function clusterWithItems(count: number): Promise<RealCluster> {
  const cluster = await realCluster();
  const client = adminClient(cluster);
  await client.create(CustomResourceDefinition, Item.crd as never);
  await untilEstablished(client);
  const numbers = Array.from({ length: count }, (_, i) => i);
  await Promise.all(Array.from({ length: 20 }, async () => {
    for (let i = numbers.pop(); i !== undefined; i = numbers.pop()) {
      await client.create(Item, { metadata: { name: `item-${i}`, namespace: "default" }, spec: { size: i } });
    }
  }));
  return cluster;
}

async function untilEstablished(client: Client): Promise<void> {
  await using definitions = await watched(client, CustomResourceDefinition);
  await definitions.until((all) =>
    all.some(({ status }) =>
      status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")
    )
  );
}
