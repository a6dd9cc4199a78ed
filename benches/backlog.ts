/**
 * What the SDK costs: a compiled operator that writes one status an object, against a bare loop that does the same, on a real API server.
 * `deno task bench` measures in turns, prints medians with their ratio, and keeps them in `benches/runs`. Figures are reported, not asserted.
 */
import { parseArgs } from "node:util";
import { type Backlog, measureBacklog, measureFirstWrite, measureIdle, type Restart } from "./_measure.ts";
import { buildFloor, buildItemOperator } from "./_programs.ts";

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "3" },
    objects: { type: "string", default: "5000" },
  },
});
const pairs = Number(values.pairs);
const objects = Number(values.objects);
const FIRST_WRITE_ROUNDS = 5;
const IDLE_AFTER = 10_000;

await using operator = await buildItemOperator();
await using floor = await buildFloor();
const idle = {
  operator: await measureIdle(operator.path, IDLE_AFTER),
  floor: await measureIdle(floor.path, IDLE_AFTER),
};
const [operatorFirst, floorFirst] = await measureFirstWrite([operator.path, floor.path], FIRST_WRITE_ROUNDS);
const backlogs: { operator: Backlog[]; floor: Backlog[] } = { operator: [], floor: [] };
const restarts: Restart[] = [];
for (let pair = 1; pair <= pairs; pair++) {
  console.error(`pair ${pair} of ${pairs}`);
  const ours = await measureBacklog(operator.path, objects, true);
  const bare = await measureBacklog(floor.path, objects, false);
  backlogs.operator.push(ours.backlog);
  backlogs.floor.push(bare.backlog);
  restarts.push(ours.restart!);
}

type Row = { name: string; operator: number; floor: number | undefined; digits: number };

const rows: Row[] = [
  { name: `${objects} backlog: wall, s`, ...both("wall"), digits: 2 },
  { name: `${objects} backlog: CPU, s`, ...both("cpu"), digits: 2 },
  { name: `${objects} backlog: peak RSS, MB`, ...both("peak"), digits: 0 },
  { name: `${objects} backlog: writes an object`, ...both("writesPerObject"), digits: 3 },
  { name: `${objects} backlog: start to first write, s`, ...both("first"), digits: 3 },
  {
    name: "1 object: start to first write, s",
    operator: median(operatorFirst!),
    floor: median(floorFirst!),
    digits: 3,
  },
  { name: `restart with ${objects} done: writes`, ...again("writes"), digits: 0 },
  { name: `restart with ${objects} done: CPU, s`, ...again("cpu"), digits: 2 },
  { name: `restart with ${objects} done: peak RSS, MB`, ...again("peak"), digits: 0 },
  { name: "idle after 10 s: RSS, MB", operator: idle.operator.rss, floor: idle.floor.rss, digits: 0 },
  { name: "idle after 10 s: PSS, MB", operator: idle.operator.pss, floor: idle.floor.pss, digits: 0 },
  { name: "executable, MB", operator: await size(operator.path), floor: await size(floor.path), digits: 0 },
];

console.log(["median of runs".padEnd(42), "operator", "   floor", "   ratio"].join(" "));
for (const { name, operator, floor, digits } of rows) {
  const ratio = floor === undefined || floor === 0 ? "" : (operator / floor).toFixed(2);
  const cells = [operator.toFixed(digits), floor?.toFixed(digits) ?? "", ratio].map((cell) => cell.padStart(8));
  console.log([name.padEnd(42), ...cells].join(" "));
}

const machine = `${Deno.build.os}-${Deno.build.arch}-${navigator.hardwareConcurrency}-cores`;
const file = new URL(`runs/${new Date().toISOString().slice(0, 10)}-${machine}.json`, import.meta.url);
await Deno.mkdir(new URL("runs/", import.meta.url), { recursive: true });
const medians = rows.map(({ name, operator, floor }) => ({
  name,
  operator,
  ...(floor === undefined ? {} : { floor }),
}));
const runs = { backlogs, restarts, firstWrite: { operator: operatorFirst, floor: floorFirst }, idle };
await Deno.writeTextFile(file, `${JSON.stringify({ machine, objects, pairs, medians, runs }, null, 2)}\n`);
console.log(`\nKept in benches/runs/${file.pathname.split("/").at(-1)}`);

function both(figure: keyof Backlog): { operator: number; floor: number } {
  return {
    operator: median(backlogs.operator.map((run) => run[figure])),
    floor: median(backlogs.floor.map((run) => run[figure])),
  };
}

function again(figure: keyof Restart): { operator: number; floor: undefined } {
  return { operator: median(restarts.map((run) => run[figure])), floor: undefined };
}

function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

async function size(path: string): Promise<number> {
  return (await Deno.stat(path)).size / 1e6;
}
