/**
 * Compares operators on a real API server: ours as users compile it, a loop without a framework
 * that sends the same requests, and those of other frameworks (`benches/peers`). They take turns.
 *
 * `deno task bench` prints a table with a row per figure: the median of each program, and the ratio
 * of our figure to it with its interval. All runs are stored in `benches/runs`. No figure fails the
 * command. Go, Cargo, npm and pip build the programs of other frameworks.
 *
 *     deno task bench --pairs 7 --only ours --only kube-rs --parts backlog,restart
 *     deno task bench --pairs 5 --parts reviews --connections 1,16
 */
import { parseArgs } from "node:util";
import { median, pairedRatio } from "./_figures.ts";
import { DRIFTED, measureBacklog, measureFirstWrite, measureIdle, measureLatency } from "./_measure.ts";
import { measureReviews } from "./_measure_reviews.ts";
import { CANDIDATES, type Program, type Workload } from "./_programs.ts";
import { REVIEW_CANDIDATES, type ReviewProgram } from "./_review_programs.ts";

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "7" },
    objects: { type: "string", default: "5000" },
    owned: { type: "string", default: "2000" },
    restarted: { type: "string", default: "20000" },
    only: { type: "string", multiple: true },
    parts: { type: "string", default: "idle,first,backlog,owned,restart,latency,reviews" },
    connections: { type: "string", default: "1,16,128" },
  },
});
const PARTS: {
  readonly [part: string]: { readonly workload: Workload; readonly measure: (program: Program) => Promise<Figures> };
} = {
  idle: {
    workload: "status",
    measure: async (program) => prefixed("idle", { ...await measureIdle(program, 10_000), shipped: program.megabytes }),
  },
  first: {
    workload: "status",
    measure: async (program) => ({ "1 object: start to first write, s": await measureFirstWrite(program) }),
  },
  backlog: { workload: "status", measure: backlog },
  owned: { workload: "configmap", measure: owned },
  restart: { workload: "status", measure: restart },
  latency: { workload: "status", measure: latency },
  reviews: { workload: "reviews", measure: (program) => reviews(program as ReviewProgram, false) },
  // Not a default part, because an API server calls webhooks over HTTP/1.1.
  "reviews-http2": { workload: "reviews", measure: (program) => reviews(program as ReviewProgram, true) },
};
/** Measurements of a program by the name of their row. */
type Figures = Readonly<Record<string, number>>;

const pairs = Number(values.pairs);
const all = [...CANDIDATES, ...REVIEW_CANDIDATES];
const unknown = values.only?.find((name) => !all.some((candidate) => candidate.name === name));
if (unknown !== undefined) {
  const names = new Set(all.map(({ name }) => `"${name}"`));
  throw new Error(`Unknown program "${unknown}". Available programs: ${[...names].join(", ")}`);
}
const candidates = all.filter(({ name }) => values.only?.includes(name) ?? true);
// A candidate with several workloads has one program for each.
const names = [...new Set(candidates.map(({ name }) => name))];
const runs: { part: string; program: string; pair: number; figures: Figures }[] = [];

await using stack = new AsyncDisposableStack();
const built = new Map<string, Program>();
const parts = values.parts.split(",").map((part) => part.trim());
for (const workload of new Set(parts.map((part) => findPart(part).workload))) {
  for (const candidate of candidates.filter(({ workloads }) => workloads.includes(workload))) {
    console.error(`building ${candidate.name} for ${workload}`);
    built.set(`${candidate.name} ${workload}`, stack.use(await candidate.build(workload)));
  }
}
for (let pair = 1; pair <= pairs; pair++) {
  for (const part of parts) {
    const { workload, measure } = findPart(part);
    for (const name of names) {
      const program = built.get(`${name} ${workload}`);
      if (program === undefined) continue;
      console.error(`${pair} of ${pairs}: ${part}, ${name}`);
      runs.push({ part, program: name, pair, figures: await measure(program) });
    }
  }
}
print();
await store();

function findPart(part: string): typeof PARTS[string] {
  const found = PARTS[part];
  if (found === undefined) throw new Error(`Unknown part "${part}". Available parts: ${Object.keys(PARTS).join(", ")}`);
  return found;
}

function prefixed(prefix: string, { rss, pss, shipped }: { rss: number; pss: number; shipped: number }): Figures {
  return { [`${prefix}: RSS, MB`]: rss, [`${prefix}: PSS, MB`]: pss, "shipped, MB": shipped };
}

async function backlog(program: Program): Promise<Figures> {
  const objects = Number(values.objects);
  const { backlog } = await measureBacklog(program, { objects });
  const of = `${objects} backlog`;
  return {
    [`${of}: CPU, s`]: backlog.cpu,
    [`${of}: wall, s`]: backlog.wall,
    [`${of}: objects a second`]: objects / backlog.wall,
    [`${of}: peak RSS, MB`]: backlog.peak,
    [`${of}: writes an object`]: backlog.writesPerObject,
  };
}

async function owned(program: Program): Promise<Figures> {
  const objects = Number(values.owned);
  const drifted = Math.min(100, objects);
  // The bare loop and kopf's handlers do not watch the ConfigMaps that they create.
  const repairs = !program.name.startsWith("kopf");
  const { backlog, repair } = await measureBacklog(program, { objects, ...(repairs && { drifted }) });
  const of = `${objects} with a ConfigMap`;
  return {
    [`${of}: writes an object`]: backlog.writesPerObject,
    [`${of}: CPU, s`]: backlog.cpu,
    [`${of}: wall, s`]: backlog.wall,
    ...(repair !== undefined && { [`${drifted} drifted ConfigMaps repaired, s`]: repair }),
  };
}

async function restart(program: Program): Promise<Figures> {
  const objects = Number(values.restarted);
  const { restart } = await measureBacklog(program, { objects, restart: 60_000 });
  const of = `restart with ${objects} done`;
  return {
    [`${of}: CPU, s`]: restart!.cpu,
    [`${of}: RSS after 60 s, MB`]: restart!.rss,
    [`${of}: PSS after 60 s, MB`]: restart!.pss,
    [`${of}: unneeded writes`]: restart!.writes,
    [`${of}: repaired, of ${DRIFTED} drifted statuses`]: restart!.repaired,
  };
}

async function latency(program: Program): Promise<Figures> {
  // The bare loop does not watch objects.
  if (program.name === "bare Deno loop") return {};
  const { p50, p99 } = await measureLatency(program, 2000, 50);
  return { "create to status at 50/s: p50, ms": p50, "create to status at 50/s: p99, ms": p99 };
}

async function reviews(program: ReviewProgram, http2: boolean): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const connections of values.connections.split(",").map(Number)) {
    const of = `1,000 reviews over HTTP/${http2 ? 2 : 1.1}, ${connections} connections`;
    const { cpu, rate, rss } = await measureReviews(program, { connections, http2 });
    Object.assign(figures, { [`${of}: CPU, ms`]: cpu, [`${of}: a second`]: rate, [`${of}: RSS, MB`]: rss });
  }
  return figures;
}

function print(): void {
  for (const { name, settings } of built.values()) console.log(`${name}: ${settings}`);
  const rows = [...new Set(runs.flatMap(({ figures }) => Object.keys(figures)))];
  for (const row of rows) {
    console.log(`\n${row}`);
    const ourNames = names.filter((name) => name.startsWith("ours"));
    for (const name of names) {
      const figures = figuresOf(name, row);
      if (figures.length === 0) continue;
      const ratios = ourNames.includes(name)
        ? []
        : ourNames.flatMap((own) => ratioText(own, figuresOf(own, row), figures));
      console.log(`  ${name.padEnd(40)}${median(figures).toFixed(3).padStart(10)}   ${ratios.join("; ")}`);
    }
  }
}

function ratioText(own: string, ours: readonly number[], theirs: readonly number[]): string[] {
  if (ours.length !== theirs.length) return [];
  const { median: ratio, low, high } = pairedRatio(ours, theirs);
  return [`${own}: ratio ${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`];
}

function figuresOf(program: string, row: string): number[] {
  return runs.filter((run) => run.program === program).flatMap(({ figures }) => figures[row] ?? []);
}

async function store(): Promise<void> {
  const machine = `${Deno.build.os}-${Deno.build.arch}-${navigator.hardwareConcurrency}-cores`;
  const file = new URL(`runs/${new Date().toISOString().slice(0, 10)}-${machine}.json`, import.meta.url);
  await Deno.mkdir(new URL("runs/", import.meta.url), { recursive: true });
  const programs = Object.fromEntries([...built].map(([key, { settings }]) => [key, settings]));
  await Deno.writeTextFile(file, `${JSON.stringify({ machine, pairs, programs, runs }, null, 2)}\n`);
  console.log(`\nStored in benches/runs/${file.pathname.split("/").at(-1)}`);
}
