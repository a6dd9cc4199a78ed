/** Collects failures of an operator's code in a memory cluster, and reports them once. */
import { maskSecrets } from "../base/mask_secrets.ts";
import { PermanentError, TemporaryError } from "../parts/outcome.ts";
import type { CodeFailure, CodeObserver } from "../runtime/code_failure.ts";
import { OperatorFailedError } from "./operator_failed.ts";

// A report has at most this many failures. `cluster.failures` has all of them.
const MAX_REPORTED = 5;
const MAX_FRAMES = 8;

/** Options for {@linkcode Failures}. */
export interface FailuresOptions {
  /**
   * Returns the number of the operator's requests that the test made fail, by an injected fault, a
   * stopped server or missing permissions.
   */
  readonly disturbances: () => number;
  /** Returns text to add to a report, or `undefined`. */
  readonly hint: () => string | undefined;
  /** Masks confidential values in a report. */
  readonly mask: (text: string) => string;
}

/** Collects failures of an operator's code. */
export class Failures {
  /** All failures so far, in order. */
  readonly all: CodeFailure[] = [];
  readonly #options: FailuresOptions;
  /** Number of elements of {@linkcode Failures.all} that were reported. */
  #takenCount = 0;
  /**
   * Identities of reported failures. A retry that fails in the same way after the last `settle` is
   * not reported again.
   */
  readonly #reported = new Set<string>();

  constructor(options: FailuresOptions) {
    this.#options = options;
  }

  /**
   * Observes a call of user code. Its failure counts unless the test disturbed a request during the
   * call.
   */
  readonly observe: CodeObserver = () => {
    const before = this.#options.disturbances();
    return (failure) => {
      const { error } = failure;
      if (error instanceof TemporaryError || error instanceof PermanentError) return;
      if (this.#options.disturbances() === before) this.all.push(failure);
    };
  };

  /** Marks all failures so far as reported. */
  accept(): void {
    this.#takenCount = this.all.length;
  }

  /**
   * Returns the failures since the last call as an error, and marks them as reported.
   *
   * @param caller The function that throws the error. The stack begins with the caller of this
   * function.
   * @param otherError Another error of the same call, to include in the report.
   */
  take(caller: (...args: never) => unknown, otherError?: unknown): OperatorFailedError | undefined {
    const unreported = this.all.slice(this.#takenCount);
    this.#takenCount = this.all.length;
    if (unreported.length === 0) return undefined;
    for (const failure of unreported) this.#reported.add(identity(failure));
    return this.#report(unreported, caller, otherError);
  }

  /**
   * Like {@linkcode Failures.take}, for use when the cluster is disposed of: omits retries that
   * failed in the same way as a reported failure.
   */
  takeLast(caller: (...args: never) => unknown): OperatorFailedError | undefined {
    const unreported = this.all.slice(this.#takenCount).filter((failure) => !this.#reported.has(identity(failure)));
    this.#takenCount = this.all.length;
    return unreported.length === 0 ? undefined : this.#report(unreported, caller, undefined);
  }

  #report(
    failures: readonly CodeFailure[],
    caller: (...args: never) => unknown,
    otherError: unknown,
  ): OperatorFailedError {
    // A retry usually fails like the first attempt, so they share an entry.
    const groups = new Map<string, CodeFailure[]>();
    for (const failure of failures) {
      const group = groups.get(identity(failure));
      if (group === undefined) groups.set(identity(failure), [failure]);
      else group.push(failure);
    }
    const shown = [...groups.values()].slice(0, MAX_REPORTED).map((group) => `  ${describeGroup(group)}`);
    const rest = groups.size - shown.length;
    const lines = [
      'The operator failed. Fix it, throw TemporaryError or PermanentError for errors that are expected, or pass { allowFailures: true } or { failures: "collect" }:',
      ...shown,
      ...rest === 0 ? [] : [`  ... and ${rest} more in "failures"`],
      ...otherError === undefined
        ? []
        : [`The call failed as well: ${otherError instanceof Error ? otherError.message : String(otherError)}`],
    ];
    const hint = this.#options.hint();
    if (hint !== undefined) lines.push(hint);
    const error = new OperatorFailedError(this.#options.mask(lines.join("\n")), failures);
    // The stack begins with the line of the test.
    Error.captureStackTrace(error, caller);
    return error;
  }
}

function identity({ operation, part, kind, namespace, name, error }: CodeFailure): string {
  return JSON.stringify([operation, part, kind, namespace, name, summary(error)]);
}

function describeGroup(group: readonly CodeFailure[]): string {
  const { operation, part, kind, namespace, name, attempt, error } = group[0]!;
  const object = name === undefined ? kind : `${kind} "${namespace === undefined ? "" : `${namespace}/`}${name}"`;
  const where = [
    operation,
    ...part === undefined ? [] : [`of "${part}"`],
    ...object === undefined ? [] : [`for ${object}`],
  ];
  const last = group.at(-1)!.attempt;
  const attempts = attempt === undefined
    ? ""
    : attempt === last
    ? `, attempt ${attempt}`
    : `, attempts ${attempt} to ${last}`;
  const cause = error instanceof Error && error.cause !== undefined ? [`Caused by: ${summary(error.cause)}`] : [];
  const details = [...summary(error).split("\n"), ...framesOf(error), ...cause, ...framesOf((error as Error)?.cause)];
  return `${where.join(" ")}${attempts}:\n${details.map((line) => `    ${line}`).join("\n")}`;
}

function summary(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : Deno.inspect(maskSecrets(error));
}

// The folder of the SDK. Its frames are not shown if there are frames of user code.
const SDK = new URL("../", import.meta.url).href;

/** Returns the stack frames of user code, or all frames if there are none. */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const frames = (error.stack ?? "").split("\n").map((line) => line.trim()).filter((line) => /^at /.test(line));
  const own = frames.filter((frame) => !frame.includes(SDK) && !/\((?:ext|node):/.test(frame));
  return (own.length > 0 ? own : frames).slice(0, MAX_FRAMES).map((frame) => `    ${frame}`);
}
