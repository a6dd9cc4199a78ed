/**
 * The contract of a Kubernetes API server: cases that send raw HTTP requests. Each case runs on two
 * servers, and their complete responses are compared, except for values that differ between any two
 * runs. The responses of the real server are the expected ones.
 */
import { Recorder, type Step } from "./recorder.ts";

/** Sends a request to a server as an administrator. */
export type Send = (request: Request) => Promise<Response>;

/** A test of one behavior of a server, with a few requests. */
export interface Case {
  /** Group of the case in reports. */
  readonly area: string;
  readonly name: string;
  run(api: Recorder): Promise<void>;
}

/** The requests of a case and the responses of a server. */
export interface Transcript {
  readonly steps: readonly Step[];
  /** Error message, if the case did not complete. */
  readonly failure?: string;
}

/** Returns the cases of an area, given their functions by case name. */
export function area(name: string, runs: Record<string, (api: Recorder) => Promise<void>>): Case[] {
  return Object.entries(runs).map(([title, run]) => ({ area: name, name: title, run }));
}

// In milliseconds. Far more than any case takes, so that a server that never sends an event does
// not block the suite. The real namespace controller waits up to a minute before it retries a
// failed request, which fails for example because another case deleted a kind.
const TIME_LIMIT = 300_000;

/**
 * Runs a case on a server.
 *
 * @param contractCase The case.
 * @param namespace Namespace of the case, which is created first.
 * @param send Sends requests to the server.
 * @param limit Time limit in milliseconds. A case that exceeds it fails.
 */
export async function runCase(
  contractCase: Case,
  namespace: string,
  send: Send,
  limit: number = TIME_LIMIT,
): Promise<Transcript> {
  const stop = AbortSignal.timeout(limit);
  const api = new Recorder(send, { namespace, signal: stop });
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  stop.addEventListener("abort", () => late.reject(new Error(`the case did not end within ${limit / 1000} s`)));
  try {
    await Promise.race([api.createNamespace().then(() => contractCase.run(api)), late.promise]);
    return { steps: api.steps };
  } catch (error) {
    return { steps: api.steps, failure: error instanceof Error ? error.message : String(error) };
  } finally {
    await api.close();
  }
}
