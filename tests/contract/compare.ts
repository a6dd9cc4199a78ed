/** Tells where two transcripts differ. */
import { equal, isObject } from "../../src/base/json.ts";
import type { Transcript } from "./contract.ts";
import { normalise } from "./normalise.ts";

/** One place where the two servers' answers differ. */
export interface Difference {
  /** Such as `steps[2].body.message`. */
  readonly path: string;
  /** Method and path of the request that was answered differently. */
  readonly call: string;
  /** What the real server says; absent where it says nothing. */
  readonly expected?: unknown;
  /** What the other says. */
  readonly actual?: unknown;
}

/**
 * Compares what two servers answered in a case, without what {@linkcode LEFT_OUT} lists.
 *
 * @param real What the real server answered.
 * @param other What the other server answered.
 */
export function compare(real: Transcript, other: Transcript): Difference[] {
  const expected = normalise(real.steps);
  const actual = normalise(other.steps);
  const differences: Difference[] = [];
  for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
    const call = real.steps[i]?.call ?? other.steps[i]?.call ?? "";
    for (const difference of within(`steps[${i}]`, expected[i], actual[i])) differences.push({ ...difference, call });
  }
  // A case that the real server does not let run to its end shows nothing, even where the other one fails in the same way.
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
