/**
 * Compares our API server with a real one: `deno run -A benches/apiserver.ts`. Ours is measured
 * twice: as a function, as tests call it, and over HTTP in a process of its own, as `op apiserver`
 * serves it. Figures are reported, not asserted.
 */
import { parseArgs } from "node:util";
import { createApiserver, realCluster } from "../src/testing/mod.ts";
import {
  applyWidgets,
  createConfigMaps,
  createWidgets,
  define,
  fanOut,
  get,
  list,
  listAll,
  type Send,
} from "./_apiserver_load.ts";
import { cpuSeconds, memory } from "./_proc.ts";

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "10000" },
    watchers: { type: "string", default: "50" },
    "only-ours": { type: "boolean", default: false },
  },
});
const OBJECTS = Number(values.objects);
const WATCHERS = Number(values.watchers);
const STARTS = 5;
const EVENTS = 500;

/** Measurements of a server by the name of their row. */
type Figures = Record<string, number>;

/**
 * Puts the load on a server.
 *
 * @param send Sends a request to the server.
 * @param pids The server's processes. Their CPU time is measured too, because it does not depend on
 *   other work on the machine.
 */
async function load(send: Send, pids: readonly number[]): Promise<Figures> {
  // Warms up both servers: the just-in-time compiler of ours, and etcd, which allocates its file.
  await createConfigMaps(send, 500, "warm");
  await createWidgets(send, 500, "warm");
  const figures: Figures = {};
  const measure = async (name: string, count: number, run: (send: Send, count: number) => Promise<number>) => {
    const before = cpu(pids);
    const start = performance.now();
    figures[`${name} a second`] = await run(send, count);
    const seconds = (performance.now() - start) / 1000;
    figures[`${name} a CPU second`] = figures[`${name} a second`]! * seconds / (cpu(pids) - before);
  };
  await measure("ConfigMaps created", 3000, (send, count) => createConfigMaps(send, count, "map"));
  await measure("custom objects created", 3000, (send, count) => createWidgets(send, count, "widget"));
  await measure("custom objects applied", 2000, (send, count) => applyWidgets(send, count, "widget"));
  await measure("gets", 3000, (send, count) => get(send, count, "map"));
  await measure("lists of 500", 200, list);
  await measure("lists of 3,500", 30, listAll);
  await measure(`events to ${WATCHERS} watchers`, EVENTS, (send, count) => fanOut(send, WATCHERS, count));
  return figures;
}

function cpu(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

/** Our server as a function. */
async function measureFunction(): Promise<Figures> {
  await using server = createApiserver();
  const send: Send = (path, init) => server.fetch(new Request(`http://server${path}`, init));
  await define(send);
  return await load(send, [Deno.pid]);
}

interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  readonly send: Send;
  readonly import: number;
  readonly ready: number;
  /**
   * Milliseconds from the start of the process to its first line, which it prints when it is ready.
   */
  readonly process: number;
}

/** Our server in a process of its own. */
async function startProcess(): Promise<ServerProcess> {
  const start = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", new URL("./_apiserver_process.ts", import.meta.url).pathname],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "{}" } = await reader.read();
  const process = performance.now() - start;
  const { url, ...times } = JSON.parse(value);
  return {
    pid: child.pid,
    send: (path, init) => fetch(url + path, init),
    ...times,
    process,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await reader.cancel();
    },
  };
}

async function measureHttp(): Promise<Figures> {
  const starts: ServerProcess[] = [];
  for (let i = 0; i < STARTS; i++) {
    await using one = await startProcess();
    starts.push(one);
  }
  const figures: Figures = {
    "import, ms": median(starts.map((start) => start.import)),
    "import, start and first kind, ms": median(starts.map(({ ready }) => ready)),
    "process up, ms": median(starts.map(({ process }) => process)),
  };
  await using loaded = await startProcess();
  Object.assign(figures, await load(loaded.send, [loaded.pid]));
  await using filled = await startProcess();
  const before = memory(filled.pid).rss;
  await createConfigMaps(filled.send, OBJECTS, "memory");
  figures[`memory of ${OBJECTS} objects, MB`] = memory(filled.pid).rss - before;
  figures["memory without, MB"] = before;
  return figures;
}

async function measureReal(): Promise<Figures> {
  const start = performance.now();
  await using cluster = await realCluster();
  const startTime = performance.now() - start;
  await define(cluster.fetch);
  const figures: Figures = {
    "import, start and first kind, ms": performance.now() - start,
    "process up, ms": startTime,
    ...await load(cluster.fetch, cluster.pids),
  };
  await using filled = await realCluster();
  const rss = () => filled.pids.reduce((sum, pid) => sum + memory(pid).rss, 0);
  const before = rss();
  await createConfigMaps(filled.fetch, OBJECTS, "memory");
  figures[`memory of ${OBJECTS} objects, MB`] = rss() - before;
  figures["memory without, MB"] = before;
  return figures;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

const columns = [await measureFunction(), await measureHttp(), values["only-ours"] ? {} : await measureReal()] as const;
const names = [...new Set([...Object.keys(columns[1]), ...Object.keys(columns[0])])];
const shown = (value: number | undefined) =>
  value === undefined ? "" : value.toLocaleString("en", { maximumFractionDigits: 0 });
const ratio = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? "" : (a / b).toFixed(2);
const rows = names.map((name) => {
  const [function_, http, theirs] = columns.map((column) => (column as Figures)[name]);
  return [name, shown(function_), shown(http), shown(theirs), ratio(function_, theirs), ratio(http, theirs)];
});
const HEAD = ["", "ours, called", "ours, HTTP", "real", "called : real", "HTTP : real"];
for (const row of [HEAD, ...rows]) {
  console.log(row.map((cell, i) => i === 0 ? cell.padEnd(40) : cell.padStart(15)).join(""));
}
