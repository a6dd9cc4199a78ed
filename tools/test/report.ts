/** Results of lanes, and how they are printed. */

/** The result of a lane, or of one of its commands. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** For each failure, its name and the first lines of its message. */
  readonly failures: readonly string[];
}

/** The result of running no test. */
export const EMPTY_RESULT: Result = { passed: 0, failed: 0, skipped: 0, failures: [] };

/**
 * Returns the sum of several results.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const one = { passed: 1, failed: 0, skipped: 2, failures: [] };
 * assert.deepEqual(total([one, one]), { passed: 2, failed: 0, skipped: 4, failures: [] });
 * ```
 */
export function total(results: readonly Result[]): Result {
  return results.reduce((sum, result) => ({
    passed: sum.passed + result.passed,
    failed: sum.failed + result.failed,
    skipped: sum.skipped + result.skipped,
    failures: [...sum.failures, ...result.failures],
  }), EMPTY_RESULT);
}

/** Returns the result of a check that counts as one test, such as the formatter. */
export function check(name: string, success: boolean, reason: string): Result {
  if (success) return { ...EMPTY_RESULT, passed: 1 };
  return { ...EMPTY_RESULT, failed: 1, failures: [`${name}: ${reason}`] };
}

/** Returns the last line of the output. */
export function closingLine({ passed, failed, skipped }: Result): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * Lines of a failure's message that are repeated at the end. The whole message is printed before.
 */
const MESSAGE_LINES = 6;

/**
 * Reads the report that `deno test --junit-path` writes. Each test counts, and each step of one.
 *
 * @param xml The report; `undefined` if Deno wrote none, for example because a file does not
 *   compile.
 * @param success Whether `deno test` ended with exit code 0. Failures outside of tests, such as a
 *   file that throws while it is loaded, are not in the report.
 * @param name Name of the run, for failures outside of tests.
 */
export function readJunit(xml: string | undefined, success: boolean, name: string): Result {
  const failures: string[] = [];
  let passed = 0;
  let skipped = 0;
  for (const { attributes, body } of cases(xml ?? "")) {
    const failure = /<(?:failure|error) message="([^"]*)"/.exec(body)?.[1];
    if (failure !== undefined) failures.push(failureText(attributes, failure));
    else if (body.includes("<skipped")) skipped++;
    else passed++;
  }
  if (!success && failures.length === 0) {
    failures.push(`${name}: "deno test" failed outside of any test. See its output above`);
  }
  return { passed, failed: failures.length, skipped, failures };
}

function* cases(xml: string): Generator<{ attributes: string; body: string }> {
  for (const match of xml.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    yield { attributes: match[1] ?? "", body: match[2] ?? "" };
  }
}

function failureText(attributes: string, message: string): string {
  const name = /\bname="([^"]*)"/.exec(attributes)?.[1] ?? "";
  const file = /\bclassname="([^"]*)"/.exec(attributes)?.[1] ?? "";
  const lines = unescape(message).replace(ANSI, "").split("\n").map((line) => line.trimEnd()).filter((line) =>
    line !== ""
  );
  return `${unescape(file)}: ${unescape(name)}\n${
    lines.slice(0, MESSAGE_LINES).map((line) => `    ${line}`).join("\n")
  }`;
}

// deno-lint-ignore no-control-regex -- Deno 2.4 writes disabled colors into the report
const ANSI = /\u001b\[[0-9;]*m/g;

const ENTITIES: { readonly [name: string]: string } = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function unescape(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => ENTITIES[name] ?? "");
}
