/**
 * Measures the time of `deno check` for operators, compared with a file that only imports the SDK.
 * Each round checks all programs one after the other, each in a folder of its own. It then adds a
 * line and checks again, as an editor does, with a warm compiler cache. The result is the median,
 * and the median of the ratios per round. On Linux it is CPU time, which does not depend on other
 * work on the machine; elsewhere it is wall time. With `--max-ratio`, the exit code is 1 if a ratio
 * exceeds the limit; otherwise no figure fails the command.
 */
import { parseArgs } from "node:util";
import { withProject } from "../tests/types/_compiler.ts";
import { cpuSecondsOfEnded } from "./_proc.ts";
import { type CheckedProgram, typedPrograms } from "./_typed_programs.ts";

const HELP = `Measure the time of "deno check" of operators, compared with an empty operator.

Usage: deno run -A benches/type_check.ts [options]

Options:
  --rounds N         Number of checks of each program (default: 5)
  --deno PATH        Path of the Deno to measure (default: the running one)
  --max-ratio RATIO  Exit with 1 if an operator takes more than RATIO times the time of the empty one
  --help             Print this help
`;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    deno: { type: "string", default: Deno.execPath() },
    "max-ratio": { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** Seconds that a program took in a round. */
interface Times {
  readonly first: number;
  readonly second: number;
}

if (values.help) console.log(HELP.trimEnd());
else if (!await measure()) Deno.exitCode = 1;

async function measure(): Promise<boolean> {
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new RangeError(`"--rounds" must be a positive integer, got "${values.rounds}"`);
  }
  const programs = await typedPrograms();
  const times = programs.map((): Times[] => []);
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    for (const [i, program] of programs.entries()) times[i]!.push(await timesOf(program, round));
  }
  return report(programs, times);
}

async function timesOf({ files }: CheckedProgram, round: number): Promise<Times> {
  // A new folder each time, so that the compiler has no cache for it.
  return await withProject(files, async (folder) => {
    const first = await check(folder);
    await Deno.writeTextFile(`${folder}/main.ts`, `\nexport const round = ${round};\n`, { append: true });
    return { first, second: await check(folder) };
  });
}

async function check(cwd: string): Promise<number> {
  const start = seconds();
  const { success, stderr } = await new Deno.Command(values.deno, {
    args: ["check", "--quiet", "--no-lock", "main.ts"],
    cwd,
    // A private registry may use a certificate that only the machine trusts.
    env: { DENO_TLS_CA_STORE: Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system" },
  }).output();
  if (!success) throw new Error(`"deno check" failed: ${new TextDecoder().decode(stderr)}`);
  return seconds() - start;
}

function seconds(): number {
  return Deno.build.os === "linux" ? cpuSecondsOfEnded() : performance.now() / 1000;
}

/** Prints the table. Returns whether all ratios are within the limit. */
function report(programs: readonly CheckedProgram[], times: readonly (readonly Times[])[]): boolean {
  const empty = times[programs.findIndex(({ isEmpty }) => isEmpty)]!;
  let isWithinLimit = true;
  console.log(["median".padEnd(44), "first, s", "   ratio", "second, s", "   ratio"].join(" "));
  for (const [i, { name }] of programs.entries()) {
    const cells = (["first", "second"] as const).flatMap((key) => {
      const ratio = median(times[i]!.map((each, round) => each[key] / empty[round]![key]));
      if (values["max-ratio"] !== undefined && ratio > Number(values["max-ratio"])) isWithinLimit = false;
      return [median(times[i]!.map((each) => each[key])), ratio];
    });
    console.log([name.padEnd(44), ...cells.map((cell) => cell.toFixed(2).padStart(8))].join(" "));
  }
  return isWithinLimit;
}

function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
