/** Runs cases on two servers and says where they differ. */
import { compare, type Difference } from "./compare.ts";
import { type Case, runCase, type Send, type Transcript } from "./contract.ts";
import { type Exception, EXCEPTIONS } from "./exceptions.ts";
import { LEFT_OUT } from "./normalise.ts";
import { SUBJECTS } from "./subjects.ts";

/** What became of a case. */
export interface Result {
  readonly case: Case;
  /** Differences that nothing allows. */
  readonly differences: readonly Difference[];
  /** Exceptions that were needed. */
  readonly excused: readonly Exception[];
  /** Exceptions of this case that allow nothing: they are to be taken out. */
  readonly stale: readonly Exception[];
}

/** Two servers: the real one, whose answers are the truth, and the other. */
export interface Servers {
  readonly real: Send;
  readonly other: Send;
}

// The real server sleeps through a few cases (two seconds before the first object of a new kind, five for a namespace), which others can use.
const AT_ONCE = 8;

/** Areas that see what others make, or that take their connection away. */
const ALONE: readonly string[] = ["discovery", "dropped watches"];

/**
 * Runs cases on two servers, several at once. Those of discovery come first and alone, as they see what the others make; those that drop watches last.
 *
 * @param cases The cases.
 * @param servers Both servers, prepared.
 * @param namespaceOf A namespace of its own for each case.
 * @param exceptions Differences that are allowed.
 * @returns What became of each, in the order of the cases.
 */
export async function runSuite(
  cases: readonly Case[],
  servers: Servers,
  { namespaceOf, exceptions = EXCEPTIONS, onTranscript }: {
    namespaceOf: (contractCase: Case) => string;
    exceptions?: readonly Exception[];
    /** Is shown what the real server answered in each case. */
    onTranscript?: (transcript: Transcript, contractCase: Case) => void;
  },
): Promise<Result[]> {
  const results = new Map<Case, Result>();
  const run = async (contractCase: Case) => {
    const namespace = namespaceOf(contractCase);
    const [real, other] = await Promise.all([
      runCase(contractCase, namespace, servers.real),
      runCase(contractCase, namespace, servers.other),
    ]);
    onTranscript?.(real, contractCase);
    results.set(contractCase, judge(contractCase, compare(real, other), exceptions));
  };
  for (const each of cases.filter(({ area }) => area === "discovery")) await run(each);
  const queue = cases.filter(({ area }) => !ALONE.includes(area));
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await run(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  for (const each of cases.filter(({ area }) => area === "dropped watches")) await run(each);
  return cases.flatMap((each) => results.get(each) ?? []);
}

/**
 * Says what became of a case.
 *
 * @param contractCase The case.
 * @param differences Where the servers' answers differ.
 * @param exceptions Differences that are allowed.
 */
export function judge(
  contractCase: Case,
  differences: readonly Difference[],
  exceptions: readonly Exception[] = EXCEPTIONS,
): Result {
  const own = exceptions.filter(({ area, name }) => area === contractCase.area && name === contractCase.name);
  const allows = (exception: Exception, { path }: Difference) => exception.path?.test(path) ?? true;
  const excused = own.filter((exception) => differences.some((difference) => allows(exception, difference)));
  return {
    case: contractCase,
    differences: differences.filter((difference) => !own.some((exception) => allows(exception, difference))),
    excused,
    stale: own.filter((exception) => !excused.includes(exception)),
  };
}

/** A table by subject and area, the exceptions with their reasons, and what is not compared at all. */
export function report(results: readonly Result[]): string {
  const of = (...areas: readonly string[]) => results.filter((result) => areas.includes(result.case.area));
  const lines = [row(["area", "cases", "same", "excepted", "different"])];
  for (const { name, areas } of SUBJECTS) {
    if (of(...areas).length === 0) continue;
    lines.push(row(counts(name, of(...areas))));
    for (const area of areas) if (of(area).length > 0) lines.push(row(counts(`  ${area}`, of(area))));
  }
  for (const area of new Set(results.map((result) => result.case.area))) {
    if (!SUBJECTS.some(({ areas }) => areas.includes(area))) lines.push(row(counts(area, of(area))));
  }
  lines.push(row(counts("all", results)), "", "Exceptions:");
  for (const { case: { area, name }, excused } of results) {
    for (const { path, reason } of excused) {
      lines.push(`  ${area}: ${name}${path === undefined ? "" : ` (${path.source})`}: ${reason}`);
    }
  }
  return [...lines, "", "Not compared:", ...LEFT_OUT.map((line) => `  ${line}`)].join("\n");
}

function counts(area: string, results: readonly Result[]): string[] {
  const different = results.filter(({ differences }) => differences.length > 0).length;
  const excepted = results.filter(({ differences, excused }) => differences.length === 0 && excused.length > 0).length;
  return [area, ...[results.length, results.length - excepted - different, excepted, different].map(String)];
}

function row([area = "", ...numbers]: string[]): string {
  return area.padEnd(34) + numbers.map((number) => number.padStart(10)).join("");
}

/** What is wrong with a case, for people. */
export function explain({ differences, stale }: Result): string {
  const lines = stale.map(({ reason }) => `the exception "${reason}" is no longer needed: take it out`);
  for (const { call, path, expected, actual } of differences) {
    lines.push(`${call}\n  ${path}\n    real: ${text(expected)}\n    ours: ${text(actual)}`);
  }
  return lines.join("\n");
}

function text(value: unknown): string {
  return value === undefined ? "(nothing)" : JSON.stringify(value);
}
