/** Compares the responses of two servers. */
import { equal, isObject } from "../../src/base/json.ts";
import type { Transcript } from "./contract.ts";
import { normalizeSteps } from "./normalize.ts";

/** A place where the responses of two servers differ. */
export interface Difference {
  /** Path in the transcript, such as `steps[2].body.message`. */
  readonly path: string;
  /** Method and path of the request. */
  readonly call: string;
  /** Value of the real server; `undefined` if it has none. */
  readonly expected?: unknown;
  /** Value of the other server; `undefined` if it has none. */
  readonly actual?: unknown;
}

/** A transcript without the values that {@linkcode NOT_COMPARED} lists. */
export interface NormalTranscript {
  readonly steps: readonly NormalStep[];
  /** Error message, if the case did not complete. */
  readonly failure?: string;
}

/** A step of a {@linkcode NormalTranscript}. */
export interface NormalStep {
  /** Method and path. */
  readonly call: string;
  readonly status: number;
  readonly [key: string]: unknown;
}

/** Returns a transcript in the form in which it is compared. */
export function normalTranscript({ steps, failure }: Transcript): NormalTranscript {
  return { steps: normalizeSteps(steps) as NormalStep[], ...failure === undefined ? {} : { failure } };
}

/**
 * Compares the responses of two servers in a case.
 *
 * @param real Transcript of the real server.
 * @param other Transcript of the other server.
 */
export function compare(real: NormalTranscript, other: NormalTranscript): Difference[] {
  const differences: Difference[] = [];
  for (let i = 0; i < Math.max(real.steps.length, other.steps.length); i++) {
    const call = real.steps[i]?.call ?? other.steps[i]?.call ?? "";
    for (const difference of within(`steps[${i}]`, real.steps[i], other.steps[i])) {
      differences.push({ ...difference, call });
    }
  }
  // A case that does not complete is always a difference, since it proves no behavior, even if both
  // servers fail in the same way.
  if (real.failure !== undefined || other.failure !== undefined) {
    differences.push({ path: "failure", call: "", expected: real.failure, actual: other.failure });
  }
  return differences;
}

function* within(path: string, expected: unknown, actual: unknown): Generator<Omit<Difference, "call">> {
  if (equal(expected, actual)) return;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
      yield* within(`${path}[${i}]`, expected[i], actual[i]);
    }
  } else if (isObject(expected) && isObject(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      yield* within(`${path}.${key}`, expected[key], actual[key]);
    }
  } else {
    yield {
      path,
      ...(expected === undefined ? {} : { expected }),
      ...(actual === undefined ? {} : { actual }),
    };
  }
}
