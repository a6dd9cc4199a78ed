/** Runs cases on servers, and reports differences. */
import { compare, type Difference, type NormalTranscript, normalTranscript } from "./compare.ts";
import { type Case, runCase, type Send } from "./contract.ts";
import { type Exception, EXCEPTIONS } from "./exceptions.ts";
import { NOT_COMPARED } from "./normalize.ts";
import { SUBJECTS } from "./subjects.ts";

/** Result of a case. */
export interface Result {
  readonly case: Case;
  /** Differences that no exception allows. */
  readonly differences: readonly Difference[];
  /** Exceptions that allowed a difference. */
  readonly excused: readonly Exception[];
  /** Exceptions of this case that allow no difference, and must be removed. */
  readonly stale: readonly Exception[];
}

/** Two servers: the real one, whose responses are expected, and the other. */
export interface Servers {
  readonly real: Send;
  readonly other: Send;
}

/** Options for {@linkcode runSuite}. */
export interface SuiteOptions {
  /** Returns the namespace of a case. No two cases share one. */
  readonly namespaceOf: (contractCase: Case) => string;
  /** Differences that are allowed. @default {EXCEPTIONS} */
  readonly exceptions?: readonly Exception[];
  /** Called with the transcript of the real server for each case. */
  readonly onTranscript?: (transcript: NormalTranscript, contractCase: Case) => void;
}

// The real server is slow in a few cases: it waits two seconds before the first object of a new
// kind, and five seconds for a namespace. Other cases run in parallel.
const PARALLEL = 8;

/**
 * Areas whose cases run alone, because they see the objects of other cases or break their
 * connections.
 */
const EXCLUSIVE: readonly string[] = ["discovery", "dropped watches"];

/**
 * Runs cases on two servers, several at a time.
 *
 * @param cases The cases.
 * @param servers Both servers, prepared.
 * @param options Namespaces and exceptions.
 * @returns The result of each case, in the order of the cases.
 */
export async function runSuite(
  cases: readonly Case[],
  servers: Servers,
  { namespaceOf, exceptions = EXCEPTIONS, onTranscript }: SuiteOptions,
): Promise<Result[]> {
  return await runAll(cases, async (contractCase) => {
    const namespace = namespaceOf(contractCase);
    const [real, other] = (await Promise.all([
      runCase(contractCase, namespace, servers.real),
      runCase(contractCase, namespace, servers.other),
    ])).map(normalTranscript) as [NormalTranscript, NormalTranscript];
    onTranscript?.(real, contractCase);
    return applyExceptions(contractCase, compare(real, other), exceptions);
  });
}

/**
 * Runs cases on one server, and compares its responses with recorded responses of the real server.
 *
 * @param cases The cases.
 * @param recorded Returns the recorded transcript of a case.
 * @param send The server, prepared.
 * @param options Namespaces and exceptions.
 * @returns The result of each case, in the order of the cases.
 */
export async function replaySuite(
  cases: readonly Case[],
  recorded: (contractCase: Case) => NormalTranscript,
  send: Send,
  { namespaceOf, exceptions = EXCEPTIONS }: Omit<SuiteOptions, "onTranscript">,
): Promise<Result[]> {
  return await runAll(cases, async (contractCase) => {
    const other = normalTranscript(await runCase(contractCase, namespaceOf(contractCase), send));
    return applyExceptions(contractCase, compare(recorded(contractCase), other), exceptions);
  });
}

/**
 * Runs all cases. Cases of discovery run first and one by one, because they see the kinds of other
 * cases. Cases that drop watches run last.
 */
async function runAll(cases: readonly Case[], run: (contractCase: Case) => Promise<Result>): Promise<Result[]> {
  const results = new Map<Case, Result>();
  const runOne = async (contractCase: Case) => void results.set(contractCase, await run(contractCase));
  for (const each of cases.filter(({ area }) => area === "discovery")) await runOne(each);
  const queue = cases.filter(({ area }) => !EXCLUSIVE.includes(area));
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await runOne(next);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  for (const each of cases.filter(({ area }) => area === "dropped watches")) await runOne(each);
  return cases.flatMap((each) => results.get(each) ?? []);
}

/**
 * Returns the result of a case: its differences, without those that exceptions allow.
 *
 * @param contractCase The case.
 * @param differences The differences between the servers.
 * @param exceptions Differences that are allowed.
 */
export function applyExceptions(
  contractCase: Case,
  differences: readonly Difference[],
  exceptions: readonly Exception[] = EXCEPTIONS,
): Result {
  const ownExceptions = exceptions.filter(({ area, name }) => area === contractCase.area && name === contractCase.name);
  const allows = (exception: Exception, { path }: Difference) => exception.path?.test(path) ?? true;
  const excused = ownExceptions.filter((exception) => differences.some((difference) => allows(exception, difference)));
  return {
    case: contractCase,
    differences: differences.filter((difference) => !ownExceptions.some((exception) => allows(exception, difference))),
    excused,
    stale: ownExceptions.filter((exception) => !excused.includes(exception)),
  };
}

/**
 * Returns a table of results by subject and area, the exceptions with their reasons, and the list
 * of values that are not compared.
 */
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
  return [...lines, "", "Not compared:", ...NOT_COMPARED.map((line) => `  ${line}`)].join("\n");
}

function counts(area: string, results: readonly Result[]): string[] {
  const different = results.filter(({ differences }) => differences.length > 0).length;
  const excepted = results.filter(({ differences, excused }) => differences.length === 0 && excused.length > 0).length;
  return [area, ...[results.length, results.length - excepted - different, excepted, different].map(String)];
}

function row([area = "", ...numbers]: string[]): string {
  return area.padEnd(34) + numbers.map((number) => number.padStart(10)).join("");
}

/** Formats the differences and unneeded exceptions of a case. */
export function explain({ differences, stale }: Result): string {
  const lines = stale.map(({ reason }) => `The exception "${reason}" is not needed any more. Remove it`);
  for (const { call, path, expected, actual } of differences) {
    lines.push(`${call}\n  ${path}\n    real: ${text(expected)}\n    ours: ${text(actual)}`);
  }
  return lines.join("\n");
}

function text(value: unknown): string {
  return value === undefined ? "(none)" : JSON.stringify(value);
}
