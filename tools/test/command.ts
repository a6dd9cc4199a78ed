/** Runs lanes, prints a summary, and returns the exit code. */
import type { Lane } from "./lanes.ts";
import { check, closingLine, type Result, total } from "./report.ts";

/** Prints one line. */
export type Print = (line: string) => void;

/**
 * Runs lanes one after the other. A lane that fails does not stop the next. The last line is
 * `N passed, N failed, N skipped`.
 *
 * @param args Names of lanes; `--list` to list them. @default {all lanes}
 * @param lanes All lanes.
 * @param print Prints each line.
 * @returns The exit code: 0 if no test failed, 1 if one failed, 2 if a lane does not exist.
 */
export async function testCommand(args: readonly string[], lanes: readonly Lane[], print: Print): Promise<number> {
  if (args.includes("--list")) {
    for (const lane of lanes) print(`${lane.name.padEnd(14)} ${lane.title}`);
    return 0;
  }
  const unknown = args.find((name) => !lanes.some((lane) => lane.name === name));
  if (unknown !== undefined) {
    print(`Unknown lane "${unknown}". Available lanes: ${lanes.map((lane) => `"${lane.name}"`).join(", ")}`);
    return 2;
  }
  const results: Result[] = [];
  const table: string[] = [];
  const passed = new Set<string>();
  for (const lane of lanes.filter((lane) => args.length === 0 || args.includes(lane.name))) {
    print(`\n=== ${lane.name}: ${lane.title}`);
    const start = performance.now();
    const result = await run(lane, passed, print);
    const line = row(lane, result, performance.now() - start);
    print(`=== ${line}`);
    results.push(result);
    if (result.failed === 0 && result.skipped === 0) passed.add(lane.name);
    table.push(line);
  }
  const all = total(results);
  if (all.failures.length > 0) print(`\n=== Failures\n${all.failures.join("\n")}`);
  print(`\n=== Lanes\n${table.join("\n")}\n\n${closingLine(all)}`);
  return all.failed > 0 ? 1 : 0;
}

/** Runs a lane. If it throws, it has failed, and the others still run. */
async function run(lane: Lane, passed: ReadonlySet<string>, print: Print): Promise<Result> {
  try {
    return await lane.run(passed);
  } catch (error) {
    print(error instanceof Error ? error.stack ?? error.message : String(error));
    return check(lane.name, false, error instanceof Error ? error.message : String(error));
  }
}

function row(lane: Lane, { passed, failed, skipped }: Result, time: number): string {
  const seconds = `${(time / 1000).toFixed(1)} s`;
  return `${lane.name.padEnd(14)} ${seconds.padStart(8)}  ${passed} passed  ${failed} failed  ${skipped} skipped`;
}
