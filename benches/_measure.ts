/** One measurement each, on a cluster of its own: an idle program, a backlog and what follows it, writes as they come. */
import { sleep, systemClock } from "../src/base/clock.ts";
import { ConfigMap, CustomResourceDefinition } from "../src/kinds/mod.ts";
import type { Client } from "../src/kube/client.ts";
import { type RealCluster, realCluster } from "../src/testing/real_cluster.ts";
import type { OperatorProcess } from "../tests/compiled/_followed.ts";
import { startAsPod } from "../tests/compiled/_operator_process.ts";
import { adminClient, watched } from "../tests/_watched.ts";
import { median } from "./_figures.ts";
import { cpuSeconds, type Memory, memory } from "./_proc.ts";
import type { Program } from "./_programs.ts";
import { followWrites, type Write } from "./_writes.ts";
import { Item } from "./workload/item.ts";

/** What a backlog cost. */
export interface Backlog {
  /** Seconds from the start of the process to the answer to its last status. */
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
  /** MB, 60 s after it was at rest, or sooner when that was asked for. */
  readonly rss: number;
  readonly pss: number;
  /** Writes that no drift asked for. */
  readonly writes: number;
  /** How many of the {@linkcode DRIFTED} statuses somebody else had changed were right again. */
  readonly repaired: number;
}

/** Statuses that somebody else changes before a start: by an update, by a forced apply, by taking a field away. */
export const DRIFTED = 20;

/** From the arrival of a create at the server to the answer to the status that follows it, in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

const USER = "bench";
const POLL = 20;
// A program that used no CPU for this long is at rest: the tick of its clock is 10 ms.
const REST = 1500;
const LONGEST_RUN = 300_000;
// How often drift is planted: the median counts.
const ROUNDS = 9;

/** What {@linkcode measureBacklog} is asked for. */
export interface BacklogOptions {
  readonly objects: number;
  /** How many ConfigMaps are changed when all is done. @default {0} */
  readonly drifted?: number;
  /** Milliseconds at rest after a second start, before its memory is read. No second start without it. */
  readonly restart?: number | undefined;
}

/** What {@linkcode measureBacklog} saw. */
export interface Measured {
  readonly backlog: Backlog;
  /** Seconds from the first change to the answer to the last repair: of several rounds, the median. */
  readonly repair?: number;
  readonly restart?: Restart;
}

/**
 * Measures a program that works a backlog off, and on wish how it repairs drift, and a second start when all is done.
 *
 * @param program The program.
 * @param options How many objects, and what follows.
 */
export async function measureBacklog(program: Program, options: BacklogOptions): Promise<Measured> {
  const { objects, drifted = 0, restart } = options;
  await using cluster = await clusterWithItems(objects);
  const { backlog, repair } = await workOff(cluster, program, objects, drifted);
  return {
    backlog,
    ...(repair !== undefined && { repair }),
    ...(restart !== undefined && { restart: await startAgain(cluster, program, restart) }),
  };
}

async function workOff(
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
  await atRest(process.pid);
  writes.push(...log.next());
  const used = { cpu: cpuSeconds(process.pid), peak: memory(process.pid).peak };
  const repair = drifted === 0 ? undefined : await repairs(cluster, log, process, drifted);
  await stop(process);
  const backlog = {
    wall: (Math.max(...writes.filter(isStatus).map(({ answered }) => answered)) - started) / 1000,
    first: (Math.min(...writes.map(({ received }) => received)) - started) / 1000,
    ...used,
    writesPerObject: writes.length / objects,
  };
  return repair === undefined ? { backlog } : { backlog, repair };
}

/** Somebody else changes ConfigMaps, again and again; each must be changed back. One round takes too short a time to tell programs apart. */
async function repairs(
  cluster: RealCluster,
  log: ReturnType<typeof followWrites>,
  process: OperatorProcess,
  drifted: number,
): Promise<number> {
  const client = adminClient(cluster);
  const rounds: number[] = [];
  while (rounds.length < ROUNDS) {
    await atRest(process.pid);
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

async function startAgain(cluster: RealCluster, program: Program, after: number): Promise<Restart> {
  const client = adminClient(cluster);
  for (let i = 1; i <= DRIFTED; i++) await drift(client, i);
  using log = followWrites(`${cluster.folder}/audit.log`, USER);
  await using process = await start(cluster, program);
  await atRest(process.pid);
  const cpu = cpuSeconds(process.pid);
  await sleep(systemClock, after);
  const { rss, pss } = memory(process.pid);
  const writes = log.next();
  await stop(process);
  let repaired = 0;
  const mended = new Set<string>();
  for (let i = 1; i <= DRIFTED; i++) {
    const { spec, status } = await client.get(Item, `item-${i}`, { namespace: "default" });
    if (status?.double !== spec.size * 2) continue;
    repaired++;
    mended.add(`item-${i}`);
  }
  // One write a repair.
  const others = writes.filter((write) => !mended.delete(nameOf(write))).length;
  return { cpu, rss, pss, writes: others, repaired };
}

/** A status as another manager leaves it. */
async function drift(client: Client, i: number): Promise<void> {
  const name = `item-${i}`;
  const options = { namespace: "default", subresource: "status", manager: "somebody-else" } as const;
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
 * Measures how soon a status follows a create, while objects come at a fixed pace whatever the program does.
 *
 * @param program The program.
 * @param samples How many objects.
 * @param perSecond How many of them come in a second.
 */
export async function measureLatency(program: Program, samples: number, perSecond: number): Promise<Latency> {
  await using cluster = await clusterWithItems(1);
  using log = followWrites(`${cluster.folder}/audit.log`, USER);
  using created = followWrites(`${cluster.folder}/audit.log`, "admin");
  await using process = await start(cluster, program);
  const answered = new Map<string, number>();
  const count = (wanted: number) =>
    until(`${wanted} statuses`, process, () => {
      for (const write of log.next()) {
        if (write.code < 300 && isStatus(write) && !answered.has(nameOf(write))) {
          answered.set(nameOf(write), write.answered);
        }
      }
      return answered.size >= wanted;
    });
  await count(1);
  const client = adminClient(cluster);
  const pending: Promise<unknown>[] = [];
  const first = Date.now();
  for (let i = 1; i <= samples; i++) {
    await sleep(systemClock, Math.max(0, first + i * 1000 / perSecond - Date.now()));
    pending.push(client.create(Item, { metadata: { name: `item-${i}`, namespace: "default" }, spec: { size: i } }));
  }
  await Promise.all(pending);
  await count(samples + 1);
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
 * Measures how soon a program writes when it starts, and there is one object.
 *
 * @param program The program.
 * @returns Seconds.
 */
export async function measureFirstWrite(program: Program): Promise<number> {
  await using cluster = await clusterWithItems(1);
  // Once for the page cache.
  await workOff(cluster, program, 1, 0);
  await adminClient(cluster).patch(Item, "item-0", { status: null }, { namespace: "default", subresource: "status" });
  const { backlog } = await workOff(cluster, program, 1, 0);
  return backlog.first;
}

/**
 * Measures the memory of a program that has nothing to do.
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
  // By its name, which the machine's own files do not know: the peers dial what the variable says.
  const host = { KUBERNETES_SERVICE_HOST: "kubernetes.default.svc" };
  return await startAsPod(executable, { cluster, token, args, env: { ...host, ...env }, direct: true });
}

async function stop(process: OperatorProcess): Promise<void> {
  const code = await process.stop("SIGTERM");
  if (code !== 0) {
    throw new Error(`Cannot measure: the program ended with ${code}: ${lastWords(process)}`);
  }
}

function lastWords({ log }: OperatorProcess): string {
  return JSON.stringify(log.slice(-20));
}

async function until(what: string, process: OperatorProcess, isSo: () => boolean): Promise<void> {
  const started = Date.now();
  while (!isSo()) {
    if (process.hasEnded) throw new Error(`Cannot measure: the program ended: ${lastWords(process)}`);
    if (Date.now() - started > LONGEST_RUN) {
      throw new Error(`Cannot measure: there were no ${what} within ${LONGEST_RUN / 1000} s`);
    }
    await sleep(systemClock, POLL);
  }
}

async function atRest(pid: number): Promise<void> {
  for (let used = -1, since = Date.now(); Date.now() - since < REST;) {
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

/** A create has no name in its path. */
function nameOf(write: Write): string {
  return write.name ?? /\/items\/([^/]+)/.exec(pathOf(write))?.[1] ?? "";
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
